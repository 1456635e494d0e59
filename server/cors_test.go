package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/servertest"
)

func TestCheckOrigin(t *testing.T) {
	t.Parallel()
	for origin, says := range map[string]string{
		"*": "", "https://example.com": "", "http://localhost:3000": "", "https://EXAMPLE.com": "", "http://127.0.0.1:8080": "",
		"http://[::1]:3000": "", "https://xn--fsq.example": "", "https://a_b.example:65535": "",
		"": "want http://", "example.com": "want https://example.com", "null": "", "file://": "", "capacitor://localhost": "",
		"ftp://example.com": "want https://example.com",
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
		asset := n.Do("GET", "/assets/shared/links.js", "", from...)
		require.Equal(t, 200, asset.Status)
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
