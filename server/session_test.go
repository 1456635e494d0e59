package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

const operators = "keys:\n  - {name: ops, hash: HASH:ops, scopes: [admin]}\n" +
	"  - {name: mod, hash: HASH:mod, scopes: [moderate], boards: [a], events: [e], kinds: [k]}\n" +
	"  - {name: game, hash: HASH:game, scopes: [read, write], boards: [a]}\n" +
	"anonymous: {scopes: [read, write], boards: [public], events: [e]}\n"

// startConsole starts a node with the keys of operators.
func startConsole(t *testing.T, url string, cfg server.Config) (*servertest.Node, *accesstest.Guard) {
	g := accesstest.Start(t, operators)
	cfg.Access = g.Guard
	n := servertest.Start(t, url, servertest.Config{Server: cfg}, definition.Board{Name: "a", Kind: "k"}, definition.Board{Name: "public"})
	n.Require(201, "PUT", "/v1/events/e",
		`{"updates":[{"board":"a","member":"{user}","score":"{n}"}],"sender":"user","fields":{"n":{"min":1,"max":9}}}`,
		bearer(g.Key("ops"))...)
	return n, g
}

// signIn exchanges a key for a session, and returns the headers of a page that has it.
func signIn(t *testing.T, n *servertest.Node, key string, header ...string) (page []string, cookie *http.Cookie) {
	t.Helper()
	a := n.Require(201, "POST", "/v1/session", "", append(bearer(key), header...)...)
	cookie = cookieOf(t, a)
	return []string{"Cookie", cookie.Name + "=" + cookie.Value, "Origin", "http://" + n.Addr}, cookie
}

// cookieOf is the one cookie that an answer sets.
func cookieOf(t *testing.T, a servertest.Answer) *http.Cookie {
	t.Helper()
	cookies := (&http.Response{Header: a.Header}).Cookies()
	require.Len(t, cookies, 1, a.Body)
	return cookies[0]
}

type sessionAnswer struct {
	Open                          bool
	Key, Expires                  *string
	Scopes, Boards, Events, Kinds []string
}

// A key is exchanged for a session, which has the rights of the key on each node until the operator signs out.
func TestSession(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		n, g := startConsole(t, url, server.Config{})
		other := servertest.Start(t, url, servertest.Config{Server: server.Config{Access: g.Guard}})
		page, cookie := signIn(t, n, g.Key("mod"))
		page = append(page[:2], "Sec-Fetch-Site", "same-origin") // as by one address for both nodes
		require.True(t, cookie.HttpOnly)
		require.False(t, cookie.Secure, "by plain HTTP the browser would drop it")
		require.Equal(t, []any{http.SameSiteStrictMode, "/", 8 * 60 * 60}, []any{cookie.SameSite, cookie.Path, cookie.MaxAge})
		for _, node := range []*servertest.Node{n, other} {
			a := node.Require(200, "GET", "/v1/session", "", page...)
			require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
			var s sessionAnswer
			a.Into(&s)
			require.NotNil(t, s.Expires)
			require.Equal(t, sessionAnswer{Key: new("mod"), Expires: s.Expires, Scopes: []string{"moderate"}, Boards: []string{"a"},
				Events: []string{"e"}, Kinds: []string{"k"}}, s)
		}
		other.Require(204, "PUT", "/v1/hidden/k/ana", `{"reason":"cheats"}`, page...)
		servertest.RequireProblem(t, n.Do("PUT", "/v1/hidden/z/ana", `{}`, page...), 403, "forbidden", "")
		servertest.RequireProblem(t, n.Do("DELETE", "/v1/boards/a", "", page...), 403, "forbidden", "")
		n.Require(200, "GET", "/v1/boards/public", "", page...)
		require.Contains(t, n.Require(200, "GET", "/v1/audit", "", page...).Body, `"by":"mod"`)
		// The definition of the event bounds those who send it without a key, so the session does not get their right to send.
		servertest.RequireProblem(t, n.Do("POST", "/v1/events/e", `{"user":"m","n":1000}`, page...), 403, "forbidden", "")

		ended := cookieOf(t, other.Require(204, "DELETE", "/v1/session", "", page...))
		require.Equal(t, -1, ended.MaxAge)
		for _, node := range []*servertest.Node{n, other} {
			a := node.Do("PUT", "/v1/hidden/k/ana", `{}`, page...)
			servertest.RequireProblem(t, a, 401, "unauthorized", "")
			require.Equal(t, -1, cookieOf(t, a).MaxAge, "the browser drops the cookie")
			servertest.RequireProblem(t, node.Do("GET", "/v1/session", "", page...), 401, "unauthorized", "")
			node.Require(200, "GET", "/v1/boards/public", "", page...) // as everybody
		}
	})
}

// Only a key that may moderate signs in. A session does not.
func TestSignInIsRefused(t *testing.T) {
	t.Parallel()
	n, g := startConsole(t, redistest.Embedded(t), server.Config{})
	page, _ := signIn(t, n, g.Key("ops"))
	for _, c := range []struct {
		header []string
		status int
		code   string
	}{
		{nil, 401, "unauthorized"}, {bearer("rck_" + strings.Repeat("0", 43)), 401, "unauthorized"},
		{bearer(g.Key("game")), 403, "forbidden"}, {page, 401, "unauthorized"},
		{[]string{"Cookie", "rankcast_session=rcs_x", "Origin", "http://" + n.Addr}, 401, "unauthorized"},
	} {
		a := n.Do("POST", "/v1/session", "", c.header...)
		servertest.RequireProblem(t, a, c.status, c.code, "")
		require.NotContains(t, a.Header.Get("Set-Cookie"), "rcs_")
	}
}

// The cookie of a session crosses no line without TLS where the site has TLS, and reaches no other site below the same host.
func TestSessionCookieOfASite(t *testing.T) {
	t.Parallel()
	proxies, err := access.ParseProxies([]string{"loopback"})
	require.NoError(t, err)
	n, g := startConsole(t, redistest.Embedded(t), server.Config{TrustedProxies: proxies})
	_, cookie := signIn(t, n, g.Key("ops"), "X-Forwarded-Proto", "https", "X-Forwarded-Prefix", "/scores")
	require.True(t, cookie.Secure)
	require.Equal(t, "/scores/", cookie.Path)
}

// The cookie counts for this server's own pages alone, also where --origins allows another page, and on sockets only with
// proof. Without it the caller is anonymous.
func TestForgedRequests(t *testing.T) {
	t.Parallel()
	const allowed = "https://shop.example.com"
	n, g := startConsole(t, redistest.Embedded(t), server.Config{Origins: []string{allowed}})
	page, _ := signIn(t, n, g.Key("ops"))
	cookie, own := page[:2], page[3]
	for _, c := range []struct {
		method string
		header []string
		counts bool
	}{
		{"GET", nil, true}, // of a browser that tells nothing, or a program
		{"GET", []string{"Sec-Fetch-Site", "same-origin"}, true},
		{"GET", []string{"Sec-Fetch-Site", "none"}, true}, // an address that the operator has typed
		{"GET", []string{"Sec-Fetch-Site", "same-site"}, false},
		{"GET", []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"GET", []string{"Origin", allowed}, false},
		{"PUT", []string{"Origin", own}, true},
		{"PUT", []string{"Sec-Fetch-Site", "same-origin"}, true},
		{"PUT", nil, false},
		{"PUT", []string{"Sec-Fetch-Site", "none"}, false},
		{"PUT", []string{"Sec-Fetch-Site", "same-site", "Origin", own}, false},
		{"PUT", []string{"Origin", allowed}, false},
		{"PUT", []string{"Origin", "null"}, false},
		{"PUT", []string{"Origin", "http://" + strings.Replace(own, "http://127.0.0.1", "localhost", 1)}, false},
	} {
		header := append(append([]string{}, cookie...), c.header...)
		path, body := "/v1/audit", ""
		if c.method == "PUT" {
			path, body = "/v1/hidden/k/ana", "{}"
		}
		a := n.Do(c.method, path, body, header...)
		require.Equal(t, c.counts, a.Status < 300, "%s %v: %d %s", c.method, c.header, a.Status, a.Body)
		if !c.counts {
			require.Contains(t, []int{401, 403}, a.Status)
		}
		require.Empty(t, a.Header.Get("Access-Control-Allow-Credentials"))
	}
	for _, c := range []struct {
		header []string
		counts bool
	}{{nil, false}, {[]string{"Origin", own}, true}, {[]string{"Origin", allowed}, false}} {
		s := servertest.DialPath(t, n.Addr, "/v1/live", append(append([]string{}, cookie...), c.header...)...)
		s.Send(`{"type":"subscribe","board":"a"}`)
		require.Equal(t, c.counts, s.Next("ok", "error").Type == "ok", "%v", c.header)
	}
}

// A session ends everywhere when its key leaves the access file, and changes its rights with those of the key.
func TestSessionOfAWithdrawnKey(t *testing.T) {
	t.Parallel()
	n, g := startConsole(t, redistest.Embedded(t), server.Config{})
	page, _ := signIn(t, n, g.Key("mod"))
	s := servertest.DialPath(t, n.Addr, "/v1/live", page...)
	watch := func(board, want string) {
		t.Helper()
		redistest.UntilEqual(t, "the answer to who watches "+board, want, func() string {
			s.Send(`{"type":"subscribe","board":%q,"id":%q}`, board, board)
			return s.Next("ok", "error").Type
		})
	}
	watch("public", "ok")
	watch("a", "error")
	g.Enforce(strings.Replace(operators, "scopes: [moderate], boards: [a]", "scopes: [moderate, read], boards: [a]", 1))
	n.Require(200, "GET", "/v1/boards/a", "", page...)
	watch("a", "ok")
	watch("public", "ok")
	subscribe := func() *servertest.Socket {
		s := servertest.DialPath(t, n.Addr, "/v1/live", page...)
		s.Send(`{"type":"subscribe","board":"a"}`)
		return s
	}
	watching := subscribe()
	require.Equal(t, "ok", watching.Next("ok", "error").Type)
	// Another key of the same name does not keep the session.
	g.Enforce(strings.Replace(operators, "HASH:mod", "HASH:new", 1))
	lost := watching.Next("error")
	require.Equal(t, "a forbidden", lost.Board+" "+lost.Code)
	servertest.RequireProblem(t, n.Do("PUT", "/v1/hidden/k/ana", "{}", page...), 401, "unauthorized", "")
	servertest.RequireProblem(t, n.Do("GET", "/v1/audit", "", page...), 401, "unauthorized", "")
	servertest.RequireProblem(t, n.Do("GET", "/v1/boards/a/live", "", page...), 401, "unauthorized", "")
	watch("a", "error")
	watch("public", "ok")
	require.Equal(t, "error", subscribe().Next("ok", "error").Type)
}

// An operator whom a node knows stays signed in while Redis is away, and learns that it is.
func TestSessionWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	n, g := startConsole(t, r.URL(), server.Config{})
	page, _ := signIn(t, n, g.Key("ops"))
	stranger, _ := signIn(t, n, g.Key("ops"))
	n.Require(200, "GET", "/v1/session", "", page...)
	r.Kill()
	n.Until("Redis to be away", 503, "GET", "/v1/boards/a/top", "", page...)
	n.Require(200, "GET", "/v1/session", "", page...)
	servertest.RequireProblem(t, n.Do("GET", "/v1/session", "", stranger...), 503, "unavailable", "")
	servertest.RequireProblem(t, n.Do("DELETE", "/v1/session", "", page...), 503, "unavailable", "")
}

// Without an access file the console opens at once, on the machine of the node alone.
func TestOpenSession(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	var s sessionAnswer
	n.Require(200, "GET", "/v1/session", "").Into(&s)
	all := []string{"*"}
	require.Equal(t, sessionAnswer{Open: true, Scopes: []string{"read", "write", "moderate", "metrics", "admin"}, Boards: all, Events: all,
		Kinds: all}, s)
	for _, header := range []string{"X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Via", "X-Real-Ip"} {
		servertest.RequireProblem(t, n.Do("GET", "/v1/session", "", header, "203.0.113.9"), 403, "forbidden", "")
	}
	servertest.RequireProblem(t, n.Do("POST", "/v1/session", ""), 409, "conflict", "")
	n.Require(204, "DELETE", "/v1/session", "")
}

// A session is known on each node until its time is over, and Redis holds no id that a browser could use.
func TestStoredSession(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	n, g := startConsole(t, r.URL(), server.Config{})
	_, cookie := signIn(t, n, g.Key("ops"))
	keys := r.Admin().Keys(t.Context(), "*session*").Val()
	require.Len(t, keys, 1)
	value := r.Admin().Get(t.Context(), keys[0]).Val()
	require.NotContains(t, keys[0]+value, cookie.Value)
	require.NotContains(t, value, g.Key("ops"))
	require.InDelta(t, 8*60*60, r.Admin().TTL(t.Context(), keys[0]).Val().Seconds(), 120)
	_, _, err := n.Store.Session(t.Context(), "unknown")
	require.ErrorIs(t, err, ranking.ErrUnknownSession, fmt.Sprint(err))
}
