package pages_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/servertest"
	"rankcast/web"
)

// boards are the boards of the tests' servers.
var boards = []definition.Board{{Name: "stars", Period: "week"}, {Name: "fans:{star}"}}

// defineGift defines an event whose page shows these boards.
func defineGift(t *testing.T, n *servertest.Node) {
	t.Helper()
	require.NoError(t, n.Store.DefineEvent(t.Context(), definition.Event{
		Name: "gift", Show: &definition.Show{Board: "stars", Fans: "fans:{star}"}, Updates: []definition.Target{
			{Board: "stars", Member: "{star}", Score: "{flowers}"}, {Board: "fans:{star}", Member: "{user}", Score: "{flowers}"},
		},
	}, ranking.Moderator{}))
}

// Every page is whole, in one language, and finds what it loads from where it is.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, writes := range []bool{true, false} {
		n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{ReadOnlySockets: !writes}}, boards...)
		require.Equal(t, 201, n.Do("PUT", "/v1/members/star/s17", `{"name":"Nova"}`).Status)
		defineGift(t, n)
		for _, c := range []struct{ path, root, title string }{
			{"/", "./", "Rankcast"},
			{"/boards/stars", "../", "stars · Rankcast"},
			{"/boards/stars@-1", "../", "stars@-1 · Rankcast"},
			{"/boards/fans:%E6%98%9F%231", "../", "fans:星#1 · Rankcast"},
			{"/boards/stars/story", "../../", "stars · Story · Rankcast"},
			{"/members/star/s17", "../../", "Nova · Member · Rankcast"},
			{"/overlay/stars", "../", "stars · Overlay · Rankcast"},
			{"/boards/stars/overlay", "../../", "stars · Overlay builder · Rankcast"},
			{"/embed/stars", "../", "stars · Board · Rankcast"},
			{"/tv/stars", "../", "stars · Wall · Rankcast"},
			{"/tv", "./", "Wall · Rankcast"},
			{"/tv?boards=stars", "./", "Wall · Rankcast"},
			{"/show/gift", "../", "stars · Rankcast"},
			{"/show/gift/s17", "../../", "s17 · stars · Rankcast"},
		} {
			a := n.Do("GET", c.path, "")
			require.Equal(t, 200, a.Status, c.path)
			require.Equal(t, "text/html; charset=utf-8", a.Header.Get("Content-Type"))
			require.Contains(t, a.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'")
			vary := "Accept-Language, Accept-Encoding"
			if strings.Contains(a.Body, "id=\"settings\"") {
				vary = "Cookie, " + vary
			}
			require.Equal(t, vary, a.Header.Get("Vary"))
			require.Equal(t, "en", a.Header.Get("Content-Language"))
			lang := "en"
			if strings.HasPrefix(c.path, "/tv") {
				lang = "en-u-hc-h23" // all clocks of a wall have 24 hours
			}
			require.Contains(t, a.Body, `<html lang="`+lang+`"`)
			require.Contains(t, a.Body, "<title>"+c.title+"</title>", c.path)
			require.Equal(t, writes, strings.Contains(a.Body, "<body data-writes"), c.path)

			for _, link := range regexp.MustCompile(`(?:href|src)="([^"#?]+)"`).FindAllStringSubmatch(a.Body, -1) {
				path, under := strings.CutPrefix(link[1], c.root)
				require.True(t, under, "%s: %s", c.path, link[1])
				require.Equal(t, 200, n.Do("HEAD", "/"+path, "").Status, link[1])
			}

			block := regexp.MustCompile(`(?s)<script type="application/json" id="texts">(.*?)</script>`).FindStringSubmatch(a.Body)
			require.NotNil(t, block, c.path)
			file, err := web.Files.ReadFile("texts/en.json")
			require.NoError(t, err)
			isBuilder := strings.HasPrefix(c.path, "/boards/stars/overlay")
			require.Equal(t, isBuilder, strings.Contains(block[1], `"builder_`))
			if isBuilder {
				require.JSONEq(t, string(file), block[1])
			}
		}
	}
}

// An address with slashes behind it leads to the page, wherever a proxy serves it, and what is
// below a page's address is none.
func TestPageRedirects(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, boards...)
	defineGift(t, n)
	stay := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, c := range []struct{ address, location, leadsTo string }{
		{"/stars/", "../stars", "/stars"},
		{"/stars///?star=s1&lang=zh", "../../../stars?star=s1&lang=zh", "/stars?star=s1&lang=zh"},
		{"/show/gift/", "../gift", "/show/gift"},
		{"/show/gift/s1//?lang=zh", "../../s1?lang=zh", "/show/gift/s1?lang=zh"},
		{"/boards/stars/?me=u4", "../stars?me=u4", "/boards/stars?me=u4"},
		{"/boards/stars@-1//", "../../stars@-1", "/boards/stars@-1"},
		{"/boards/a%2Fb/?me=x%2Fy", "../a%2Fb?me=x%2Fy", "/boards/a%2Fb?me=x%2Fy"},
		{"/boards/%5Cevil.example/", "../%5Cevil.example", "/boards/%5Cevil.example"},
		{"/boards/http:%2F%2Fevil.example/", "../http:%2F%2Fevil.example", "/boards/http:%2F%2Fevil.example"},
		{"/overlay/stars/?top=5", "../stars?top=5", "/overlay/stars?top=5"},
		{"/embed/stars/?top=5", "../stars?top=5", "/embed/stars?top=5"},
		{"/tv/stars/?me=u4", "../stars?me=u4", "/tv/stars?me=u4"},
		{"/tv/?boards=stars,laps", "../tv?boards=stars,laps", "/tv?boards=stars,laps"},
		{"/boards?me=u4", "./?me=u4", "/?me=u4"},
		{"/boards/", "../", "/"},
		{"/boards//", "../../boards", "/boards"},
		{"/docs", "./docs/start", "/docs/start"},
		{"/docs/?lang=zh", "./start?lang=zh", "/docs/start?lang=zh"},
		{"/docs/how///", "../../../how", "/docs/how"},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			req, err := http.NewRequest(method, "http://"+n.Addr+c.address, nil)
			require.NoError(t, err)
			res, err := stay.Do(req)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, 308, res.StatusCode, c.address)
			require.Empty(t, body)
			require.Equal(t, "no-cache", res.Header.Get("Cache-Control"))
			require.Equal(t, c.location, res.Header.Get("Location"), c.address)
			for _, prefix := range []string{"", "/below/a/prefix"} {
				at, err := url.Parse("https://host" + prefix + c.address)
				require.NoError(t, err)
				to, err := at.Parse(res.Header.Get("Location"))
				require.NoError(t, err)
				require.Equal(t, "https://host"+prefix+c.leadsTo, to.String(), c.address)
			}
			status := 200
			if strings.Contains(c.leadsTo, "%") { // no board can have the name
				status = 404
			}
			require.Equal(t, status, n.Do(method, c.address, "").Status, "%s: where it leads", c.address)
		}
		require.Equal(t, 405, n.Do("POST", c.address, "{}").Status, c.address)
	}
	for _, address := range []string{
		"/boards/a/b", "/boards/a//b", "/boards//a", "/boards//evil.example/", "/boards/a/b/", "/boards/a/%2F", "/overlay/a/b",
		"/stars/a", "/stars/a/", "/show", "/show/", "/show/gift/s1/a", "/tv/a/b",
		"/overlay", "/overlay/", "/embed", "/embed/", "/embed/a/b", "//stars/", "//evil.example/", "//boards/", "/assets/shared/base.css/",
	} {
		servertest.RequireProblem(t, n.Do("GET", address, ""), 404, "not_found", "")
	}
}

func TestMain(m *testing.M) {
	redistest.Main(m, servertest.IdleConnections()...)
}
