package pages_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

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
		for _, path := range []string{"stars", "stars@-1", "fans:s99", "fans:%7Bstar%7D", "fans:{star}"} {
			for _, page := range []string{"/boards/", "/overlay/"} {
				require.Equal(t, 200, n.Do("GET", page+path, "", "Accept", browserAccepts).Status, path)
			}
		}
		require.Equal(t, 200, n.Do("GET", "/stars", "").Status)
	})
}

// An overlay shows a board that appears, and the page of an unknown period links the others: each is the
// page without rows, with the status 404.
func TestPageOfNoBoardThatServesBetter(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, boards...)
	for there, missing := range map[string]string{"/overlay/stars": "/overlay/nosuch", "/boards/stars": "/boards/stars@1999-W01",
		"/overlay/fans:s99": "/overlay/stars@1999-W01"} {
		for _, coding := range []string{"gzip", "identity"} {
			whole := n.Do("GET", there, "", "Accept", browserAccepts, "Accept-Encoding", coding)
			a := n.Do("GET", missing, "", "Accept", browserAccepts, "Accept-Encoding", coding, "If-None-Match", "*")
			require.Equal(t, 200, whole.Status)
			require.Equal(t, 404, a.Status, missing)
			if coding == "identity" {
				require.Contains(t, whole.Body, "data-snapshot=", there)
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
	paths := []string{"/boards/nosuch", "/overlay/nosuch", "/boards/stars", "/boards/fans:s99", "/boards/fans:%7Bstar%7D"}
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
