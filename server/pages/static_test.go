package pages_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
	"rankcast/web"
)

// Whatever the form that a browser gets, it is the same page, and it is asked for again
// only when it has changed.
func TestAssetCompressionAndETags(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	for _, path := range []string{"/", "/assets/shared/base.css", "/assets/shared/favicon.svg", "/assets/shared/links.js"} {
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

// The contract stands at the root, as text that programs and people can read.
func TestContractIsServed(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	for _, name := range []string{"openapi.yaml", "asyncapi.yaml"} {
		want, err := web.Files.ReadFile("contract/" + name)
		require.NoError(t, err)
		a := n.Do("GET", "/"+name, "")
		require.Equal(t, strings.TrimSpace(string(want)), a.Body)
		require.Equal(t, "application/yaml", a.Header.Get("Content-Type"))
	}
}

// A page of another site may import the kit, and load nothing else from here.
func TestKitIsOpenToOtherSites(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	for path, open := range map[string]bool{"/kit/rankcast.js": true, "/assets/shared/links.js": false, "/": false} {
		for _, method := range []string{"GET", "HEAD"} {
			a := n.Do(method, path, "", "Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors")
			require.Equal(t, 200, a.Status)
			want := map[bool][2]string{true: {"*", "cross-origin"}}[open]
			require.Equal(t, want, [2]string{a.Header.Get("Access-Control-Allow-Origin"), a.Header.Get("Cross-Origin-Resource-Policy")}, path)
		}
	}
	require.Equal(t, "text/javascript; charset=utf-8", n.Do("GET", "/kit/rankcast.js", "").Header.Get("Content-Type"))
	for path, status := range map[string]int{"/kit/": 404, "/kit/nothing.js": 404, "/texts/en.json": 404,
		"/pages/dashboard.html": 404, "/index.html": 404} {
		require.Equal(t, status, n.Do("GET", path, "").Status, path)
	}
}

// Each file of the kit has a second address, which browsers keep for a year and which pages of other sites may load.
func TestKitHasStableAddresses(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	entries, err := fs.ReadDir(web.Files, "dist/kit")
	require.NoError(t, err)
	require.Greater(t, len(entries), 10)
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".gz")
		newest, stable := n.Do("GET", "/kit/"+name, ""), n.Do("GET", "/kit/v1/"+name, "", "Origin", "https://elsewhere.example")
		require.Equal(t, 200, stable.Status, name)
		require.Equal(t, newest.Body, stable.Body, name)
		require.Equal(t, "no-cache", newest.Header.Get("Cache-Control"))
		require.Equal(t, "public, max-age=31536000", stable.Header.Get("Cache-Control"))
		for _, field := range []string{"Content-Type", "ETag", "Vary", "X-Content-Type-Options"} {
			require.Equal(t, newest.Header.Get(field), stable.Header.Get(field), name)
		}
		require.Equal(t, "*", stable.Header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "cross-origin", stable.Header.Get("Cross-Origin-Resource-Policy"))

		again := n.Do("GET", "/kit/v1/"+name, "", "If-None-Match", stable.Header.Get("ETag"))
		require.Equal(t, 304, again.Status, "a reload costs no transfer")
		require.Equal(t, "public, max-age=31536000", again.Header.Get("Cache-Control"))
	}
	for _, path := range []string{"/kit/v1/", "/kit/v1/nothing.js", "/kit/v2/rankcast.js"} {
		missing := n.Do("GET", path, "")
		require.Equal(t, 404, missing.Status, path)
		require.NotContains(t, missing.Header.Get("Cache-Control"), "max-age", path)
	}
}

// All pages lead to the manifest by which a device installs the site, and to an icon for iOS, from wherever a proxy serves
// them. The manifest starts at the front page, and its icons have the sizes that it says.
func TestSiteCanBeInstalled(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, boards...)
	links := regexp.MustCompile(`<link rel="(?:manifest|apple-touch-icon)" href="([^"]+)">`)
	for _, path := range []string{"/", "/boards/stars", "/boards/stars/story", "/show/gift", "/docs/start", "/overlay/stars",
		"/no/such/page"} {
		page := n.Do("GET", path, "", "Accept", "text/html")
		require.Contains(t, page.Header.Get("Content-Security-Policy"), "manifest-src 'self'", path)
		at, err := url.Parse("https://host/below" + path)
		require.NoError(t, err)
		var leadsTo []string
		for _, link := range links.FindAllStringSubmatch(page.Body, -1) {
			to, err := at.Parse(link[1])
			require.NoError(t, err)
			leadsTo = append(leadsTo, to.String())
		}
		require.ElementsMatch(t, []string{"https://host/below/manifest.webmanifest", "https://host/below/assets/shared/icon-ios.png"},
			leadsTo, path)
	}

	a := n.Do("GET", "/manifest.webmanifest", "")
	require.Equal(t, 200, a.Status)
	require.Equal(t, "application/manifest+json", a.Header.Get("Content-Type"))
	var m struct {
		Name, Display string
		StartURL      string `json:"start_url"`
		Icons         []struct{ Src, Type, Sizes, Purpose string }
	}
	require.NoError(t, json.Unmarshal([]byte(a.Body), &m))
	require.Equal(t, "Rankcast", m.Name)
	require.Equal(t, "standalone", m.Display)
	require.Equal(t, "./", m.StartURL)
	drawn := make(map[string]bool)
	for _, icon := range m.Icons {
		picture := n.Do("GET", "/"+icon.Src, "")
		require.Equal(t, 200, picture.Status, icon.Src)
		require.Equal(t, icon.Type, picture.Header.Get("Content-Type"), icon.Src)
		if icon.Type == "image/png" {
			size, err := png.DecodeConfig(strings.NewReader(picture.Body))
			require.NoError(t, err)
			require.Equal(t, icon.Sizes, fmt.Sprintf("%dx%d", size.Width, size.Height), icon.Src)
			drawn[icon.Sizes+" "+icon.Purpose] = true
		}
	}
	require.Equal(t, map[string]bool{"192x192 ": true, "512x512 ": true, "512x512 maskable": true}, drawn)
}
