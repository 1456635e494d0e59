package pages_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

const browserAccepts = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

// Who mistypes an address gets a page that says so, and leads to the front page from however
// deep it is, wherever a proxy serves it.
func TestNotFoundPage(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	for _, address := range []string{
		"/star", "/Boards", "/boards/a/b", "/stars/x/", "/overlay", "//evil.example/x", "/a//b///", "/a%2Fb/c", "/%ff", "/v2", "/v1x",
		"/kits/rankcast.js", "/star?lang=fr", "/show", "/show/", "/show/a/b/c", "/docs/nothing", "/docs/start/x", "/docs/start.md", "/docs//",
		"/" + strings.Repeat("a/", 64),
	} {
		a := n.Do("GET", address, "", "Accept", browserAccepts)
		require.Equal(t, 404, a.Status, address)
		require.Equal(t, "text/html; charset=utf-8", a.Header.Get("Content-Type"), address)
		require.Regexp(t, `^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-[^ ]+'; img-src 'self'; `,
			a.Header.Get("Content-Security-Policy"))
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-cache", a.Header.Get("Cache-Control"))
		require.Equal(t, "Accept, Accept-Language, Cookie", strings.Join(a.Header["Vary"], ", "))
		require.Empty(t, a.Header.Get("ETag"))
		require.Contains(t, a.Body, "<title>No such page · Rankcast</title>")
		require.NotContains(t, a.Body, "evil")

		for _, prefix := range []string{"", "/below/a/prefix"} {
			at, err := url.Parse("https://host" + prefix + address)
			require.NoError(t, err)
			leadsTo := make(map[string]bool)
			for _, link := range regexp.MustCompile(`(?:href|src)="([^"?]+)"`).FindAllStringSubmatch(a.Body, -1) {
				to, err := at.Parse(link[1])
				require.NoError(t, err)
				leadsTo[to.String()] = true
			}
			home := "https://host" + prefix + "/"
			require.Equal(t, map[string]bool{
				home: true, home + "docs/start": true, home + "manifest.webmanifest": true,
				home + "assets/shared/favicon.svg": true, home + "assets/shared/icon-ios.png": true,
				home + "assets/shared/archivo.woff2": true, home + "assets/shared/face.css": true, home + "assets/missing/missing.js": true,
			}, leadsTo, address)
		}

		head := n.Do("HEAD", address, "", "Accept", browserAccepts, "If-None-Match", "*")
		require.Equal(t, 404, head.Status)
		require.Empty(t, head.Body)
		for _, name := range []string{"Content-Type", "Content-Language", "Vary"} {
			require.Equal(t, a.Header.Get(name), head.Header.Get(name))
		}
		require.NotEmpty(t, head.Header.Get("Content-Length"))
	}
}

// It is in its reader's language, which its ways keep where the address asks for it.
func TestNotFoundPageInEachLanguage(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	for _, c := range []struct{ query, accepts, tag, title, home string }{
		{"", "en", "en", "No such page", "../"},
		{"", "zh-TW,zh;q=0.9", "zh-Hans", "没有这个页面", "../"},
		{"?lang=zh", "en", "zh-Hans", "没有这个页面", "../?lang=zh"},
		{"?top=5&lang=en", "zh", "en", "No such page", "../?lang=en"},
		{`?lang="><b>`, "zh", "zh-Hans", "没有这个页面", "../"},
	} {
		a := n.Do("GET", "/no/page"+strings.ReplaceAll(c.query, `"><b>`, "%22%3E%3Cb%3E"), "", "Accept", browserAccepts,
			"Accept-Language", c.accepts)
		require.Equal(t, 404, a.Status)
		require.Equal(t, c.tag, a.Header.Get("Content-Language"))
		require.Contains(t, a.Body, fmt.Sprintf(`<html lang="%s">`, c.tag))
		require.Contains(t, a.Body, "<h1>"+c.title+"</h1>")
		require.Equal(t, 3, strings.Count(a.Body, fmt.Sprintf(`href="%s"`, c.home)), a.Body)
	}
}

// Programs get a problem, as for anything else, and caches know of both.
func TestNotFoundPageIsForPeople(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	for _, accepts := range []string{"*/*", "application/json", "text/html;q=0, */*", "text/*", "text/html5", ""} {
		for _, method := range []string{"GET", "HEAD"} {
			a := n.Do(method, "/star", "", "Accept", accepts)
			require.Equal(t, 404, a.Status)
			require.Equal(t, "application/problem+json", a.Header.Get("Content-Type"), accepts)
			require.Equal(t, "Accept, Accept-Language", strings.Join(a.Header["Vary"], ", "))
		}
	}
	for _, accepts := range []string{"text/html", "TEXT/HTML;Q=0.1", "application/json, text/html"} {
		require.Equal(t, "text/html; charset=utf-8", n.Do("GET", "/star", "", "Accept", accepts).Header.Get("Content-Type"), accepts)
	}
	for _, path := range []string{"/v1", "/v1/", "/v1/nothing", "/kit", "/kit/nothing.js", "/assets/", "/assets/nothing.css",
		"/" + strings.Repeat("a/", 65)} {
		servertest.RequireProblem(t, n.Do("GET", path, "", "Accept", browserAccepts), 404, "not_found", "")
	}
	servertest.RequireProblem(t, n.Do("GET", "/v1/boards/nothing", "", "Accept", browserAccepts), 404, "unknown_board", "board")
	servertest.RequireProblem(t, n.Do("POST", "/star", "{}", "Accept", browserAccepts), 404, "not_found", "")
	servertest.RequireProblem(t, n.Do("POST", "/stars", "{}", "Accept", browserAccepts), 405, "method_not_allowed", "")
}

// A page of a board that does not exist answers 404: with a page that names the board and links the front
// page, or with the API's own problem for a program.
func TestPageOfNoBoard(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, boards...)
		for path, shown := range map[string]string{
			"nosuch": "nosuch", "fans": "fans", "fans:a:b": "fans:a:b", "stars:s17": "stars:s17", "fans:%7Bx%7D": "fans:{x}", "%7B": "{",
			"a%2Fb": "a/b", "%ff": "\uFFFD",
			"nosuch@-1": "nosuch@-1", "%3Cb%3E": "&lt;b&gt;", strings.Repeat("a", 1000): strings.Repeat("a", 300) + "…",
		} {
			for lang, text := range map[string]string{"en": "This server has no board with this name:", "zh": "本服务器没有叫这个名字的榜单："} {
				a := n.Do("GET", "/boards/"+path+"?lang="+lang, "", "Accept", browserAccepts, "If-None-Match", "*")
				require.Equal(t, 404, a.Status, path)
				require.Contains(t, a.Body, fmt.Sprintf("<p>%s <b><bdi>%s</bdi></b></p>", text, shown))
				require.Equal(t, 3, strings.Count(a.Body, fmt.Sprintf(`href="../?lang=%s"`, lang)), a.Body)
				require.Equal(t, 1, strings.Count(a.Body, "<script"))
				require.Equal(t, "no-cache", a.Header.Get("Cache-Control"))
			}
			servertest.RequireProblem(t, n.Do("GET", "/boards/"+path, ""), 404, "unknown_board", "board")
			servertest.RequireProblem(t, n.Do("GET", "/overlay/"+path, ""), 404, "unknown_board", "board")
		}
		// A path may have no name at all.
		require.Equal(t, 404, n.Do("GET", "/boards//story", "", "Accept", browserAccepts).Status)
		servertest.RequireProblem(t, n.Do("GET", "/boards//story", ""), 404, "unknown_board", "board")
		for _, path := range []string{"stars", "stars@-1", "fans:s99", "fans:%7Bstar%7D", "fans:{star}"} {
			for _, page := range []string{"/boards/", "/overlay/"} {
				require.Equal(t, 200, n.Do("GET", page+path, "", "Accept", browserAccepts).Status, path)
			}
		}
	})
}

// An overlay shows a board that appears, and the page of an unknown period links the others: each is the
// page without rows, with the status 404.
func TestPageOfNoBoardThatServesBetter(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, boards...)
	for there, missing := range map[string]string{"/overlay/stars": "/overlay/nosuch", "/boards/stars": "/boards/stars@1999-W01",
		"/overlay/fans:s99": "/overlay/stars@1999-W01", "/tv/stars": "/tv/nosuch"} {
		for _, coding := range []string{"gzip", "identity"} {
			whole := n.Do("GET", there, "", "Accept", browserAccepts, "Accept-Encoding", coding)
			a := n.Do("GET", missing, "", "Accept", browserAccepts, "Accept-Encoding", coding, "If-None-Match", "*")
			require.Equal(t, 200, whole.Status)
			require.Equal(t, 404, a.Status, missing)
			if coding == "identity" {
				if !strings.HasPrefix(there, "/tv/") { // whose script reads the rows
					require.Contains(t, whole.Body, "data-snapshot=", there)
				}
				require.NotContains(t, a.Body, "data-snapshot=", missing)
				main := regexp.MustCompile(`<script type="module" src="[^"]+"></script>`).FindString(whole.Body)
				require.Contains(t, a.Body, main)
			}
			require.Empty(t, a.Header.Get("ETag"))
			require.Equal(t, "Accept, "+whole.Header.Get("Vary"), a.Header.Get("Vary"))
			for _, name := range []string{"Content-Type", "Content-Encoding", "Content-Language", "Content-Security-Policy", "Cache-Control"} {
				require.Equal(t, whole.Header.Get(name), a.Header.Get(name), name)
			}
			head := n.Do("HEAD", missing, "", "Accept", browserAccepts, "Accept-Encoding", coding)
			require.Equal(t, 404, head.Status)
			require.NotEmpty(t, head.Header.Get("Content-Length"))
		}
	}
	servertest.RequireProblem(t, n.Do("GET", "/boards/stars@1999-W01", ""), 404, "unknown_period", "board")
}

// While Redis does not answer, the server cannot know that a board does not exist: it answers with the page, and
// does not wait.
func TestPageOfAnyBoardWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	proxy := redistest.StartProxy(t, redistest.Start(t).URL())
	n := servertest.Start(t, proxy.URL(), servertest.Config{}, boards...)
	require.Equal(t, 404, n.Do("GET", "/boards/nosuch", "", "Accept", browserAccepts).Status)
	proxy.Hold("\r\n") // each command: no answer comes
	defer func() {
		proxy.Hold()
		proxy.Cut() // so that no call waits for its time-out
	}()
	paths := []string{"/show/nosuch", "/show/nosuch/ann", "/boards/nosuch", "/overlay/nosuch", "/boards/stars", "/boards/fans:s99",
		"/boards/fans:%7Bstar%7D"}
	statuses := make([]int, len(paths))
	var asked sync.WaitGroup // at once, because each waits for what it shows first
	for i, path := range paths {
		asked.Go(func() { statuses[i] = n.Do("GET", path, "", "Accept", browserAccepts).Status })
	}
	redistest.Wait(t, "the pages", asked.Wait)
	for i, path := range paths {
		require.Equal(t, 200, statuses[i], path)
	}
}
