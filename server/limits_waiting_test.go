package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// waitingNode is a node on which frames of at most so many bytes may wait, with three boards. A frame of 1,000
// entries holds 290 to 390 KB, one of 500 half of that. A connection accepts less than 145 KB by itself.
//
// With one shard, a frame that has begun to arrive counts as waiting before the node makes the next one.
func waitingNode(t *testing.T, bytes int) *servertest.Node {
	n := servertest.Start(t, redistest.Start(t).URL(), servertest.Config{
		Hub: hub.Config{Shards: 1},
		Server: server.Config{
			WriteTimeout: servertest.Patience, Limits: access.Config{WaitingBytes: bytes},
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		},
	}, definition.Board{Name: "b"}, definition.Board{Name: "c"}, definition.Board{Name: "d"})
	for _, board := range []string{"b", "c", "d"} {
		var updates []definition.Update
		for i := range 1000 {
			updates = append(updates, definition.Update{Member: fmt.Sprintf("m%03d", i), Score: int64(1000 - i),
				Data: `{"x":"` + strings.Repeat("x", 235) + `"}`})
		}
		results, err := n.Store.Apply(t.Context(), board, updates)
		require.NoError(t, err)
		for _, r := range results {
			require.NoError(t, r.Err)
		}
	}
	return n
}

// beginSnapshot subscribes, and reads the first bytes of the snapshot. rest reads all of it.
func beginSnapshot(t *testing.T, s *servertest.Socket, board string, top int) (rest func() ([]byte, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), servertest.Patience)
	t.Cleanup(cancel)
	s.Send(`{"type":"subscribe","id":1,"board":%q,"top":%d}`, board, top)
	for {
		_, r, err := s.WS.Reader(ctx)
		require.NoError(t, err)
		begin := make([]byte, len(`{"type":"snapshot"`))
		n, err := io.ReadFull(r, begin)
		if err == nil && string(begin) == `{"type":"snapshot"` {
			return func() ([]byte, error) {
				b, err := io.ReadAll(r)
				return append(begin, b...), err
			}
		}
		_, err = io.Copy(io.Discard, r)
		require.NoError(t, err, "after %s", begin[:n])
	}
}

// requireWhole requires that a socket which was slow gets its whole snapshot.
func requireWhole(t *testing.T, rest func() ([]byte, error), entries int) {
	t.Helper()
	b, err := rest()
	require.NoError(t, err)
	var m hubtest.Message
	require.NoError(t, json.Unmarshal(b, &m))
	require.Len(t, m.Top, entries)
}

// requireGivenUp waits until the node has given up one socket for that limit, and none for the other one.
func requireGivenUp(t *testing.T, n *servertest.Node, limit, other string) {
	t.Helper()
	redistest.Until(t, "the node to give up a socket for "+limit, func() bool { return maps.Collect(n.Server.Limited())[limit] > 0 })
	all := maps.Collect(n.Server.Limited())
	require.EqualValues(t, 1, all[limit])
	require.Zero(t, all[other])
}

// When too much waits on the node, it closes the slow socket that has waited longest. A newer one gets its frame.
func TestLongestWaitIsClosed(t *testing.T) {
	t.Parallel()
	n := waitingNode(t, 500_000)
	old := beginSnapshot(t, servertest.DialSmall(t, n.Addr), "b", 1000)
	fresh := beginSnapshot(t, servertest.DialSmall(t, n.Addr), "c", 1000)
	requireGivenUp(t, n, "waiting_bytes", "address_waiting_bytes")
	_, err := old()
	require.Error(t, err)
	require.EqualValues(t, -1, websocket.CloseStatus(err), "half a frame leaves no room for a close frame")
	requireWhole(t, fresh, 1000)
}

// An address gets half of what may wait, and loses its own sockets beyond that. A socket of another address that
// has waited longer goes on.
func TestAddressLosesItsOwnSockets(t *testing.T) {
	t.Parallel()
	n := waitingNode(t, 1_100_000)
	other := beginSnapshot(t, servertest.DialSmallFrom(t, n.Addr, laptop), "d", 500)
	old := beginSnapshot(t, servertest.DialSmallFrom(t, n.Addr, phone), "b", 1000)
	fresh := beginSnapshot(t, servertest.DialSmallFrom(t, n.Addr, phone), "c", 1000)
	requireGivenUp(t, n, "address_waiting_bytes", "waiting_bytes")
	_, err := old()
	require.Error(t, err)
	requireWhole(t, fresh, 1000)
	requireWhole(t, other, 500)
}

// Slow sockets of one board share its rows, also with different numbers of entries. The rows count once.
func TestSlowSocketsShareRows(t *testing.T) {
	t.Parallel()
	n := waitingNode(t, 500_000)
	var all []func() ([]byte, error)
	const sockets = 6
	for i := range sockets {
		all = append(all, beginSnapshot(t, servertest.DialSmall(t, n.Addr), "b", 1000-i))
	}
	require.Zero(t, maps.Collect(n.Server.Limited())["waiting_bytes"])
	for i, rest := range all {
		requireWhole(t, rest, 1000-i)
	}
}

// A slow event stream that has waited longest ends at once, in the middle of an event.
func TestStreamThatWaitsLongestEnds(t *testing.T) {
	t.Parallel()
	n := waitingNode(t, 500_000)
	quick := servertest.OpenStream(t, n.Addr, "/v1/boards/d/live?top=1")
	quick.Next("snapshot")
	old := servertest.OpenStream(t, n.Addr, "/v1/boards/b/live?top=1000")
	old.Shrink()
	old.UntilLine("event: snapshot")
	fresh := beginSnapshot(t, servertest.DialSmall(t, n.Addr), "c", 1000)
	requireGivenUp(t, n, "waiting_bytes", "address_waiting_bytes")
	_, err := old.Read()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	requireWhole(t, fresh, 1000)
	n.Require(200, "POST", "/v1/boards/d/scores", `{"member":"new","score":5000}`)
	quick.Next("delta")
}

// slowRequest sends the head of a request, and waits for the first line of the answer. rest reads all of it.
func slowRequest(t *testing.T, n *servertest.Node, from, head string) (rest func() ([]byte, error)) {
	conn := dialShrunk(t, n, from, head)
	r := bufio.NewReaderSize(conn, 16)
	_, err := r.ReadByte()
	require.NoError(t, err)
	require.NoError(t, r.UnreadByte())
	return func() ([]byte, error) {
		a, err := http.ReadResponse(bufio.NewReader(r), nil)
		require.NoError(t, err)
		return io.ReadAll(a.Body)
	}
}

// The answers that slow clients do not read count too. The client that has waited longest loses its own.
func TestSlowAnswersCount(t *testing.T) {
	t.Parallel()
	n := waitingNode(t, 1_100_000)
	other := slowRequest(t, n, laptop, "GET /v1/boards/b/top?limit=500 HTTP/1.1")
	old := slowRequest(t, n, phone, "GET /v1/boards/b/top?limit=1000 HTTP/1.1")
	fresh := slowRequest(t, n, phone, "GET /v1/boards/b/top?limit=1000 HTTP/1.1")
	requireGivenUp(t, n, "address_waiting_bytes", "waiting_bytes")
	_, err := old()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	for rest, entries := range map[*func() ([]byte, error)]int{&fresh: 1000, &other: 500} {
		b, err := (*rest)()
		require.NoError(t, err)
		var m hubtest.Message
		require.NoError(t, json.Unmarshal(b, &m))
		require.Len(t, m.Top, entries)
	}
}

// beginBody sends the head of a request, and a part of its body.
func beginBody(t *testing.T, n *servertest.Node, from, head string, part []byte) net.Conn {
	conn := dialShrunk(t, n, from, head)
	_, err := conn.Write(part)
	require.NoError(t, err)
	return conn
}

// Bodies that arrive slowly count as they arrive.
func TestSlowBodiesCount(t *testing.T) {
	t.Parallel()
	part := bytes.Repeat([]byte{' '}, 700_000)
	for name, length := range map[string]string{"with a length": "Content-Length: 1048576", "without one": "Transfer-Encoding: chunked"} {
		t.Run(name, func(t *testing.T) {
			n := waitingNode(t, 2<<20) // one body for an address
			head, part := "POST /v1/boards/b/scores HTTP/1.1\r\nContent-Type: application/json\r\n"+length, part
			if name == "without one" {
				part = fmt.Appendf(nil, "%x\r\n%s\r\n", len(part), part)
			}
			ended := make(chan error, 3)
			send := func(from string) {
				conn := dialShrunk(t, n, from, head)
				go func() {
					_, err := conn.Write(part)
					if err == nil {
						_, err = conn.Read(make([]byte, 1))
					}
					ended <- err
				}()
			}
			send(laptop)
			send(phone)
			send(phone)
			requireGivenUp(t, n, "address_waiting_bytes", "waiting_bytes")
			err := <-ended
			require.Error(t, err)
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
			n.Require(200, "POST", "/v1/boards/d/scores", `{"member":"new","score":5000}`)
		})
	}
}

// Bodies that clients announce and do not send take nothing from those who wait: a running import, a slow upload and a
// slow event stream go on.
func TestAnnouncedBodiesEvictNobody(t *testing.T) {
	t.Parallel()
	n := waitingNode(t, 4<<20)
	stream := servertest.OpenStream(t, n.Addr, "/v1/boards/b/live?top=1000")
	stream.Shrink()
	stream.UntilLine("event: snapshot")
	upload := `{"updates":[{"member":"slow","score":1}` + strings.Repeat(" ", 100_000)
	const ends = "]}"
	slow := beginBody(t, n, laptop,
		fmt.Sprintf("POST /v1/boards/d/scores HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d",
			len(upload)+len(ends)), []byte(upload))
	lines := "member,score\n" + strings.Repeat("row,1\n", 20_000)
	imported := beginBody(t, n, laptop,
		fmt.Sprintf("POST /v1/boards/c/import HTTP/1.1\r\nContent-Type: text/csv\r\nContent-Length: %d", len(lines)+1), []byte(lines))
	for i := range 290 {
		method, from := []string{"GET", "POST"}[i%2], fmt.Sprintf("203.0.113.%d", 50+i%3)
		path := map[string]string{"GET": "/v1/boards/b/live", "POST": "/v1/boards/b/scores"}[method]
		conn := dialShrunk(t, n, from, method+" "+path+" HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1048576")
		if method == "GET" {
			a := servertest.ReadAnswer(t, conn)
			require.Equal(t, 400, a.Status)
			require.Contains(t, a.Body, "body: is not for GET")
		}
	}
	for conn, rest := range map[net.Conn]string{slow: ends, imported: "\n"} {
		_, err := io.WriteString(conn, rest)
		require.NoError(t, err)
		require.Equal(t, 200, servertest.ReadAnswer(t, conn).Status)
	}
	stream.UntilLine("") // the end of the snapshot
	all := maps.Collect(n.Server.Limited())
	require.Zero(t, all["waiting_bytes"])
	require.Zero(t, all["address_waiting_bytes"])
}

// A body that has arrived, and waits for its turn, is memory that waits too. When the node needs it, the request
// ends at once.
func TestBodyThatWaitsForItsTurnIsGivenUp(t *testing.T) {
	t.Parallel()
	proxy := redistest.StartProxy(t, redistest.Start(t).URL())
	n := limited(t, proxy.URL(), access.Config{Requests: 2, WaitingBytes: 2 << 20}) // for an address, one write and one body
	proxy.Hold(`"slow"`, "slow")
	send := func(body string, ended chan<- error) {
		conn := dialShrunk(t, n, phone,
			fmt.Sprintf("POST /v1/boards/c/scores HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d", len(body)))
		go func() {
			// The next request begins: the server reads nothing while this one waits, so writing may wait too.
			_, err := io.WriteString(conn, body+strings.Repeat("POST", 16<<10))
			if err == nil {
				_, err = conn.Read(make([]byte, 1))
			}
			ended <- err
		}()
	}
	send(`{"member":"slow","score":1}`, make(chan error, 1))
	redistest.Until(t, "the write to reach Redis", func() bool { return proxy.Held() > 0 })
	large := `{"member":"` + strings.Repeat("m", 900_000) + `"}`
	ended := make(chan error, 2) // the node may receive the two in any order
	send(large, ended)
	send(large, ended)
	err := redistest.Receive(t, "the run to end", ended)
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Zero(t, maps.Collect(n.Server.Limited())["requests"], "it has not waited to the end")
	proxy.Hold()
	proxy.Cut()
}

// Messages that begin and do not end count from 4 KiB on. When there is no room, a socket is closed.
func TestUnfinishedMessagesCount(t *testing.T) {
	t.Parallel()
	n := waitingNode(t, 2*2*32<<10) // two messages for an address
	var sockets []*servertest.RawSocket
	for i := range 3 {
		s, err := servertest.DialRaw(i, n.Addr)
		require.NoError(t, err)
		defer s.Close()
		require.NoError(t, s.Handshake("X-Forwarded-For: "+phone))
		// The client announces a text message of 20,000 bytes (RFC 6455, section 5.2), and sends 5,000.
		_, err = s.Write(append([]byte{0x81, 0x80 | 126, 20_000 >> 8, 20_000 & 0xff, 0, 0, 0, 0}, bytes.Repeat([]byte{' '}, 5000)...))
		require.NoError(t, err)
		sockets = append(sockets, s)
	}
	requireGivenUp(t, n, "address_waiting_bytes", "waiting_bytes")
	// When the node gives up a socket whose reader waits, that reader may still receive the rest of this message.
	// It receives nothing more.
	open := 0
	for _, s := range sockets {
		require.NoError(t, s.SetDeadline(time.Now().Add(servertest.Patience)))
		_, err := s.Write(append(bytes.Repeat([]byte{' '}, 15_000-2), '{', '}'))
		for range 2 {
			var frame []byte
			for err == nil && !bytes.Contains(frame, []byte("error")) {
				frame, err = s.ReadFrame()
			}
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
			if err == nil {
				err = s.SendText("{}")
			}
		}
		if err == nil {
			open++
		}
	}
	require.Equal(t, 2, open)
}
