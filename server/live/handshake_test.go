package live_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/servertest"
)

// A client may send before it has read the answer to its handshake. What it
// sent must not be lost with the buffers that the handshake was read through.
func TestMessageSentWithHandshake(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	for range 50 {
		conn := servertest.Connect(t, n.Addr)
		// More frames than a small buffer holds.
		var frame []byte
		for i := range 12 {
			frame = append(frame, clientFrame(0x81, 0, fmt.Sprintf(`{"type":"ping","id":"%d %s"}`, i, strings.Repeat("x", 60)))...)
		}
		_, err := conn.Write(append([]byte("GET /v1/live HTTP/1.1\r\nHost: "+n.Addr+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
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

// The node refuses a request that is no handshake, and names what is wrong. It answers a handshake as RFC 6455 does in section 1.3, with
// the subprotocol if the client offers it.
func TestHandshakes(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	const offer = "Sec-WebSocket-Protocol: other, rankcast.v1\r\n"
	for _, c := range []struct{ name, old, new, want string }{
		{"good", "", "", "101 rankcast.v1"},
		{"two lists of subprotocols", offer, "Sec-WebSocket-Protocol: other\r\nSec-WebSocket-Protocol: more,\trankcast.v1\r\n",
			"101 rankcast.v1"},
		{"no subprotocol", offer, "", "101 "},
		{"another subprotocol", offer, "Sec-WebSocket-Protocol: Rankcast.V1, rank cast.v1\r\n", "101 "},
		{"lists of tokens", "Connection: Upgrade", "Connection: keep-alive, UPGRADE", "101 rankcast.v1"},
		{"HTTP/1.0", "HTTP/1.1", "HTTP/1.0", "it takes HTTP/1.1"},
		{"no Connection", "Connection: Upgrade\r\n", "", "the header Connection must contain upgrade"},
		{"another Upgrade", "Upgrade: websocket", "Upgrade: h2c", "the header Upgrade must contain websocket"},
		{"an old version", "Version: 13", "Version: 8", "Sec-WebSocket-Version is \\\"8\\\"; want 13"},
		{"a short key", "dGhlIHNhbXBsZSBub25jZQ==", "dGhl", "Sec-WebSocket-Key must be 16 bytes in base64"},
		{"two keys", "Sec-WebSocket-Key: ", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Key: ",
			"Sec-WebSocket-Key must be 16 bytes in base64"},
	} {
		conn := servertest.Connect(t, n.Addr)
		request := "GET /v1/live HTTP/1.1\r\nHost: " + n.Addr + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\n" + offer + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
		_, err := io.WriteString(conn, strings.Replace(request, c.old, c.new, 1))
		require.NoError(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err, c.name)
		if protocol, good := strings.CutPrefix(c.want, "101 "); good {
			require.Equal(t, 101, answer.StatusCode, c.name)
			require.Equal(t, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", answer.Header.Get("Sec-WebSocket-Accept"))
			require.Equal(t, protocol, answer.Header.Get("Sec-WebSocket-Protocol"), c.name)
			require.Equal(t, "websocket Upgrade", answer.Header.Get("Upgrade")+" "+answer.Header.Get("Connection"))
		} else {
			body := string(redistest.Must(io.ReadAll(answer.Body))(t))
			require.Equal(t, 400, answer.StatusCode, c.name)
			require.Contains(t, body, c.want)
			require.Contains(t, body, `"code":"invalid_request"`)
		}
		conn.Close()
	}
	answer := n.Require(400, "GET", "/v1/live", "", "Connection", "Upgrade", "Upgrade", "websocket")
	require.Equal(t, "13", answer.Header.Get("Sec-WebSocket-Version"))
}

// A page of a site that the server does not allow gets no session. Its socket opens and closes with a
// reason that names the flag, and the log names the flag once.
func TestSocketOfAnotherSiteIsClosedWithAReason(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		var logged redistest.Log
		n := servertest.Start(t, url, servertest.Config{Server: server.Config{Origins: []string{"https://a.example"},
			Log: slog.New(slog.NewTextHandler(&logged, nil))}},
			definition.Board{Name: "b"})
		for _, c := range []struct{ origin, reason, flag string }{
			{"http://localhost:8000", "origin not allowed: add http://localhost:8000 to the server's --origins",
				`"--origins https://a.example,http://localhost:8000"`},
			{"HTTP://127.0.0.1:8000", "origin not allowed: add http://127.0.0.1:8000 to the server's --origins",
				`"--origins https://a.example,http://127.0.0.1:8000"`},
			{"null", "origin null is not allowed: add null to the server's --origins, for files and sandboxed frames of all sites",
				`"--origins https://a.example,null"`},
			{"https://quite-a-long-name-of-a-site.example.com",
				"origin not allowed: add https://quite-a-long-name-of-a-site.example.com to the server's --origins",
				`"--origins https://a.example,https://quite-a-long-name-of-a-site.example.com"`},
			{"https://" + strings.Repeat("a", 60) + ".example",
				"this page's origin is not allowed: the server's log has the --origins that allows it",
				`"--origins https://a.example,https://` + strings.Repeat("a", 60) + `.example"`},
		} {
			for range 2 {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				ws, _, err := websocket.Dial(ctx, "ws://"+n.Addr+"/v1/live", &websocket.DialOptions{
					Subprotocols: []string{"rankcast.v1"}, HTTPHeader: http.Header{"Origin": {c.origin}}})
				require.NoError(t, err, c.origin)
				ws.Write(ctx, websocket.MessageText, []byte(`{"type":"subscribe","id":1,"board":"b"}`))
				_, _, err = ws.Read(ctx)
				var closed websocket.CloseError
				require.ErrorAs(t, err, &closed, "no frame comes first")
				require.Equal(t, websocket.CloseError{Code: 4503, Reason: c.reason}, closed)
				ws.CloseNow()
				cancel()
			}
			require.Equal(t, 1, strings.Count(logged.String(), c.flag), "%s:\n%s", c.flag, logged.String())
		}
		require.Zero(t, n.Hub.Watched())
		require.Equal(t, 5, strings.Count(logged.String(), "another site"), logged.String())

		// A page that fetches is refused by its browser, which cannot say why: the log can.
		n.Require(200, "GET", "/v1/boards/b/top", "", "Origin", "http://localhost:8000")
		n.Require(200, "GET", "/v1/boards/b/top", "", "Origin", "https://a.example")
		n.Require(200, "GET", "/v1/boards/b/top", "", "Origin", "http://"+n.Addr)
		require.Equal(t, 5, strings.Count(logged.String(), "another site"), logged.String())
		n.Require(200, "GET", "/v1/boards/b/top", "", "Origin", "http://fetches.example")
		require.Contains(t, logged.String(), "--origins https://a.example,http://fetches.example")
	})
}

// A client that takes the refusal and stays is disconnected, also while it sends.
func TestRefusedSocketIsDisconnected(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	for _, sends := range []string{"", strings.Repeat("x", 1<<20)} {
		conn := servertest.Connect(t, n.Addr)
		_, err := conn.Write([]byte("GET /v1/live HTTP/1.1\r\nHost: " + n.Addr +
			"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://localhost:8000\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"))
		require.NoError(t, err)
		got, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.Contains(t, string(got), "\x11\x97origin not allowed: add http://localhost:8000",
			"4503 and the reason, and the end of the stream")
		conn.Write([]byte(sends))
		for err == nil { // until the node closes the connection
			_, err = conn.Write([]byte("x"))
		}
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		conn.Close()
	}
	n.Stop()
}
