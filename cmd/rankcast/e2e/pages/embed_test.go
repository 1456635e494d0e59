//go:build !race

package pages

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// site is a server of another site. It answers with a page that frames the address in the query, or with an image,
// and notes what it was asked for.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func startSite(t *testing.T) *site {
	s := new(site)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		s.mu.Unlock()
		if strings.HasSuffix(r.URL.Path, ".svg") {
			w.Header().Set("Content-Type", "image/svg+xml")
			fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><script>var framed = 0</script><iframe src="%s" width="600" height="500" onload="framed++"></iframe>`,
			html.EscapeString(r.URL.Query().Get("frame")))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) requests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.asked, " ")
}

// boardReads is how many definitions of boards have been read. A page in a frame reads that of its board. A frame that
// stays empty runs no script.
func boardReads(p *e2etest.Process) float64 {
	a := p.Request("GET", "/metrics", "")
	_, after, found := strings.Cut(a.Body, "\nrankcast_reads_total{route=\"/v1/boards/{board}\"} ")
	require.True(p.T, found, a.Body)
	n, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	require.NoError(p.T, err)
	return n
}

// A page of a site that the flag names shows a board in a frame; on any other site, and for any other page, the
// frame stays empty.
func TestBoardInAFrame(t *testing.T) {
	t.Parallel()
	named, other := startSite(t), startSite(t)
	p := e2etest.Launch(t, "--frame-origins", named.URL)
	p.Post("stars", e2etest.Scores("ann", 40, "bob", 30))
	reads := 0.0
	ctx := window(t, 800, 600)
	for _, c := range []struct {
		site   *site
		path   string
		framed bool
	}{{named, "/embed/stars", true}, {other, "/embed/stars", false}, {named, "/overlay/stars", false},
		{named, "/boards/stars", false}, {named, "/embed/stars?top=1", true}} {
		address := c.site.URL + "?frame=" + url.QueryEscape("http://"+p.Addr+c.path)
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(address), becomes(`String(framed)`, "1")), c.path)
		if !c.framed {
			continue // a read of its page would be one too many in the next case
		}
		reads++
		redistest.Eventually(t, "the page in the frame to read its board", func() error {
			if boardReads(p) < reads {
				return errors.New(c.path)
			}
			return nil
		})
		require.Equal(t, reads, boardReads(p), c.path)
	}
}

// The page for frames reads its options from its address, shows the live list, and reports wrong
// options and a wrong board name.
func TestEmbedPage(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {laps: {mode: best, order: asc, display: {format: time_ms}}, stars: {}}`)
	p.Post("laps", e2etest.Scores("ann", 83456, "<b>bob</b>", 83457, "cid", 90000))
	ctx := window(t, 500, 400)
	words := `page.members().map(page.words).join(' | ')`
	do(t, ctx,
		visit(p, "/embed/laps?top=2&me=cid&theme=dark"),
		becomes(words, "1 ann 1:23.456 | 2 <b>bob</b> 1:23.457 | 3 cid 6.543 to next 1:30.000"),
		becomes(textOf("h1"), "laps"),
		becomes(`document.title`, "laps · Board · Rankcast"),
		becomes(`document.querySelector('h1 a').href.replace(location.origin, '') + document.querySelector('h1 a').target`,
			"/boards/laps?me=cid_blank"),
		becomes(`getComputedStyle(document.body).backgroundColor`, "rgb(24, 27, 26)"),
		isLive,
		becomes(textOf("#hint"), ""),
		holds(`document.documentElement.scrollWidth <= innerWidth`),
	)
	p.Post("laps", `{"member":"dan","score":1000}`)
	do(t, ctx,
		becomes(words, "1 dan 0:01.000 | 2 ann 1:23.456 | 4 cid 6.543 to next 1:30.000"),
		visit(p, "/embed/laps?top=0&theme=pink&mode=list&lang=zh"),
		becomes(textOf("#hint"), "top=0 无效。应为：1–100 theme=pink 无效。应为：auto, light, dark 未知参数 mode。可用：theme, top, me, goal, lang"),
		visit(p, "/embed/nosuch"),
		becomes(`page.part('note').textContent`, "There is no board “nosuch”."),
	)
}

// Pages show avatars of the sites that the flag names. They ask no other site for one, so that its console stays
// empty and the site learns nothing of the viewer.
func TestAvatarsOfOtherSites(t *testing.T) {
	t.Parallel()
	named, other := startSite(t), startSite(t)
	p := e2etest.Launch(t, "--avatar-origins", named.URL)
	p.Post("stars", e2etest.Scores("ann", 40, "bob", 30, "cid", 20, "dan", 10))
	for member, avatar := range map[string]string{
		"ann": named.URL + "/ann.svg", "bob": other.URL + "/bob.svg", "cid": "/assets/shared/favicon.svg",
		"dan": "https://elsewhere.invalid/dan.svg",
	} {
		require.Equal(t, 2, p.Request("PUT", "/v1/members/member/"+member, fmt.Sprintf(`{"avatar":%q}`, avatar)).Status/100)
	}
	const images = `page.all('img:not([hidden])', page.root())
		.map(i => i.closest('[data-member]').dataset.member + (i.naturalWidth > 0)).join(' ')`
	for _, path := range []string{"/boards/stars", "/embed/stars", "/overlay/stars"} {
		ctx := window(t, 800, 600)
		require.NoError(t, chromedp.Do(ctx,
			visit(p, path),
			script(`var violations = 0; addEventListener('securitypolicyviolation', () => violations++)`),
			becomes(images, "anntrue cidtrue"),
			becomes(`String(violations)`, "0"),
			becomes(`String(page.all('img[src]', page.root()).length)`, "2"),
		), path)
	}
	require.Contains(t, named.requests(), "/ann.svg")
	require.Empty(t, other.requests())
}
