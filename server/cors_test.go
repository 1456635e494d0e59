package server_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

func TestCheckOrigin(t *testing.T) {
	t.Parallel()
	for origin, says := range map[string]string{
		"*": "", "https://example.com": "", "http://localhost:3000": "", "https://EXAMPLE.com": "", "http://127.0.0.1:8080": "",
		"http://[::1]:3000": "", "https://xn--fsq.example": "", "https://a_b.example:65535": "",
		"": "want http://", "example.com": "want https://example.com", "null": "", "file://": "", "capacitor://localhost": "",
		"ftp://example.com": "want http:// or https:// and a host",
		"https://":          "want http://", "//example.com": "want http://", "https:example.com": "want http://",
		"https://example.com:x": "want http://",
		"https://example.com/":  "nothing after", "https://example.com/a": "nothing after", "https://example.com?a": "nothing after",
		"https://example.com#a": "nothing after", "https://u@example.com": "nothing after", " https://example.com": "want http://",
		"https://*.example.com": "wildcards", "https://*": "wildcards", "https://星.example": "xn--", "https://a,b": "not a host name",
		"https://[::1%25lo]": "nothing after", "https://[0:0::1]": "IPv6", "https://[a-z]": "want http://",
		"https://example.com:": "colon", "https://example.com:0": "port 0", "https://example.com:65536": "port 65536",
		"https://example.com:0800": "port 0800",
		"https://example.com:443":  "leave out :443", "http://example.com:80": "leave out :80",
	} {
		err := server.CheckOrigin(origin)
		if says == "" {
			require.NoError(t, err, origin)
		} else {
			require.ErrorContains(t, err, says, origin)
		}
	}
}

// Pages of the sites that are named may read and watch, and nobody else's; none may send
// anything.
func TestCORS(t *testing.T) {
	t.Parallel()
	const listed, other, ipv6 = "https://example.com", "https://example.org", "http://[::1]:3000"
	for _, c := range []struct {
		origins []string
		origin  string
		allows  string // what Access-Control-Allow-Origin says
	}{
		{nil, listed, ""},
		{nil, "null", ""},
		{[]string{listed, ipv6}, listed, listed},
		{[]string{"https://Example.COM"}, listed, listed},
		{[]string{listed, ipv6}, ipv6, ipv6},
		{[]string{listed, ipv6}, other, ""},
		{[]string{listed, ipv6}, "http://:", ""},
		{[]string{listed}, "http://example.com", ""},
		{[]string{listed}, "https://example.com:8443", ""},
		{[]string{listed}, "https://a.example.com", ""},
		{[]string{listed}, "https://example.com.example.org", ""},
		{[]string{listed}, "null", ""},
		{[]string{listed, "null"}, "null", "null"},
		{[]string{"file://"}, "file://", "file://"},
		{[]string{"file://"}, "null", ""},
		{[]string{"capacitor://localhost"}, "capacitor://localhost", "capacitor://localhost"},
		{[]string{"capacitor://localhost"}, "ionic://localhost", ""},
		{[]string{"*"}, other, "*"},
		{[]string{"*"}, "null", "*"},
		{[]string{listed, "*"}, listed, "*"},
	} {
		n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Origins: c.origins}}, definition.Board{Name: "b"})
		const path = "/v1/boards/b"
		from := []string{"Origin", c.origin, "Sec-Fetch-Site", "cross-site"}
		for path, status := range map[string]int{path + "/top": 200, "/v1/overview": 200, "/v1/boards/c/top": 404, "/v1/nothing": 404} {
			for _, method := range []string{"GET", "HEAD"} {
				a := n.Do(method, path, "", from...)
				require.Equal(t, status, a.Status, "%+v: %s", c, a.Body)
				require.Equal(t, c.allows, a.Header.Get("Access-Control-Allow-Origin"), "%+v: %s %s", c, method, path)
				require.Empty(t, a.Header.Get("Access-Control-Allow-Credentials"))
				if c.origins != nil {
					require.Equal(t, "Origin", a.Header.Get("Vary"), "also where it is not allowed, for caches")
				} else {
					require.Empty(t, a.Header.Get("Vary"))
				}
			}
		}
		require.Empty(t, n.Do("GET", path, "").Header.Get("Access-Control-Allow-Origin"), "who is no page needs none")
		for _, path := range []string{"/v1/audit", "/v1/hidden/member", path + "/hidden", path + "/export", "/v1/members/member/m/erasure"} {
			a := n.Do("GET", path, "", from...)
			require.NotEqual(t, 403, a.Status, path)
			require.Empty(t, a.Header.Get("Access-Control-Allow-Origin"), path)
		}
		asset := n.Require(200, "GET", "/assets/shared/links.js", "", from...)
		require.Empty(t, asset.Header.Get("Access-Control-Allow-Origin"))
		for method, path := range map[string]string{"POST": path + "/scores", "PUT": path, "DELETE": path} {
			allows := c.allows
			if method != "POST" { // definitions
				allows = ""
			}
			a := n.Do(method, path, `{"member":"m","score":1}`, from...)
			servertest.RequireProblem(t, a, 403, "forbidden", "Origin")
			require.Equal(t, allows, a.Header.Get("Access-Control-Allow-Origin"))
			preflight := n.Do("OPTIONS", path, "", append(from, "Access-Control-Request-Method", method)...)
			require.Equal(t, allows, preflight.Header.Get("Access-Control-Allow-Origin"))
			require.Equal(t, allows != "", preflight.Status == 204, "%+v: %s", c, preflight.Body)
			require.Equal(t, allows != "", strings.Contains(preflight.Header.Get("Access-Control-Allow-Headers"), "Authorization"))
		}

		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		var sockets []*websocket.Conn
		dial := func(origin string) (*websocket.Conn, int) {
			ws, res, err := websocket.Dial(ctx, "ws://"+n.Addr+"/v1/live", &websocket.DialOptions{
				Subprotocols: []string{"rankcast.v1"}, HTTPHeader: http.Header{"Origin": {origin}},
			})
			if err == nil {
				sockets = append(sockets, ws)
			}
			return ws, res.StatusCode
		}
		says := func(ws *websocket.Conn, message string) string {
			require.NoError(t, ws.Write(ctx, websocket.MessageText, []byte(message)))
			_, b, err := ws.Read(ctx)
			require.NoError(t, err)
			return string(b)
		}
		const update, event = `{"type":"update","id":1,"board":"b","update":{"member":"m","score":1}}`,
			`{"type":"event","id":1,"event":"e","data":{}}`
		ws, status := dial(c.origin)
		require.Equal(t, 101, status, c)
		if c.allows == "" {
			_, _, err := ws.Read(ctx)
			require.Equal(t, websocket.StatusCode(4503), websocket.CloseStatus(err), c)
		} else {
			require.Contains(t, says(ws, update), `"code":"forbidden"`)
			require.Contains(t, says(ws, event), `"code":"forbidden"`)
			require.Contains(t, says(ws, `{"type":"subscribe","id":2,"board":"b"}`), `"type":"ok"`)
		}
		ws, status = dial("http://" + n.Addr)
		require.Equal(t, 101, status, "its own page")
		require.Contains(t, says(ws, update), `"type":"result"`)
		for _, ws := range sockets {
			ws.CloseNow() // the node need not wait for them
		}
		n.Stop()
	}
}

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

	raw := func(request string) servertest.Answer {
		conn := servertest.Connect(t, n.Addr)
		_, err := io.WriteString(conn, request)
		require.NoError(t, err)
		return servertest.ReadAnswer(t, conn)
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
	require.Equal(t, 421, misdirected.Status)
	requireReadable("another host", misdirected.Header, page)
	for status, request := range map[int]string{
		400: "GET /v1/boards HTTP/1.1\r\n" + rest + "a b: c\r\n\r\n",
		431: "GET /v1/boards HTTP/1.1\r\n" + rest + "X: " + strings.Repeat("x", 30<<10) + "\r\n\r\n",
		501: "POST /v1/boards HTTP/1.1\r\n" + rest + "Transfer-Encoding: x\r\n\r\n",
		505: "GET /v1/boards HTTP/9.1\r\n" + rest + "\r\n",
	} {
		res := raw(request)
		require.Equal(t, status, res.Status)
		requireReadable(fmt.Sprint(status), res.Header, "*") // of net/http, which knows no origin yet
	}

	redistest.Eventually(t, "the limit of requests", func() error {
		a := n.Do("GET", "/v1/boards/b/top", "", "Origin", page, "X-Forwarded-For", phone)
		requireReadable("each answer on the way there", a.Header, page)
		return a.Is(429)
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

// A page of a named origin sends with a token what the token may, and nothing without one. A page of any other
// origin sends nothing, whatever it shows.
func TestPagesOfOtherSitesSendWithAToken(t *testing.T) {
	t.Parallel()
	const named, other = "https://example.com", "https://example.org"
	// Anybody may send the event, so that only the origin can be the reason of a refusal.
	g := accesstest.Start(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+
		"anonymous: {scopes: [read, write], boards: [a], events: [gift]}\ntokens: {secret_file: secret}\n")
	key := g.Key("ops")
	n := servertest.Start(t, redistest.Embedded(t),
		servertest.Config{Server: server.Config{Access: g.Guard, Origins: []string{named}}}, definition.Board{Name: "a"})
	n.Require(201, "PUT", "/v1/events/gift", `{"updates":[{"board":"a","member":"{user}","score":1}],"sender":"user"}`,
		"Authorization", "Bearer "+key)
	valid := token(g, "m", nil, []string{"gift"}, time.Hour)
	for _, c := range []struct {
		origin, credentials string
		status              int
		code, field         string
		allows              string
	}{
		{named, "", 403, "forbidden", "Origin", named},
		{named, valid, 200, "", "", named},
		{named, key, 200, "", "", named},
		{named, valid + "x", 401, "unauthorized", "", named}, // the page can read why
		{other, "", 403, "forbidden", "Origin", ""},
		{other, valid, 403, "forbidden", "Origin", ""},
		{other, key, 403, "forbidden", "Origin", ""},
		{"null", valid, 403, "forbidden", "Origin", ""},
	} {
		header := append(bearer(c.credentials), "Origin", c.origin, "Sec-Fetch-Site", "cross-site")
		a := n.Do("POST", "/v1/events/gift", `{"user":"m"}`, header...)
		require.Equal(t, c.status, a.Status, "%+v: %s", c, a.Body)
		if c.code != "" {
			servertest.RequireProblem(t, a, c.status, c.code, c.field)
		}
		require.Equal(t, c.allows, a.Header.Get("Access-Control-Allow-Origin"), "%+v", c)
		require.Empty(t, a.Header.Get("Access-Control-Allow-Credentials"))
		preflight := n.Do("OPTIONS", "/v1/events/gift", "", "Origin", c.origin, "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "authorization,content-type")
		require.Equal(t, c.allows, preflight.Header.Get("Access-Control-Allow-Origin"))
		if c.allows != "" {
			require.Equal(t, 204, preflight.Status)
			require.Contains(t, preflight.Header.Get("Access-Control-Allow-Headers"), "Authorization")
		}
	}
	_, total := n.Top("a", 1)
	require.EqualValues(t, 1, total)
	top, _ := n.Top("a", 1)
	require.EqualValues(t, 2, top[0].Score, "the two that passed")
}
