package server_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// A page of a named origin can read each answer of a node, whichever layer refuses the request: else the page takes a
// refusal for an outage, and tries again at once.
func TestPagesReadTheAnswersOfEachLayer(t *testing.T) {
	t.Parallel()
	const page = "https://example.com"
	redis := redistest.Start(t)
	g := accesstest.Start(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+
		"anonymous: {scopes: [read], boards: [b, gone]}\ntokens: {secret_file: secret}\n")
	n := servertest.Start(t, redis.URL(), servertest.Config{Server: server.Config{
		Access: g.Guard, Origins: []string{page}, Hosts: []string{"scores.test"},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Limits: access.Config{AddressRequests: 1, Sockets: 1},
	}}, definition.Board{Name: "b"}, definition.Board{Name: "secret"})
	n.Server.HandlePanics("/v1/panics")
	key := "Bearer " + g.Key("ops")
	stream := servertest.OpenStream(t, n.Addr, "/v1/boards/b/live")
	stream.Next("snapshot")

	raw := func(request string) *http.Response {
		conn, err := net.Dial("tcp", n.Addr)
		require.NoError(t, err)
		defer conn.Close()
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		_, err = io.WriteString(conn, request)
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		defer res.Body.Close()
		return res
	}
	requireReadable := func(what string, h http.Header, origins string) {
		t.Helper()
		require.Equal(t, []string{origins}, h["Access-Control-Allow-Origin"], what)
		require.Contains(t, h.Get("Access-Control-Expose-Headers"), "Retry-After", what)
		require.Contains(t, strings.Join(h["Vary"], ", "), "Origin", what)
	}
	type request struct {
		status             int
		method, path, body string
		header             []string
	}
	check := func(c request) {
		t.Helper()
		a := n.Do(c.method, c.path, c.body, append(c.header, "Origin", page, "Sec-Fetch-Site", "cross-site")...)
		require.Equal(t, c.status, a.Status, "%+v: %s", c, a.Body)
		requireReadable(fmt.Sprintf("%+v", c), a.Header, page)
		// The preflight passes, so that the page sends the request and reads the refusal.
		if a.Status != http.StatusMethodNotAllowed {
			preflight := n.Do("OPTIONS", c.path, "", append(c.header, "Origin", page, "Access-Control-Request-Method", c.method)...)
			require.Equal(t, 204, preflight.Status, "%+v: %s", c, preflight.Body)
			require.Equal(t, page, preflight.Header.Get("Access-Control-Allow-Origin"))
		}
	}
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprint("X-", i), "1")
	}
	authorized := []string{"Authorization", key}
	for _, c := range []request{
		{200, "GET", "/v1/boards/b/top", "", nil},
		{400, "GET", "/v1/boards/b/top?limit=x", "", nil},
		{400, "GET", "/v1/boards/./top", "", nil},
		{401, "GET", "/v1/boards/b/top", "", []string{"Authorization", "Bearer x"}},
		{401, "GET", "/v1/boards/secret/top", "", nil},
		{403, "GET", "/v1/boards/secret/top", "", []string{"Authorization", "Bearer " + token(g, "m", []string{"b"}, nil, time.Hour)}},
		{403, "POST", "/v1/boards/b/scores", `{"member":"m","score":1}`, nil}, // a page needs a token
		{404, "GET", "/v1/boards/gone/top", "", nil},
		{404, "GET", "/v1/nothing", "", nil},
		{404, "GET", "/v1/nothing", "", []string{"Accept", "text/html"}},
		{405, "PATCH", "/v1/boards/b/scores", "", authorized},
		{405, "HEAD", "/v1/boards/b/live", "", authorized},
		{413, "POST", "/v1/boards/b/scores", `{"member":"` + strings.Repeat("x", 2<<20) + `"}`, authorized},
		{413, "GET", "/v1/boards/b/top", "", many},
		{415, "POST", "/v1/boards/b/scores", "x", append([]string{"Content-Type", "application/xml"}, authorized...)},
		{422, "POST", "/v1/boards/b/scores", `{"member":"m","score":9007199254740993}`, authorized},
		{500, "GET", "/v1/panics", "", nil},
		{503, "GET", "/v1/live", "", nil}, // one stream is open, and no more may be
	} {
		check(c)
	}

	const rest = "Host: scores.test\r\nOrigin: " + page + "\r\n"
	misdirected := raw("GET /v1/boards/b/top HTTP/1.1\r\nHost: other.test\r\nOrigin: " + page + "\r\n\r\n")
	require.Equal(t, 421, misdirected.StatusCode)
	requireReadable("another host", misdirected.Header, page)
	for status, request := range map[int]string{
		400: "GET /v1/boards HTTP/1.1\r\n" + rest + "a b: c\r\n\r\n",
		431: "GET /v1/boards HTTP/1.1\r\n" + rest + "X: " + strings.Repeat("x", 30<<10) + "\r\n\r\n",
		501: "POST /v1/boards HTTP/1.1\r\n" + rest + "Transfer-Encoding: x\r\n\r\n",
		505: "GET /v1/boards HTTP/9.1\r\n" + rest + "\r\n",
	} {
		res := raw(request)
		require.Equal(t, status, res.StatusCode)
		requireReadable(fmt.Sprint(status), res.Header, "*") // of net/http, which knows no origin yet
	}

	redistest.Eventually(t, "the limit of requests", func() error {
		a := n.Do("GET", "/v1/boards/b/top", "", "Origin", page, "X-Forwarded-For", phone)
		requireReadable("each answer on the way there", a.Header, page)
		if a.Status != 429 {
			return fmt.Errorf("status %d", a.Status)
		}
		return nil
	})
	refused := maps.Collect(n.Server.Limited())["address_requests"]
	var preflights sync.WaitGroup
	for range 30 { // more than the address may send
		preflights.Go(func() {
			a, err := servertest.Try(t, "OPTIONS", "http://"+n.Addr+"/v1/boards/b/top", "", "Origin", page,
				"Access-Control-Request-Method", "GET", "X-Forwarded-For", phone)
			if assert.NoError(t, err) {
				assert.Equal(t, 204, a.Status, a.Body)
			}
		})
	}
	redistest.Wait(t, "the answers to preflights", preflights.Wait)
	require.Greater(t, maps.Collect(n.Server.Limited())["address_requests"], refused, "the node has refused some, and said so to no page")
	redis.Kill()
	check(request{503, "GET", "/v1/boards/b/top", "", nil})
}

// A preflight that does not pass says why, and the log names the flag that would let it pass.
func TestRefusedPreflights(t *testing.T) {
	t.Parallel()
	log := new(redistest.Log)
	n := servertest.Start(t, redistest.Embedded(t),
		servertest.Config{Server: server.Config{Origins: []string{"https://example.com"},
			Log: slog.New(slog.NewTextHandler(log, nil))}}, definition.Board{Name: "b"})
	a := n.Do("OPTIONS", "/v1/boards/b/scores", "", "Origin", "capacitor://localhost", "Access-Control-Request-Method", "POST")
	servertest.RequireProblem(t, a, 403, "forbidden", "Origin")
	require.Contains(t, a.Body, "add capacitor://localhost to the server's --origins")
	require.Empty(t, a.Header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, log.String(), `flag="--origins https://example.com,capacitor://localhost"`)
	a = n.Do("OPTIONS", "/v1/boards/b/hidden/m", "", "Origin", "https://example.com", "Access-Control-Request-Method", "PUT")
	servertest.RequireProblem(t, a, 403, "forbidden", "Origin")
	require.Contains(t, a.Body, "none may moderate")
}
