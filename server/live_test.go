package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
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
	"rankcast/server/servertest"
)

func TestAScoreThatIsSentIsOnEveryScreen(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startNode(t, url, nodeConfig{}, definition.Board{Name: "b"})
		s := servertest.Dial(t, n.addr)
		s.Send(`{"type":"subscribe","id":1,"board":"b","top":2}`)
		require.JSONEq(t, "1", string(s.Next("ok").ID))
		snapshot := s.Next("snapshot")
		require.Empty(t, snapshot.Top)
		require.Zero(t, snapshot.Seq)
		require.NotNil(t, snapshot.Period)

		for i, m := range []string{"a", "b", "c", "a", "a"} {
			n.do("POST", "/v1/boards/b/scores", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 10+i))
		}
		want := []hubtest.Entry{{Rank: 1, Member: "a", Score: 37}, {Rank: 2, Member: "c", Score: 12}}
		s.Until("b", "the scores", func(b *hubtest.Board) bool { return b.Total == 3 && fmt.Sprint(b.Top) == fmt.Sprint(want) })
		n.do("DELETE", "/v1/boards/b/members/a", "")
		s.Until("b", "a to leave", func(b *hubtest.Board) bool { return b.Total == 2 && len(b.Top) == 2 && b.Top[1].Member == "b" })

		s.Send(`{"type":"ping","id":"p"}`)
		require.JSONEq(t, `"p"`, string(s.Next("pong").ID))
		s.Send(`{"type":"unsubscribe","id":2,"board":"b"}`)
		require.JSONEq(t, "2", string(s.Next("ok").ID))
		require.Zero(t, n.hub.Watched())
	})
}

// Who subscribes, or asks for a sign of life, is told the clock by which periods end,
// which need not be the node's own.
func TestAnswersTellTheClock(t *testing.T) {
	url, set := redistest.Clocked(t)
	now := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	set(now)
	n := startNode(t, url, nodeConfig{}, definition.Board{Name: "b", Period: "day"})
	s := servertest.Dial(t, n.addr)
	told := func(m hubtest.Message) {
		at, err := time.Parse(definition.TimeForm, m.Now)
		require.NoError(t, err)
		require.WithinDuration(t, now, at, patience)
		require.False(t, at.Before(now))
	}
	s.Send(`{"type":"subscribe","id":1,"board":"b"}`)
	told(s.Next("ok"))
	s.Send(`{"type":"ping","id":2}`)
	told(s.Next("pong"))
	s.Send(`{"type":"unsubscribe","id":3,"board":"b"}`)
	require.Empty(t, s.Next("ok").Now)
}

// A bad message is answered with an error frame, and the socket lives.
func TestBadMessages(t *testing.T) {
	n := startNode(t, redistest.Embedded(t), nodeConfig{}, definition.Board{Name: "b"})
	s := servertest.Dial(t, n.addr)
	for _, c := range []struct{ message, id, code, field string }{
		{`{`, "", "invalid_request", "message"},
		{``, "", "invalid_request", "message"},
		{`[]`, "", "invalid_request", "message"},
		{`null`, "", "invalid_request", "message"},
		{`{"type":"ping"} x`, "", "invalid_request", "message"},
		{"{\"type\":\"p\xff\"}", "", "invalid_request", "message"},
		{`{"id":1}`, "1", "invalid_request", "type"},
		{`{"type":7,"id":1}`, "1", "invalid_request", "type"},
		{`{"type":"dance","id":1}`, "1", "invalid_request", "type"},
		{`{"type":"ping","id":{}}`, "", "invalid_request", "id"},
		{`{"type":"ping","id":"` + strings.Repeat("x", 200) + `"}`, "", "invalid_request", "id"},
		{`{"type":"ping","id":1,"board":"b"}`, "1", "invalid_request", "board"},
		{`{"type":"subscribe","id":"s"}`, `"s"`, "invalid_request", "board"},
		{`{"type":"subscribe","id":1,"board":"nope"}`, "1", "unknown_board", "board"},
		{`{"type":"subscribe","id":1,"board":7}`, "1", "invalid_request", "board"},
		{`{"type":"subscribe","id":1,"board":"b","top":-1}`, "1", "invalid_request", "top"},
		{`{"type":"subscribe","id":1,"board":"b","top":1001}`, "1", "invalid_request", "top"},
		{`{"type":"subscribe","id":1,"board":"b","top":null}`, "1", "invalid_request", "top"},
		{`{"type":"subscribe","id":1,"board":"b","top":"10"}`, "1", "invalid_request", "top"},
		{`{"type":"subscribe","id":1,"board":"b","tops":1}`, "1", "invalid_request", "tops"},
		{`{"type":"subscribe","id":1,"board":"b","me":7}`, "1", "invalid_request", "me"},
		{`{"type":"subscribe","id":1,"board":"b","me":""}`, "1", "invalid_request", "me"},
		{`{"type":"subscribe","id":1,"board":"b","me":"a\u0000"}`, "1", "invalid_request", "me"},
		{`{"type":"subscribe","id":1,"board":"b","me":"` + strings.Repeat("x", 129) + `"}`, "1", "invalid_request", "me"},
		{`{"type":"subscribe","id":1,"board":"b","around":1}`, "1", "invalid_request", "around"},
		{`{"type":"subscribe","id":1,"board":"b","me":"a","around":21}`, "1", "invalid_request", "around"},
		{`{"type":"subscribe","id":1,"board":"b","me":"a","around":-1}`, "1", "invalid_request", "around"},
		{`{"type":"subscribe","id":1,"board":"b","me":"a","around":true}`, "1", "invalid_request", "around"},
		{`{"type":"subscribe","id":1,"board":"b","resume":[]}`, "1", "invalid_request", "resume"},
		{`{"type":"subscribe","id":1,"board":"b","resume":null}`, "1", "invalid_request", "resume"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"seq":1}}`, "1", "invalid_request", "resume.epoch"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"epoch":7,"seq":1}}`, "1", "invalid_request", "resume.epoch"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"epoch":"` + strings.Repeat("x", 65) + `","seq":1}}`, "1", "invalid_request", "resume.epoch"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"epoch":"e"}}`, "1", "invalid_request", "resume.seq"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"epoch":"e","seq":-1}}`, "1", "invalid_request", "resume.seq"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"epoch":"e","seq":1.5}}`, "1", "invalid_request", "resume.seq"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"epoch":"e","seq":1,"top":3}}`, "1", "invalid_request", "resume.top"},
		{`{"type":"unsubscribe","id":1,"board":"b"}`, "1", "invalid_request", "board"},
		{`{"type":"unsubscribe","id":1}`, "1", "invalid_request", "board"},
	} {
		s.Send("%s", c.message)
		m := s.Next("error")
		require.Equal(t, c.id, string(m.ID), c.message)
		require.Equal(t, c.code, m.Code, c.message)
		require.Equal(t, c.field, m.Field, c.message)
		require.NotEmpty(t, m.Message)
	}
	require.NoError(t, s.WS.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"ping"}`)))
	require.Equal(t, "message", s.Next("error").Field)
	s.Subscribe("b", 10)
	require.Equal(t, 1, n.hub.Watched())
}

func TestTooManySubscriptionsAreRefused(t *testing.T) {
	var boards []definition.Board
	for i := range 101 {
		boards = append(boards, definition.Board{Name: fmt.Sprint("b", i)})
	}
	n := startNode(t, redistest.Embedded(t), nodeConfig{}, boards...)
	s := servertest.Dial(t, n.addr)
	for i := range 100 {
		s.Subscribe(fmt.Sprint("b", i), 1)
	}
	s.Send(`{"type":"subscribe","id":9,"board":"b100"}`)
	require.Equal(t, "board", s.Next("error").Field)
	s.Subscribe("b7", 2)
	require.Equal(t, 100, n.hub.Watched())
	s.WS.CloseNow()
	redistest.Eventually(t, "all views to be freed", func() error {
		if w := n.hub.Watched(); w > 0 {
			return fmt.Errorf("%d watched", w)
		}
		return nil
	})
}

func TestMessageThatIsTooLargeClosesWith1009(t *testing.T) {
	n := startNode(t, redistest.Embedded(t), nodeConfig{}, definition.Board{Name: "b"})
	for _, size := range []int{32<<10 + 1, 400_000} {
		s := servertest.Dial(t, n.addr)
		s.Send(`{"type":"ping","id":"%s"}`, strings.Repeat("x", 100))
		s.Next("pong")
		s.Send("%s", strings.Repeat("x", 32<<10))
		s.Next("error") // just small enough
		s.WS.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat("x", size)))
		var err error
		for err == nil { // a status may come first
			_, err = s.Read()
		}
		require.Equal(t, websocket.StatusMessageTooBig, websocket.CloseStatus(err), "%v", err)
	}
}

// A client may send before it has read the answer to its handshake. What it
// sent must not be lost with the buffers that the handshake was read through.
func TestMessageSentWithTheHandshakeIsHeard(t *testing.T) {
	n := startNode(t, redistest.Embedded(t), nodeConfig{}, definition.Board{Name: "b"})
	for range 50 {
		conn, err := net.Dial("tcp", n.addr)
		require.NoError(t, err)
		// Masked text frames (RFC 6455, section 5.2) with a mask of zeros, more than a
		// small buffer holds.
		var frame []byte
		for i := range 12 {
			ping := fmt.Sprintf(`{"type":"ping","id":"%d %s"}`, i, strings.Repeat("x", 60))
			frame = append(append(frame, 0x81, 0x80|byte(len(ping)), 0, 0, 0, 0), ping...)
		}
		_, err = conn.Write(append([]byte("GET /v1/live HTTP/1.1\r\nHost: "+n.addr+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"), frame...))
		require.NoError(t, err)
		conn.SetReadDeadline(time.Now().Add(patience))
		var got []byte
		buf := make([]byte, 4096)
		for strings.Count(string(got), `"pong"`) < 12 {
			k, err := conn.Read(buf)
			require.NoError(t, err, "%q", got)
			got = append(got, buf[:k]...)
		}
		conn.Close()
	}
}

func TestAnotherSitesPageIsRefused(t *testing.T) {
	n := startNode(t, redistest.Embedded(t), nodeConfig{}, definition.Board{Name: "b"})
	a := n.do("GET", "/v1/live", "", "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
		"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Origin", "https://elsewhere.example")
	requireProblem(t, a, 403, "forbidden", "Origin")
}

// A client that reads nothing holds up nobody, skips what it missed, and is cut
// off only when it accepts nothing for the write timeout.
func TestStalledClient(t *testing.T) {
	n := startNode(t, redistest.Start(t).URL(),
		nodeConfig{hub: hub.Config{Interval: time.Millisecond}, server: server.Config{WriteTimeout: patience}},
		definition.Board{Name: "b", Mode: definition.Last})
	stalled, quick := servertest.DialSmall(t, n.addr), servertest.Dial(t, n.addr)
	n.fill(0)
	stalled.Subscribe("b", 1000)
	quick.Subscribe("b", 1000)
	const rounds = 40
	for round := range rounds {
		n.fill(round + 1)
		quick.Until("b", "the round", func(b *hubtest.Board) bool { return b.Top[0].Score == int64(2e9+round+1) })
	}
	frames := 0
	for b := stalled.Boards["b"]; b.Top[0].Score < 2e9+rounds; frames++ {
		_, err := stalled.Read()
		require.NoError(t, err)
	}
	require.Less(t, frames, rounds, "the stalled client must skip")
	want, _ := n.top("b", 1000)
	stalled.Until("b", "the board", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
}

// A deadline is for one write: a socket that has been quiet for longer is as
// good as before.
func TestQuietSocketOutlivesTheWriteTimeout(t *testing.T) {
	const timeout = 20 * time.Millisecond
	n := startNode(t, redistest.Embedded(t),
		nodeConfig{hub: hub.Config{Interval: 2 * timeout}, server: server.Config{WriteTimeout: timeout}}, definition.Board{Name: "b"})
	s := servertest.Dial(t, n.addr)
	s.Subscribe("b", 10)
	for i := range 5 { // frames two timeouts apart
		n.do("POST", "/v1/boards/b/scores", `{"member":"a","score":1}`)
		s.Until("b", "the score", func(b *hubtest.Board) bool { return len(b.Top) > 0 && b.Top[0].Score == int64(i+1) })
	}
	s.Send(`{"type":"ping","id":1}`)
	s.Next("pong")
}

func TestClientThatAcceptsNothingIsCutOff(t *testing.T) {
	n := startNode(t, redistest.Start(t).URL(),
		nodeConfig{hub: hub.Config{Interval: time.Millisecond}, server: server.Config{WriteTimeout: 50 * time.Millisecond}},
		definition.Board{Name: "b", Mode: definition.Last})
	conn := servertest.DialSmall(t, n.addr)
	conn.Subscribe("b", 1000)
	// It reads nothing from here on.
	redistest.Eventually(t, "the socket to be closed", func() error {
		n.fill(0)
		if n.hub.Watched() > 0 {
			return fmt.Errorf("still watched")
		}
		return nil
	})
}

// A stop tells every client when to come back, and leaves nothing behind.
func TestGracefulStop(t *testing.T) {
	before := runtime.NumGoroutine()
	n := startNode(t, redistest.Embedded(t), nodeConfig{server: server.Config{StopTimeout: 2 * time.Second}}, definition.Board{Name: "b"})
	var sockets []*servertest.Socket
	for range 20 {
		s := servertest.Dial(t, n.addr)
		s.Subscribe("b", 10)
		sockets = append(sockets, s)
	}
	silent, err := net.Dial("tcp", n.addr) // says nothing at all
	require.NoError(t, err)
	defer silent.Close()
	stopped := make(chan struct{})
	go func() {
		n.stop()
		close(stopped)
	}()
	waits := make(map[int]bool)
	for _, s := range sockets {
		bye := s.Next("bye")
		require.Equal(t, "drain", bye.Reason)
		require.NotNil(t, bye.RetryMS)
		waits[*bye.RetryMS] = true
		_, err := s.Read()
		require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(err), "%v", err)
	}
	require.Greater(t, len(waits), 10, "not all at the same moment")
	<-stopped
	require.Zero(t, n.hub.Watched(), "when it has stopped no session is left")
	_, err = net.Dial("tcp", n.addr)
	require.Error(t, err)
	http.DefaultClient.CloseIdleConnections()
	redistest.Eventually(t, "all goroutines to end", func() error {
		if now := runtime.NumGoroutine(); now > before+5 { // what the embedded store runs on
			return fmt.Errorf("%d before, %d after", before, now)
		}
		return nil
	})
}

// Neither clients that are stalled nor a request that never ends keep others
// from hearing at once that the node stops.
func TestStopWaitsForNobodyToSayGoodbye(t *testing.T) {
	n := startNode(t, redistest.Start(t).URL(), nodeConfig{hub: hub.Config{Interval: time.Millisecond},
		server: server.Config{StopTimeout: 10 * patience, WriteTimeout: 10 * patience}}, definition.Board{Name: "b", Mode: definition.Last})
	var stalled []*servertest.Socket
	for range 80 {
		s := servertest.DialSmall(t, n.addr)
		s.Send(`{"type":"subscribe","board":"b","top":1000}`)
		stalled = append(stalled, s)
	}
	live := servertest.Dial(t, n.addr)
	live.Subscribe("b", 1)
	for i := range 40 { // more than their connections hold
		n.fill(i)
		live.Until("b", "the round", func(b *hubtest.Board) bool { return len(b.Top) > 0 && b.Top[0].Score == int64(2e9+i) })
	}
	endless, err := net.Dial("tcp", n.addr)
	require.NoError(t, err)
	fmt.Fprintf(endless, "POST /v1/boards/b/scores HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")

	stopped := make(chan struct{})
	go func() {
		n.stop()
		close(stopped)
	}()
	live.Next("bye")
	_, err = live.Read()
	require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(err), "%v", err)
	endless.Close()
	for _, s := range stalled {
		s.WS.CloseNow()
	}
	<-stopped
}

// A master of a cluster that dies is told to those who watch its boards, though
// changes of the others are still heard.
func TestMasterOfAClusterDies(t *testing.T) {
	url, masters := redistest.StartCluster(t)
	var boards []definition.Board
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		boards = append(boards, definition.Board{Name: name})
	}
	n := startNode(t, url, nodeConfig{}, boards...)
	s := servertest.Dial(t, n.addr)
	for _, d := range boards {
		s.Subscribe(d.Name, 10)
		require.Equal(t, 200, n.do("POST", "/v1/boards/"+d.Name+"/scores", `{"member":"m","score":1}`).Status)
	}
	stale := func(want bool) {
		for s.Stale == nil || *s.Stale != want {
			s.Next("status")
		}
	}
	for _, m := range masters {
		m.Kill()
		stale(true)
		require.Equal(t, 503, n.do("GET", "/readyz", "").Status)
		m.Start()
		stale(false)
		redistest.Eventually(t, "the cluster to take scores again", func() error {
			for _, d := range boards {
				if a := n.do("POST", "/v1/boards/"+d.Name+"/scores", `{"member":"m","score":1}`); a.Status != 200 {
					return fmt.Errorf("%s", a.Body)
				}
			}
			return nil
		})
		s.Stale = nil
		for _, d := range boards {
			want, _ := n.top(d.Name, 10)
			s.Until(d.Name, "the board", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		}
	}
}

// Clients that come, ask, stall and vanish in every order leave nothing behind
// and break nothing for the others.
func TestChurn(t *testing.T) {
	n := startNode(t, redistest.Embedded(t), nodeConfig{hub: hub.Config{Interval: time.Millisecond}}, definition.Board{Name: "b"}, definition.Board{Name: "c"})
	watcher := servertest.Dial(t, n.addr)
	watcher.Subscribe("b", 20)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	done := make(chan error)
	for i := range 8 {
		go func() {
			done <- func() error {
				for j := range 25 {
					ws, _, err := websocket.Dial(ctx, "ws://"+n.addr+"/v1/live", nil)
					if err != nil {
						return err
					}
					for k := range rand.IntN(6) {
						ws.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"type":"subscribe","id":%d,"board":"%c","top":%d}`, k, 'b'+rune(k%2), k*3))
						n.store.Apply(ctx, "b", []definition.Update{{Member: fmt.Sprint("m", rand.IntN(30)), Score: 1}})
					}
					if (i+j)%3 == 0 {
						ws.Close(websocket.StatusNormalClosure, "")
					} else {
						ws.CloseNow()
					}
				}
				return nil
			}()
		}()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
	want, total := n.top("b", 20)
	watcher.Until("b", "the board", func(b *hubtest.Board) bool { return b.Total == total && fmt.Sprint(b.Top) == fmt.Sprint(want) })
	redistest.Eventually(t, "the others to be gone", func() error {
		if w := n.hub.Watched(); w != 1 {
			return fmt.Errorf("%d watched", w)
		}
		return nil
	})
}

func FuzzMessages(f *testing.F) {
	for _, seed := range []string{`{"type":"subscribe","id":1,"board":"b","top":3,"me":"m","around":2,"resume":{"epoch":"e","seq":1}}`, `{"type":"unsubscribe","board":"b"}`, `{"type":"ping","id":"x"}`, "{\"id\":1e999"} {
		f.Add(seed)
	}
	n := startNode(f, redistest.Embedded(f), nodeConfig{}, definition.Board{Name: "b"})
	s := servertest.Dial(f, n.addr)
	f.Fuzz(func(t *testing.T, message string) {
		if len(message) > 32<<10 {
			return
		}
		require.NoError(t, s.WS.Write(t.Context(), websocket.MessageText, []byte(message)))
		require.NoError(t, s.WS.Write(t.Context(), websocket.MessageText, []byte(`{"type":"ping","id":"still there"}`)))
		for {
			_, b, err := s.WS.Read(t.Context())
			require.NoError(t, err)
			var m hubtest.Message
			require.NoError(t, json.Unmarshal(b, &m), "%s", b)
			if m.Type == "pong" && string(m.ID) == `"still there"` {
				return
			}
		}
	})
}
