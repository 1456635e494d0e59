package server_test

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
	"rankcast/server/servertest/contract"
)

// clientOf is an HTTP client of a node that speaks TLS.
func clientOf(t *testing.T, trust *tls.Config, http2 bool) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	transport := &http.Transport{TLSClientConfig: trust, Protocols: protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: servertest.Patience}
}

// The server speaks HTTP/2 and HTTP/1.1, and nothing below TLS 1.2.
func TestTLSProtocols(t *testing.T) {
	t.Parallel()
	n, trust := servertest.StartTLS(t, redistest.Embedded(t), servertest.Config{})
	for _, http2 := range []bool{false, true} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+n.Addr+"/readyz?verbose", nil)
		require.NoError(t, err)
		var res *http.Response
		redistest.Eventually(t, "the node to be ready", func() error {
			res, err = clientOf(t, trust, http2).Do(r)
			require.NoError(t, err)
			defer res.Body.Close()
			state, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			contract.CheckHTTP(t, r, nil, res, state)
			if res.StatusCode == 200 {
				require.Contains(t, string(state), `"expires":"`, "of the certificate")
			}
			return servertest.NewAnswer(t, res.StatusCode, nil, "").Is(200)
		})
		require.Equal(t, http2, res.ProtoMajor == 2)
	}
	res, err := clientOf(t, trust, true).Get("https://" + n.Addr + "/v1/live")
	require.NoError(t, err)
	res.Body.Close()
	require.Equal(t, 400, res.StatusCode, "a WebSocket takes HTTP/1.1")
	for version, want := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		only := trust.Clone()
		only.MinVersion, only.MaxVersion = version, version
		conn, err := tls.Dial("tcp", n.Addr, only)
		require.Equal(t, want, err == nil, "%x: %v", version, err)
		if err == nil {
			conn.Close()
		}
	}
}

// A request that the node refuses before its body, or for its header, ends its own stream of HTTP/2, and not those beside it.
func TestRefusedRequestsEndTheirStreamAlone(t *testing.T) {
	t.Parallel()
	n, trust := servertest.StartTLS(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	client, connections := clientOf(t, trust, true), 0
	send := func(r *http.Request) int {
		trace := &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
			if !got.Reused {
				connections++
			}
		}}
		res, err := client.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
		require.NoError(t, err)
		defer res.Body.Close()
		_, err = io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode
	}
	request := func(path string, body io.Reader) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+n.Addr+path, body)
		require.NoError(t, err)
		return r
	}
	watching, err := client.Do(request("/v1/boards/b/live", nil))
	require.NoError(t, err)
	defer watching.Body.Close()
	events := bufio.NewScanner(watching.Body)
	untilLine(t, events, "event: snapshot")
	require.Equal(t, 400, send(request("/v1/boards/b/top", strings.NewReader("{}"))))
	many := request("/v1/boards/b/top", nil)
	for i := range 101 {
		many.Header.Set(fmt.Sprint("x-", i), "1")
	}
	require.Equal(t, 413, send(many))
	require.Equal(t, 200, send(request("/v1/boards/b/top", nil)))
	require.Zero(t, connections, "all took the connection of the stream")
	_, err = n.Store.Apply(t.Context(), "b", []definition.Update{{Member: "ana", Score: 5}})
	require.NoError(t, err)
	untilLine(t, events, "ana")
}

// The node tells each HTTP/2 client how many requests it may have under way, and how large its frames may be.
func TestHTTP2IsBounded(t *testing.T) {
	t.Parallel()
	n, trust := servertest.StartTLS(t, redistest.Embedded(t), servertest.Config{})
	trust.NextProtos = []string{"h2"}
	conn, err := tls.Dial("tcp", n.Addr, trust)
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")) // and empty settings
	require.NoError(t, err)
	head := make([]byte, 9) // RFC 9113, section 4.1
	_, err = io.ReadFull(conn, head)
	require.NoError(t, err)
	require.EqualValues(t, 4, head[3], "want SETTINGS")
	settings := make([]byte, int(head[1])<<8|int(head[2]))
	_, err = io.ReadFull(conn, settings)
	require.NoError(t, err)
	got := map[uint16]uint32{}
	for ; len(settings) > 0; settings = settings[6:] {
		got[binary.BigEndian.Uint16(settings)] = binary.BigEndian.Uint32(settings[2:])
	}
	require.EqualValues(t, 100, got[3], "SETTINGS_MAX_CONCURRENT_STREAMS")
	require.EqualValues(t, 16<<10, cmp.Or(got[5], 16<<10), "SETTINGS_MAX_FRAME_SIZE")
	require.LessOrEqual(t, got[6], uint32(17<<10), "SETTINGS_MAX_HEADER_LIST_SIZE")
}

// An address has its share of the node also if its requests share a connection.
func TestTurnsHoldOverHTTP2(t *testing.T) {
	t.Parallel()
	n, trust := servertest.StartTLS(t, redistest.Embedded(t), servertest.Config{Server: server.Config{
		Limits: access.Config{AddressSockets: 2}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}}, definition.Board{Name: "b"})
	client := clientOf(t, trust, true)
	open := func() *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+n.Addr+"/v1/boards/b/live", nil)
		require.NoError(t, err)
		req.Header.Set("X-Forwarded-For", "192.0.2.7")
		res, err := client.Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	require.Equal(t, 200, open().StatusCode)
	require.Equal(t, 200, open().StatusCode)
	require.Equal(t, 429, open().StatusCode)
}

// Requests that share a connection count as memory while their client accepts nothing: otherwise it could have
// any number of answers wait, small ones too. Where there is no room for them, the connection ends.
func TestAnswersOverHTTP2CountWhileTheyWait(t *testing.T) {
	t.Parallel()
	// The first stream of events takes the only place of a socket, and all others are refused.
	for _, path := range []string{"/nothing", "/v1/boards/b/live", "/v1/boards/b/export"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			answersOverHTTP2CountWhileTheyWait(t, path)
		})
	}
}

func answersOverHTTP2CountWhileTheyWait(t *testing.T, path string) {
	const streams, room = 20, 8
	n, trust := servertest.StartTLS(t, redistest.Embedded(t), servertest.Config{Server: server.Config{
		RequestTimeout: time.Hour, Limits: access.Config{WaitingBytes: room * 16 << 10, Sockets: 1, Exports: 1},
	}}, definition.Board{Name: "b"})
	trust.NextProtos = []string{"h2"}
	conn, err := tls.Dial("tcp", n.Addr, trust)
	require.NoError(t, err)
	defer conn.Close()
	sent := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	frame := func(kind, flags byte, stream uint32, payload string) {
		sent = append(sent, 0, 0, byte(len(payload)), kind, flags)
		sent = append(binary.BigEndian.AppendUint32(sent, stream), payload...)
	}
	frame(4, 0, 0, "\x00\x04\x00\x00\x00\x00") // SETTINGS_INITIAL_WINDOW_SIZE: 0 bytes
	for i := range uint32(streams) {
		// GET, https, path, authority localhost, by HPACK (RFC 7541) without Huffman codes.
		frame(1, 5, 2*i+1, "\x82\x87\x04"+string(byte(len(path)))+path+"\x01\x09localhost")
	}
	_, err = conn.Write(sent) // at once: the node may close the connection as soon as it has read some of them
	require.NoError(t, err)
	// The node closes the connection: it could not even reset the streams of a client that reads nothing.
	conn.SetReadDeadline(time.Now().Add(servertest.Patience))
	_, err = io.Copy(io.Discard, conn)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}

// An event stream over HTTP/2 shows each change, and ends when the node stops.
func TestStreamOverHTTP2(t *testing.T) {
	t.Parallel()
	n, trust := servertest.StartTLS(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	res, err := clientOf(t, trust, true).Get("https://" + n.Addr + "/v1/boards/b/live")
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 2, res.ProtoMajor)
	events := bufio.NewScanner(res.Body)
	untilLine(t, events, "event: snapshot")
	_, err = n.Store.Apply(t.Context(), "b", []definition.Update{{Member: "ana", Score: 40}})
	require.NoError(t, err)
	untilLine(t, events, `"ana"`)
	go n.Stop()
	untilLine(t, events, "event: bye")
}

// A WebSocket works over TLS, also for a client that reads slowly: it skips to the newest state, which arrives
// whole.
func TestSlowSocketOverTLS(t *testing.T) {
	t.Parallel()
	n, trust := servertest.StartTLS(t, redistest.Start(t).URL(), servertest.Config{Hub: hub.Config{Interval: time.Millisecond},
		Server: server.Config{WriteTimeout: servertest.Patience}},
		definition.Board{Name: "b", Mode: definition.Last})
	slow, quick := servertest.DialSmallTLS(t, n.Addr, trust), servertest.DialTLS(t, n.Addr, trust)
	slow.Subscribe("b", 1000)
	quick.Subscribe("b", 1000)
	const rounds = 10
	for round := range rounds {
		updates := []definition.Update{{Member: "round", Score: int64(1e9 + round)}}
		for i := range 900 {
			updates = append(updates, definition.Update{Member: fmt.Sprintf("m%03d-%s", i, strings.Repeat("x", 100)),
				Score: int64(1e6 * (i%7 + round))})
		}
		_, err := n.Store.Apply(t.Context(), "b", updates)
		require.NoError(t, err)
		quick.Until("b", "the round", func(b *hubtest.Board) bool { return len(b.Top) > 0 && b.Top[0].Score == int64(1e9+round) })
	}
	frames := 0
	for b := slow.Boards["b"]; len(b.Top) == 0 || b.Top[0].Score < 1e9+rounds-1; frames++ {
		_, err := slow.Read()
		require.NoError(t, err)
	}
	require.Less(t, frames, rounds, "the slow client must skip")
	quick.Until("b", "the same board", func(b *hubtest.Board) bool { return b.Seq >= slow.Boards["b"].Seq })
	slow.Until("b", "the same board", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(quick.Boards["b"].Top) })
	slow.Send(`{"type":"ping","id":1}`)
	slow.Next("pong")
}

// A client that never finishes the handshake is cut off, and counts as a connection until then. The log of
// operators says nothing of what strangers send.
func TestHandshakeThatNeverEnds(t *testing.T) {
	t.Parallel()
	log := new(redistest.Log)
	n, trust := servertest.StartTLS(t, redistest.Embedded(t), servertest.Config{Server: server.Config{
		RequestTimeout: 100 * time.Millisecond, Limits: access.Config{Connections: 1}, Log: slog.New(slog.NewTextHandler(log, nil)),
	}})
	silent := servertest.Connect(t, n.Addr)
	_, err := io.ReadAll(silent)
	require.NoError(t, err, "want the end of the connection")

	garbage := servertest.Connect(t, n.Addr)
	fmt.Fprint(garbage, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	io.ReadAll(garbage)
	redistest.Eventually(t, "a place", func() error {
		res, err := clientOf(t, trust, true).Get("https://" + n.Addr + "/healthz")
		if err == nil {
			res.Body.Close()
		}
		return err
	})
	require.NotContains(t, log.String(), "handshake")
}

// Limits of connections hold below TLS: one beyond them closes before any handshake.
func TestLimitOfConnectionsHoldsBelowTLS(t *testing.T) {
	t.Parallel()
	n, trust := servertest.StartTLS(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Limits: access.Config{Connections: 1}}})
	first, err := tls.Dial("tcp", n.Addr, trust)
	require.NoError(t, err)
	defer first.Close()
	second := servertest.Connect(t, n.Addr)
	_, err = second.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.EqualValues(t, 1, maps.Collect(n.Server.Limited())["connections"])
}
