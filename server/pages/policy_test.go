package pages_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/labstack/echo/v5"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/pages"
	"rankcast/server/servertest"
)

// directives are the directives of the policy of an answer, by name.
func directives(t *testing.T, a servertest.Answer) map[string]string {
	require.Len(t, a.Header["Content-Security-Policy"], 1)
	all := make(map[string]string)
	for directive := range strings.SplitSeq(a.Header.Get("Content-Security-Policy"), ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), " ")
		require.NotContains(t, all, name)
		all[name] = value
	}
	return all
}

// One page may be framed by the sites that are named, and the overlay by this one. All pages take images of the sites that are
// named, and say which these are.
func TestPoliciesOfPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		frames, avatars           []string
		ancestors, images, listed string
	}{
		{nil, nil, "'none'", "'self'", ""},
		{[]string{"https://a.example", "http://B.example:8080"}, []string{"https://cdn.example", "https://IMG.example:8443"},
			"https://a.example http://B.example:8080", "'self' https://cdn.example https://IMG.example:8443",
			"https://cdn.example https://img.example:8443"},
		{[]string{"*"}, nil, "*", "'self'", ""},
	} {
		n := servertest.Start(t, redistest.Embedded(t),
			servertest.Config{Server: server.Config{FrameOrigins: c.frames, AvatarOrigins: c.avatars}}, boards...)
		defineGift(t, n)
		for path, status := range map[string]int{
			"/": 200, "/boards/stars": 200, "/overlay/stars": 200, "/boards/stars/overlay": 200, "/show/gift": 200,
			"/docs/start": 200, "/assets/shared/base.css": 200,
			"/kit/rankcast.js": 200, "/nowhere": 404, "/boards/nosuch": 404, "/overlay/nosuch": 404, "/boards/stars@1999-W01": 404,
			"/embed/stars": 200, "/embed/stars?lang=zh": 200, "/embed/nosuch": 404, "/embed/stars@1999-W01": 404,
			"/tv/stars": 200, "/tv": 200, "/tv/nosuch": 404, "/boards/nosuch/overlay": 404,
		} {
			a := n.Do("GET", path, "", "Accept", "text/html")
			require.Equal(t, status, a.Status, path)
			all := directives(t, a)
			require.Equal(t, "'none'", all["default-src"], path)
			require.Equal(t, "'self'", all["script-src"], path)
			require.Equal(t, c.images, all["img-src"], path)
			isOverlay := strings.HasPrefix(path, "/overlay/")
			if isOverlay {
				require.Equal(t, "'self' 'unsafe-inline'", all["style-src"], "a hash would turn it off")
			} else {
				require.NotContains(t, all["style-src"], "unsafe-inline", path)
			}
			switch {
			case strings.HasPrefix(path, "/embed/"):
				require.Equal(t, c.ancestors, all["frame-ancestors"], path)
			case isOverlay:
				require.Equal(t, "'self'", all["frame-ancestors"], "the builder shows it")
			default:
				require.Equal(t, "'none'", all["frame-ancestors"], path)
			}
			if path == "/boards/stars/overlay" {
				require.Equal(t, "'self'", all["frame-src"])
			} else {
				require.NotContains(t, all, "frame-src", path)
			}
			if strings.Contains(a.Body, "id=\"texts\"") {
				require.Contains(t, a.Body, `<meta name="rankcast-avatar-origins" content="`+c.listed+`">`, path)
			}
		}
		servertest.RequireProblem(t, n.Do("GET", "/embed/nosuch", ""), 404, "unknown_board", "board")
	}
}

// The paths of a board's page and card lead back to its name, whatever that holds.
func TestPathsOfBoards(t *testing.T) {
	t.Parallel()
	require.Equal(t, "boards/fans:s17@2026-W46/card.png", pages.CardPath("fans:s17@2026-W46"))
	require.Equal(t, "boards/a,b", pages.BoardPath("a,b"))
	for _, name := range []string{"stars", "fans:星 1", "fans:a/b", "fans:a%2Fb?x#y", `fans:"><script>`, "fans:..", "fans:a&b;c", "\xff"} {
		for _, path := range []string{pages.BoardPath(name), pages.CardPath(name)} {
			u, err := url.Parse("https://host/" + path)
			require.NoError(t, err)
			require.Equal(t, "/boards/"+name, strings.TrimSuffix(u.Path, "/card.png"))
			require.NotContains(t, path, `"`)
			require.NotContains(t, path, "<")
			require.Empty(t, u.RawQuery+u.Fragment)
		}
	}
}

// The page for unknown addresses has a policy too: nobody frames it.
func TestPolicyOfTheNotFoundPage(t *testing.T) {
	t.Parallel()
	e := echo.New()
	site := pages.New(pages.Config{FrameOrigins: []string{"https://a.example"}})
	site.Register(func(path string, h echo.HandlerFunc) { e.GET(path, h) })
	e.HTTPErrorHandler = func(c *echo.Context, _ error) {
		served, err := site.ServeNotFound(c)
		require.True(t, served)
		require.NoError(t, err)
	}
	r := httptest.NewRequest("GET", "/nowhere", nil)
	r.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'")
}

// The page of an event says at each request who may send, and a browser that holds another answer gets it anew.
func TestPageSaysWhoMaySend(t *testing.T) {
	t.Parallel()
	const rate = ", rate: 1/m"
	for _, c := range []struct {
		isOpen, isLimited, readOnly, anonymous bool
		body                                   string
	}{
		{isOpen: true, body: `<body data-writes data-anonymous-sends="true">`},
		{anonymous: true, body: `<body data-writes data-anonymous-sends="true">`},
		{anonymous: false, body: `<body data-writes data-anonymous-sends="false">`},
		{readOnly: true, anonymous: true, body: `<body data-anonymous-sends="false">`},
		// A request beyond its limit gets the page without rows, for the same viewers.
		{isLimited: true, anonymous: true, body: `<body data-writes data-anonymous-sends="true">`},
		{isLimited: true, anonymous: false, body: `<body data-writes data-anonymous-sends="false">`},
		{isLimited: true, readOnly: true, anonymous: true, body: `<body data-anonymous-sends="false">`},
	} {
		// access is an access file.
		access := func(anonymousSends bool) string {
			scopes := map[bool]string{true: "read, write", false: "read"}[anonymousSends]
			return `anonymous: {scopes: [` + scopes + `], boards: ["*"], events: ["*"]` + map[bool]string{true: rate}[c.isLimited] + `}`
		}
		cfg := server.Config{ReadOnlySockets: c.readOnly}
		guard := accesstest.Start(t, access(!c.anonymous))
		if !c.isOpen {
			cfg.Access = guard.Guard
		}
		n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: cfg}, boards...)
		defineGift(t, n)
		get := func(tag string) servertest.Answer {
			if c.isLimited {
				n.Until("the end of the rate", 429, "GET", "/v1/boards", "")
			}
			return n.Do("GET", "/show/gift", "", "If-None-Match", tag)
		}
		before := get("").Header.Get("ETag")
		guard.Enforce(access(c.anonymous))
		a := get("")
		require.Equal(t, http.StatusOK, a.Status)
		require.Contains(t, a.Body, c.body)
		want := http.StatusNotModified
		if !c.isOpen && !c.readOnly {
			want = http.StatusOK
		}
		require.Equal(t, want, get(before).Status)
	}
}
