package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// A page whose name resolves to a loopback address is of one origin with the server for its browser. It
// still reads nothing, writes nothing and opens no socket.
func TestDNSRebinding(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		var logged redistest.Log
		n := servertest.Start(t, url, servertest.Config{Server: server.Config{Origins: []string{"*"},
			Log: slog.New(slog.NewTextHandler(&logged, nil))}}, definition.Board{Name: "b"})
		n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"secret","score":7}`)
		before := n.Do("GET", "/v1/boards/b", "").Body
		const rebound = "Host: evil.com\nOrigin: http://evil.com\nSec-Fetch-Site: same-origin"
		for _, c := range []struct{ request, body string }{
			{"GET /v1/boards/b/top", ""}, {"GET /v1/overview", ""}, {"GET /v1/audit", ""}, {"GET /v1/boards/b/export", ""},
			{"GET /v1/boards/nope", ""},
			{"GET /", ""}, {"GET /show/e", ""}, {"GET /docs/start", ""}, {"GET /assets/shared/links.js", ""}, {"GET /healthz", ""},
			{"GET /readyz", ""}, {"GET /nowhere", ""},
			{"POST /v1/boards/b/scores", `{"member":"secret","score":1}`}, {"PUT /v1/boards/c", `{}`}, {"DELETE /v1/boards/b", ""},
			{"DELETE /v1/boards/b/members/secret", ""},
			{"POST /v1/boards/b/import", ""}, {"PATCH /v1/boards/b", ""}, {"OPTIONS /v1/boards/b", ""},
			{"GET /v1/live", ""},
		} {
			a := rawRequest(t, n.Addr, c.request+" HTTP/1.1\n"+rebound, c.body)
			servertest.RequireProblem(t, a, 421, "misdirected_request", "Host")
			require.Contains(t, a.Body, "evil.com")
			require.Contains(t, a.Body, "--hosts")
			require.NotContains(t, a.Body, "secret")
		}
		ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
		defer cancel()
		for _, from := range []http.Header{{"Origin": {"http://evil.com"}}, nil} {
			_, res, err := websocket.Dial(ctx, "ws://"+n.Addr+"/v1/live", &websocket.DialOptions{Host: "evil.com", HTTPHeader: from,
				Subprotocols: []string{"rankcast.v1"}})
			require.Error(t, err)
			require.Equal(t, 421, res.StatusCode, "no socket opens, whatever its origin")
		}
		require.Equal(t, before, n.Do("GET", "/v1/boards/b", "").Body, "nothing has changed")
		n.Require(404, "GET", "/v1/boards/c", "")
		require.Equal(t, 1, strings.Count(logged.String(), "another host"), logged.String())
		require.Contains(t, logged.String(), `host=evil.com flag="--hosts evil.com"`)
	})
}

// A page of the server's own, behind a proxy that drops Host, is told so, and so is the log: --origins would not help.
func TestProxyThatDropsHost(t *testing.T) {
	t.Parallel()
	var logged redistest.Log
	n := servertest.Start(t, redistest.Embedded(t),
		servertest.Config{Server: server.Config{Hosts: []string{"scores.test"}, Log: slog.New(slog.NewTextHandler(&logged, nil))}},
		definition.Board{Name: "b"})
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://"+n.Addr+"/v1/live",
		&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://scores.test"}}, Subprotocols: []string{"rankcast.v1"}})
	require.NoError(t, err)
	defer ws.CloseNow()
	_, _, err = ws.Read(ctx)
	var closed websocket.CloseError
	require.ErrorAs(t, err, &closed)
	require.Equal(t, "the proxy must pass on Host: the server's --hosts names the host of this page", closed.Reason)
	require.Contains(t, logged.String(), "the proxy must pass on Host, which --hosts names")
	require.NotContains(t, logged.String(), "--origins")
}

// Which host a request is for follows from its head, in each form that HTTP has for it.
func TestHostOfARequest(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t),
		servertest.Config{Server: server.Config{Hosts: []string{"scores.example.com", "*.games.example:8443"}}}, definition.Board{Name: "b"})
	for head, status := range map[string]int{
		"GET /healthz HTTP/1.1\nHost: " + n.Addr:                             200,
		"GET /healthz HTTP/1.1\nHost: localhost":                             200,
		"GET /healthz HTTP/1.1\nHost: LOCALHOST.:8080":                       200,
		"GET /healthz HTTP/1.1\nHost: a.localhost:1":                         200,
		"GET /healthz HTTP/1.1\nHost: 10.1.2.3":                              200,
		"GET /healthz HTTP/1.1\nHost: [::1]:8080":                            200,
		"GET /healthz HTTP/1.1\nHost: scores.example.com":                    200,
		"GET /healthz HTTP/1.1\nHost: eu.games.example:8443":                 200,
		"GET /healthz HTTP/1.1\nHost: eu.games.example":                      421,
		"GET /healthz HTTP/1.1\nHost: evil.com":                              421,
		"GET /healthz HTTP/1.1\nHost: 127.0.0.1.evil.com":                    421,
		"GET /healthz HTTP/1.1\nHost: localhost.evil.com:80":                 421,
		"GET /healthz HTTP/1.1\nHost: localhost@evil.com":                    400, // no host may have an at sign
		"GET /healthz HTTP/1.1\nHost: evil.com@localhost":                    400, // likewise
		"GET /healthz HTTP/1.1\nHost:":                                       421,
		"GET /healthz HTTP/1.0":                                              421,
		"GET /healthz HTTP/1.0\nHost: localhost":                             200,
		"GET /healthz HTTP/1.1":                                              400, // RFC 9112, section 3.2
		"GET /healthz HTTP/1.1\nHost: localhost\nHost: evil.com":             400, // likewise
		"GET http://evil.com/healthz HTTP/1.1\nHost: localhost":              421, // the target counts
		"GET http://localhost:8080/healthz HTTP/1.1\nHost: evil.com":         200,
		"GET http://localhost@evil.com/healthz HTTP/1.1\nHost: localhost":    421,
		"GET http://x:y@localhost/healthz HTTP/1.1\nHost: localhost":         200,
		"GET //evil.com/healthz HTTP/1.1\nHost: localhost":                   404,
		"GET /healthz HTTP/1.1\nHost: evil.com\nX-Forwarded-Host: localhost": 421,
	} {
		a := rawRequest(t, n.Addr, head, "")
		require.Equal(t, status, a.Status, "%s\n%s", head, a.Body)
		if status == 421 {
			servertest.RequireProblem(t, a, 421, "misdirected_request", "Host")
		}
	}
}

// Without an access file, and on a loopback address, the rule applies; --hosts makes it apply anywhere.
func TestHostRuleFollowsTheAddress(t *testing.T) {
	t.Parallel()
	const file = "anonymous: {scopes: [read], boards: ['*']}"
	for _, c := range []struct {
		listen string
		hosts  []string
		access string
		evil   int
	}{
		{"127.0.0.1:0", nil, "", 421}, {"0.0.0.0:0", nil, "", 421}, {":0", nil, "", 421},
		{"127.0.0.1:0", nil, file, 421}, {"127.0.0.2:0", nil, file, 421}, {"localhost:0", nil, file, 421},
		{"[::1]:0", nil, file, 421}, {"[::ffff:127.0.0.1]:0", nil, file, 421},
		{"0.0.0.0:0", nil, file, 200}, {":0", nil, file, 200}, {"0.0.0.0:0", []string{"localhost"}, file, 421},
	} {
		n := servertest.Start(t, redistest.Embedded(t),
			servertest.Config{Listen: c.listen, Server: server.Config{Hosts: c.hosts, Access: guardOf(t, c.access)}})
		require.Equal(t, c.evil, rawRequest(t, n.Addr, "GET /healthz HTTP/1.1\nHost: evil.com", "").Status, c)
		require.Equal(t, 200, rawRequest(t, n.Addr, "GET /healthz HTTP/1.1\nHost: localhost", "").Status, c)
		n.Stop()
	}
}

// guardOf is the guard of the text of an access file; that of an open server for none.
func guardOf(t *testing.T, text string) *access.Guard {
	if text == "" {
		return access.NewOpenGuard()
	}
	g, err := access.NewGuard(access.GuardConfig{Text: text, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return g
}

func TestCheckHost(t *testing.T) {
	t.Parallel()
	require.NoError(t, server.CheckHost("*.example.com:8443"))
	require.ErrorContains(t, server.CheckHost("https://example.com"), "without a scheme")
}
