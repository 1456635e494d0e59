package server_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/servertest"
	"rankcast/web"
)

// Every page is whole, in one language, and finds what it loads from where it is.
func TestPages(t *testing.T) {
	for _, writes := range []bool{true, false} {
		n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{ReadOnlySockets: !writes}})
		for _, c := range []struct{ path, root, title string }{
			{"/", "./", "Rankcast"},
			{"/boards/stars", "../", "Rankcast"},
			{"/boards/stars@-1", "../", "Rankcast"},
			{"/boards/fans:%E6%98%9F%2F1", "../", "Rankcast"},
			{"/overlay/stars", "../", "Overlay · Rankcast"},
			{"/stars", "./", "Star flowers · Rankcast"},
		} {
			a := n.Do("GET", c.path, "")
			require.Equal(t, 200, a.Status, c.path)
			require.Equal(t, "text/html; charset=utf-8", a.Header.Get("Content-Type"))
			require.Contains(t, a.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'")
			require.Equal(t, "Accept-Language, Accept-Encoding", a.Header.Get("Vary"))
			require.Equal(t, "en", a.Header.Get("Content-Language"))
			require.Contains(t, a.Body, `<html lang="en">`)
			require.Contains(t, a.Body, "<title>"+c.title+"</title>", c.path)
			require.Equal(t, writes, strings.Contains(a.Body, "<body data-writes>"), c.path)

			for _, link := range regexp.MustCompile(`(?:href|src)="([^"#?]+)"`).FindAllStringSubmatch(a.Body, -1) {
				path, under := strings.CutPrefix(link[1], c.root)
				require.True(t, under, "%s: %s", c.path, link[1])
				require.Equal(t, 200, n.Do("HEAD", "/"+path, "").Status, link[1])
			}

			block := regexp.MustCompile(`(?s)<script type="application/json" id="texts">(.*?)</script>`).FindStringSubmatch(a.Body)
			require.NotNil(t, block, c.path)
			file, err := web.Files.ReadFile("texts/en.json")
			require.NoError(t, err)
			require.JSONEq(t, string(file), block[1])
		}
	}
}

// An address with slashes behind it leads to the page, wherever a proxy serves it, and what is
// below a page's address is none.
func TestPageAddresses(t *testing.T) {
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	stay := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, c := range []struct{ address, location, leadsTo string }{
		{"/stars/", "../stars", "/stars"},
		{"/stars///?star=s1&lang=zh", "../../../stars?star=s1&lang=zh", "/stars?star=s1&lang=zh"},
		{"/boards/stars/?me=u4", "../stars?me=u4", "/boards/stars?me=u4"},
		{"/boards/fans:s1@-1//", "../../fans:s1@-1", "/boards/fans:s1@-1"},
		{"/boards/a%2Fb/?me=x%2Fy", "../a%2Fb?me=x%2Fy", "/boards/a%2Fb?me=x%2Fy"},
		{"/boards/%5Cevil.example/", "../%5Cevil.example", "/boards/%5Cevil.example"},
		{"/boards/http:%2F%2Fevil.example/", "../http:%2F%2Fevil.example", "/boards/http:%2F%2Fevil.example"},
		{"/overlay/stars/?top=5", "../stars?top=5", "/overlay/stars?top=5"},
		{"/boards?me=u4", "./?me=u4", "/?me=u4"},
		{"/boards/", "../", "/"},
		{"/boards//", "../../boards", "/boards"},
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
			require.Equal(t, 200, n.Do(method, c.address, "").Status, "%s: where it leads", c.address)
		}
		require.Equal(t, 405, n.Do("POST", c.address, "{}").Status, c.address)
	}
	for _, address := range []string{
		"/boards/a/b", "/boards/a//b", "/boards//a", "/boards//evil.example/", "/boards/a/b/", "/boards/a/%2F", "/boards/a/../../b", "/overlay/a/b", "/stars/a", "/stars/a/",
		"/overlay", "/overlay/", "//stars/", "//evil.example/", "//boards/", "/assets/app.css/",
	} {
		servertest.RequireProblem(t, n.Do("GET", address, ""), 404, "not_found", "")
	}
}

// A link says what language a page is in, or else its reader's browser does.
func TestPageLanguage(t *testing.T) {
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	etags := make(map[string]string)
	for _, c := range []struct{ query, accepts, want string }{
		{"", "", "en"},
		{"", "en-GB,en;q=0.9", "en"},
		{"", "zh", "zh-Hans"},
		{"", "zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"},
		{"", "zh-TW", "zh-Hans"},
		{"", "zh-HK,en;q=0.1", "zh-Hans"},
		{"", "zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7", "zh-Hans"},
		{"", "zh-SG,en;q=0.9", "zh-Hans"},
		{"", "zh-Hant-TW,zh-Hant;q=0.9", "zh-Hans"},
		{"", "en;q=0.5,zh;q=0.6", "zh-Hans"},
		{"", "de,zh;q=0.8,en;q=0.7", "zh-Hans"},
		{"", "de,en;q=0.8,zh;q=0.7", "en"},
		{"", "zh;q=0", "en"},
		{"", "fr", "en"},
		{"", "ja", "en"},
		{"", "*", "en"},
		{"", "no language;;q=", "en"},
		{"?lang=zh", "en", "zh-Hans"},
		{"?lang=en", "zh", "en"},
		{"?board=stars&lang=zh", "", "zh-Hans"},
		{"?lang=de", "zh", "zh-Hans"},
		{"?lang=ZH", "", "en"},
		{"?lang=", "zh", "zh-Hans"},
		{"?lang=zh-Hans", "", "en"},
	} {
		a := n.Do("GET", "/"+c.query, "", "Accept-Language", c.accepts)
		require.Equal(t, 200, a.Status)
		require.Equal(t, c.want, a.Header.Get("Content-Language"), c)
		require.Contains(t, a.Body, `<html lang="`+c.want+`">`)
		etags[c.want] = a.Header.Get("ETag")
	}
	require.NotEqual(t, etags["en"], etags["zh-Hans"])
	require.Contains(t, n.Do("GET", "/stars?lang=zh", "").Body, "<title>明星送花 · Rankcast</title>")
}

// Whatever the form that a browser gets, it is the same page, and it is asked for again
// only when it has changed.
func TestPagesAreCompressed(t *testing.T) {
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	for _, path := range []string{"/", "/assets/app.css", "/assets/favicon.svg", "/assets/page.js"} {
		plain := n.Do("GET", path, "", "Accept-Encoding", "identity")
		require.Equal(t, 200, plain.Status)
		require.Contains(t, plain.Header.Get("Vary"), "Accept-Encoding")
		for accepts, zipped := range map[string]bool{
			"gzip": true, "br, gzip;q=0.5": true, "x-gzip": true, "GZIP; Q=1": true, "*": true, "br,*;q=0.1": true, "gzip,*;q=0": true,
			"br": false, "gzip;q=0": false, "gzip; q=0.000": false, "*;q=0": false, "*,gzip;q=0": false, "gzip;q=x": false, "identity": false,
		} {
			for _, method := range []string{"GET", "HEAD"} {
				a := n.Do(method, path, "", "Accept-Encoding", accepts)
				require.Equal(t, 200, a.Status)
				require.Equal(t, plain.Header.Get("Content-Type"), a.Header.Get("Content-Type"))
				require.Equal(t, plain.Header.Get("Vary"), a.Header.Get("Vary"))
				require.Equal(t, zipped, a.Header.Get("Content-Encoding") == "gzip", "%s %q", method, accepts)
				require.Equal(t, zipped, a.Header.Get("ETag") != plain.Header.Get("ETag"), "%s %q", method, accepts)
				length, err := strconv.Atoi(a.Header.Get("Content-Length"))
				require.NoError(t, err)
				require.Equal(t, zipped, length < len(plain.Body), "%s %q", method, accepts)

				for _, tag := range []string{a.Header.Get("ETag"), `"x", W/` + a.Header.Get("ETag"), "*"} {
					again := n.Do(method, path, "", "Accept-Encoding", accepts, "If-None-Match", tag)
					require.Equal(t, 304, again.Status, "%s %q", method, accepts)
					require.Equal(t, a.Header.Get("ETag"), again.Header.Get("ETag"))
					require.Empty(t, again.Header.Get("Content-Encoding"))
					require.Empty(t, again.Body)
				}
				require.Equal(t, 200, n.Do(method, path, "", "Accept-Encoding", accepts, "If-None-Match", `"other"`).Status)
			}
		}

		require.Equal(t, plain.Body, n.Do("GET", path, "").Body, "a client that decompresses")
		part := n.Do("GET", path, "", "Accept-Encoding", "identity", "Range", "bytes=0-9")
		require.Equal(t, 206, part.Status)
		require.Equal(t, strings.TrimSpace(plain.Body[:10]), part.Body)
		req, err := http.NewRequest("GET", "http://"+n.Addr+path, nil)
		require.NoError(t, err)
		req.Header.Set("Accept-Encoding", "gzip")
		req.Header.Set("Range", "bytes=0-9")
		whole, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer whole.Body.Close()
		require.Equal(t, 200, whole.StatusCode, "of the compressed form there are no parts")
		r, err := gzip.NewReader(whole.Body)
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, plain.Body, strings.TrimSpace(string(text)))
	}
}

// A page of another site may import the kit, and load nothing else from here.
func TestPagesOfOtherSitesImportTheKit(t *testing.T) {
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	for path, open := range map[string]bool{"/kit/rankcast.js": true, "/assets/page.js": false, "/": false} {
		for _, method := range []string{"GET", "HEAD"} {
			a := n.Do(method, path, "", "Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors")
			require.Equal(t, 200, a.Status)
			want := map[bool][2]string{true: {"*", "cross-origin"}}[open]
			require.Equal(t, want, [2]string{a.Header.Get("Access-Control-Allow-Origin"), a.Header.Get("Cross-Origin-Resource-Policy")}, path)
		}
	}
	require.Equal(t, "text/javascript; charset=utf-8", n.Do("GET", "/kit/rankcast.js", "").Header.Get("Content-Type"))
	for path, status := range map[string]int{"/kit/": 404, "/kit/nothing.js": 404, "/texts/en.json": 404, "/pages/dashboard.html": 404, "/index.html": 404} {
		require.Equal(t, status, n.Do("GET", path, "").Status, path)
	}
}
