package server_test

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// A client learns from a 401 whether the server has refused its credentials (RFC 6750, section 3.1).
func TestChallenge(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+"tokens: {secret_file: secret}\n")
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}})
	valid := token(g, "m", []string{"a"}, nil, time.Hour)
	const none, invalid = `Bearer`, `Bearer error="invalid_token"`
	for name, c := range map[string]struct {
		path, authorization, want string
	}{
		"no credentials":   {"/v1/boards", "", none},
		"another scheme":   {"/v1/boards", "Basic dTpw", none},
		"an unknown key":   {"/v1/boards", "Bearer " + access.NewKey(), invalid},
		"no token":         {"/v1/boards", "bearer x", invalid},
		"nothing":          {"/v1/boards", "Bearer", invalid},
		"a forged token":   {"/v1/boards", "Bearer " + valid[:len(valid)-4] + "AAAA", invalid},
		"an expired token": {"/v1/boards", "Bearer " + token(g, "m", []string{"a"}, nil, -time.Hour), invalid},
		"a ticket":         {"/v1/boards/a/live?ticket=rct_x", "", invalid},
	} {
		var fields []string
		if c.authorization != "" {
			fields = []string{"Authorization", c.authorization}
		}
		a := n.Do("GET", c.path, "", fields...)
		servertest.RequireProblem(t, a, 401, "unauthorized", "")
		require.Equal(t, []string{c.want}, a.Header.Values("WWW-Authenticate"), name)
	}
}

type failingTransport struct{}

func (failingTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

// A client whose token the server cannot verify yet learns when the server tries again.
func TestTokenWhoseKeyIsNotAvailable(t *testing.T) {
	t.Parallel()
	guard, err := access.NewGuard(access.GuardConfig{
		Text: "tokens: {jwks: 'https://keys.example/', audience: a}", HTTP: &http.Client{Transport: failingTransport{}},
		Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	accesstest.Run(t, guard)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: guard}})
	encode := base64.RawURLEncoding.EncodeToString
	unknown := encode([]byte(`{"alg":"ES256","kid":"k"}`)) + "." + encode([]byte(`{}`)) + "." + encode(make([]byte, 64))
	a := n.Do("GET", "/v1/boards", "", "Authorization", "Bearer "+unknown)
	servertest.RequireProblem(t, a, 503, "unavailable", "")
	require.Empty(t, a.Header.Get("WWW-Authenticate"))
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.LessOrEqual(t, seconds, 60)
	require.Greater(t, seconds, 1, "the server fetches the keys once a minute")
}

// A caller that loses its rights while its body arrives changes nothing.
func TestRightsEndWhileTheBodyArrives(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		const other = `  - {name: other, hash: HASH:other, scopes: [read, write], boards: [b]}` + "\n"
		file := func(rights string) string {
			return "keys:\n" + keyLine("ops", "scopes: [admin]") + keyLine("k", rights) + other
		}
		both := file("scopes: [admin]")
		g := accesstest.Start(t, both)
		n := servertest.Start(t, url, servertest.Config{Server: server.Config{Access: g.Guard}}, definition.Board{Name: "b"},
			definition.Board{Name: "c"})
		require.NoError(t, n.Store.DefineEvent(t.Context(),
			definition.Event{Name: "e", Updates: []definition.Target{{Board: "b", Member: "{user}", Score: "{n}"}}}, ranking.Moderator{}))
		replace := func(text string) {
			g.Enforce(text + fmt.Sprintf("# after %d\n", g.Version())) // the same text twice is no change
		}
		type body struct{ path, kind, first, rest string }
		score := body{"/v1/boards/b/scores", "application/json", `{"member":"m",`, `"score":1}`}
		event := body{"/v1/events/e", "application/json", `{"user":"m",`, `"n":1}`}
		imported := body{"/v1/boards/b/import", "text/csv", "member,score\nm", ",1\n"}
		for _, c := range []struct {
			body
			key, file string
			want      string
		}{
			{score, "k", "keys:\n" + keyLine("ops", "scopes: [admin]") + other, "401 unauthorized"},
			{score, "k", file("scopes: [write], boards: [c]"), "403 forbidden"},
			{score, "k", file("scopes: [read], boards: [b]"), "403 forbidden"},
			// The rights of anonymous are not those of the request.
			{event, "k", "anonymous: {scopes: [read, write], events: [e]}\nkeys:\n" + keyLine("ops", "scopes: [admin]"), "401 unauthorized"},
			{imported, "k", file("scopes: [write], boards: [b]"), "403 forbidden"},
			{score, "other", file("scopes: [read], boards: [b]"), "200 "},
		} {
			replace(both)
			conn := servertest.Connect(t, n.Addr)
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nExpect: "+
				"100-continue\r\nContent-Length: %d\r\n\r\n",
				c.path, g.Key(c.key), c.kind, len(c.first+c.rest))
			in := bufio.NewReader(conn)
			line, err := in.ReadString('\n') // the handler reads, so the caller was allowed
			require.NoError(t, err)
			require.Contains(t, line, "100 Continue")
			io.WriteString(conn, c.first)
			_, err = in.ReadString('\n')
			require.NoError(t, err)
			replace(c.file)
			io.WriteString(conn, c.rest)
			a := servertest.ReadAnswer(t, in)
			conn.Close()
			status, code, _ := strings.Cut(c.want, " ")
			require.Equal(t, status, fmt.Sprint(a.Status), a.Body)
			page, err := n.Store.Page(t.Context(), "b", 1, 1)
			require.NoError(t, err)
			if code == "" {
				require.EqualValues(t, 1, page.Total)
				continue
			}
			require.Contains(t, a.Body, `"code":"`+code+`"`)
			require.Zero(t, page.Total)
		}
	})
}

const ticketFile = `
keys:
  - {name: k, hash: HASH:k, scopes: [read], boards: [b]}
  - {name: other, hash: HASH:other, scopes: [read], boards: [b]}
tokens: {secret_file: secret}
`

// ticketOf asks a node for a ticket; credentials may be "".
func ticketOf(t *testing.T, n *servertest.Node, credentials string) string {
	t.Helper()
	a := n.Require(201, "POST", "/v1/tickets", "", bearer(credentials)...)
	require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
	var answer struct{ Ticket, Expires string }
	a.Into(&answer)
	expires, err := time.Parse(time.RFC3339, answer.Expires)
	require.NoError(t, err)
	require.True(t, expires.After(n.Store.Now()) && expires.Before(n.Store.Now().Add(31*time.Second)), answer.Expires)
	return answer.Ticket
}

// requireClosed requires that a node closes a socket with that ticket with 4401 and the reason.
func requireClosed(t *testing.T, n *servertest.Node, ticket string) {
	t.Helper()
	_, err := servertest.DialPath(t, n.Addr, "/v1/live?ticket="+ticket).Raw()
	var closed websocket.CloseError
	require.ErrorAs(t, err, &closed)
	require.Equal(t, websocket.CloseError{Code: 4401, Reason: access.ErrTicket.Error()}, closed)
}

// A ticket gives one socket or stream the rights of its caller, on whichever node. All other ones are refused.
func TestTicketOpensOneSocket(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		g := accesstest.Start(t, ticketFile)
		var nodes []*servertest.Node
		for range 2 {
			nodes = append(nodes, servertest.Start(t, url, servertest.Config{Server: server.Config{Access: g.Guard}}, definition.Board{Name: "b"}))
		}
		token := g.Token(access.TokenContent{Sub: "u4", Boards: []string{"b"}, Expires: time.Now().Add(time.Hour)})
		for _, credentials := range []string{g.Key("k"), token} {
			ticket := ticketOf(t, nodes[0], credentials)
			var opened atomic.Int64
			var clients sync.WaitGroup
			for i := range 50 {
				clients.Go(func() {
					s := servertest.DialPath(t, nodes[i%2].Addr, "/v1/live?ticket="+ticket)
					s.WS.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe","board":"b"}`))
					for {
						m, err := s.Read()
						switch {
						case err == nil && m.Type == "snapshot":
							opened.Add(1)
							return
						case err != nil && websocket.CloseStatus(err) != 4401 || m.Type == "error":
							t.Error(err, m)
							return
						case err != nil:
							return
						}
					}
				})
			}
			redistest.Wait(t, "the callers of the test", clients.Wait)
			require.EqualValues(t, 1, opened.Load())
			requireClosed(t, nodes[1], ticket)

			path := "/v1/boards/b/live?ticket=" + ticketOf(t, nodes[0], credentials)
			servertest.OpenStream(t, nodes[1].Addr, path).Next("snapshot")
			servertest.RequireProblem(t, nodes[0].Do("GET", path, ""), 401, "unauthorized", "")
		}
		requireClosed(t, nodes[0], "")
		requireClosed(t, nodes[0], access.NewTicket())

		// A key that leaves the file meanwhile takes its tickets with it.
		ticket, kept := ticketOf(t, nodes[0], g.Key("k")), ticketOf(t, nodes[0], g.Key("other"))
		g.Enforce(`keys: [{name: other, hash: HASH:other, scopes: [read], boards: [b]}]`)
		requireClosed(t, nodes[0], ticket)
		servertest.DialPath(t, nodes[0].Addr, "/v1/live?ticket="+kept).Subscribe("b", 10)
	})
}

// handshakeHeader is the header of a valid handshake.
var handshakeHeader = []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
	"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}

// A request that opens no socket uses no ticket up.
func TestTicketOutlivesWhatOpensNoSocket(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		g := accesstest.Start(t, ticketFile)
		n := servertest.Start(t, url, servertest.Config{Server: server.Config{Access: g.Guard}}, definition.Board{Name: "b"})
		full := servertest.Start(t, url, servertest.Config{Server: server.Config{Access: g.Guard, Limits: access.Config{Sockets: 1}}})
		servertest.Dial(t, full.Addr)
		path := "/v1/live?ticket=" + ticketOf(t, n, g.Key("k"))
		for _, header := range [][]string{nil, handshakeHeader[:2], handshakeHeader[:4], handshakeHeader[:6]} {
			a := n.Do("GET", path, "", header...)
			require.Contains(t, []int{400, 426}, a.Status, a.Body)
		}
		servertest.RequireProblem(t, full.Do("GET", path, "", handshakeHeader...), 503, "overloaded", "")
		_, err := servertest.DialPath(t, n.Addr, path, "Origin", "https://evil.example").Raw()
		require.Equal(t, websocket.StatusCode(4503), websocket.CloseStatus(err))
		servertest.DialPath(t, n.Addr, path).Subscribe("b", 10)
	})
}

// A handshake with a ticket that the node cannot look up is answered as any other request then.
func TestTicketWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	n := servertest.Start(t, redis.URL(), servertest.Config{Server: server.Config{Access: accesstest.Start(t, ticketFile).Guard}})
	redis.Kill()
	a := n.Do("GET", "/v1/live?ticket="+access.NewTicket(), "", handshakeHeader...)
	servertest.RequireProblem(t, a, 503, "unavailable", "")
	for _, field := range []string{"Upgrade", "Connection", "Sec-WebSocket-Accept"} {
		require.Empty(t, a.Header.Get(field), field)
	}
}

// Only a caller with credentials gets a ticket, and without a body.
func TestTicketIsRefused(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, ticketFile+`anonymous: {scopes: [read], boards: [b]}`)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}}, definition.Board{Name: "b"})
	servertest.RequireProblem(t, n.Do("POST", "/v1/tickets", ""), 401, "unauthorized", "")
	servertest.RequireProblem(t, n.Do("POST", "/v1/tickets", "", "Authorization", "Bearer "+access.NewKey()), 401, "unauthorized", "")
	servertest.RequireProblem(t, n.Do("POST", "/v1/tickets", "{}", "Authorization", "Bearer "+g.Key("k")), 400, "invalid_request", "body")
	servertest.RequireProblem(t, n.Do("POST", "/v1/tickets?x=1", "", "Authorization", "Bearer "+g.Key("k")), 400, "invalid_request", "x")
	require.Equal(t, 401, servertest.Handshake(t, n.Addr, "Authorization", "Bearer x").Status, "wrong credentials open no socket")
}

// A server without an access file gives tickets, which work once, too.
func TestTicketOfAnOpenServer(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	ticket := ticketOf(t, n, "")
	servertest.DialPath(t, n.Addr, "/v1/live?ticket="+ticket).Subscribe("b", 10)
	requireClosed(t, n, ticket)
}

// A stream needs the right to read its board. The refusal does not say whether there is such a board.
func TestStreamNeedsRights(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, ticketFile)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}},
		definition.Board{Name: "b"}, definition.Board{Name: "c"})
	for _, board := range []string{"c", "none"} {
		path := fmt.Sprintf("/v1/boards/%s/live", board)
		servertest.RequireProblem(t, n.Do("GET", path, ""), 401, "unauthorized", "")
		servertest.RequireProblem(t, n.Do("GET", path, "", "Authorization", "Bearer "+g.Key("k")), 403, "forbidden", "")
	}
	servertest.OpenStream(t, n.Addr, "/v1/boards/b/live", "Authorization: Bearer "+g.Key("k")).Next("snapshot")
}
