//go:build !race

package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// slowLine stands between a browser and a server. It passes the first answer, and holds all other requests until it
// is released.
func slowLine(t *testing.T, target string) (addr string, release func()) {
	t.Helper()
	return lineThatHolds(t, target, func(r *http.Request) bool { return !strings.Contains(r.Header.Get("Accept"), "text/html") })
}

// lineThatHolds is like slowLine, and holds the requests for which holds is true.
func lineThatHolds(t *testing.T, target string, holds func(*http.Request) bool) (addr string, release func()) {
	t.Helper()
	to, err := url.Parse("http://" + target)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	released := make(chan struct{})
	line := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if holds(r) {
			select {
			case <-released:
			case <-r.Context().Done():
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(line.Close)
	return strings.TrimPrefix(line.URL, "http://"), func() { close(released) }
}

// On a line with a long delay, the rows of a board are on the screen with the first answer, and the element takes them over
// without moving them.
func TestFirstRowsComeWithTheFirstAnswer(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	define(t, p)
	for _, size := range []struct{ width, height int }{{1280, 900}, {390, 844}} {
		for _, path := range []string{"/boards/stars?me=m1", "/boards/stars?me=m17", "/overlay/stars", "/embed/stars?top=5"} {
			t.Run(fmt.Sprintf("%s at %d", path, size.width), func(t *testing.T) {
				t.Parallel()
				addr, release := slowLine(t, p.Addr)
				ctx := window(t, size.width, size.height)
				var first, then string
				do(t, ctx,
					navigateWithoutLoad("http://"+addr+path),
					// The browser has painted the rows, while all but the page itself is on its way.
					holds(`page.painted() && document.querySelectorAll('.first-rows tbody tr').length >= 5`),
					holds(`customElements.get('live-leaderboard') === undefined`),
					becomes(`document.querySelector('.first-rows tbody tr td:nth-child(2) bdi').textContent`, "Mia Torres"),
					becomes(`document.querySelector('.first-rows tbody tr td:nth-child(3)').textContent.replace(/[^0-9,]/g, '')`, "1,000"),
					evaluate(`page.placesOfRows()`, &first),
					// The element has them at once, not in the next frame only.
					script(`customElements.whenDefined('live-leaderboard')
						.then(() => globalThis.taken = page.root().querySelectorAll('[part~=row]').length)`),
					script(`page.watchShifts()`),
				)
				release()
				do(t, ctx,
					isLive,
					becomes(`page.root().querySelector('[part~=row] [part=member]').textContent`, "Mia Torres"),
					evaluate(`page.placesOfRows()`, &then),
					holds(`taken >= 5`),
					// The leader's letters are no smaller than those of the second, and a narrow list has the unit once.
					holds(`(([first, second]) => first >= second)(page.all('[part=score]', page.root())
						.map(score => parseFloat(getComputedStyle(score).fontSize)))`),
					holds(fmt.Sprintf(`%t || page.all('[part=score-unit]', page.root()).filter(unit => unit.checkVisibility()).length === 1`,
						size.width > 400 || path == "/overlay/stars")),
				)
				require.Equal(t, first, then, "the rows stay where they are")
			})
		}
	}
}

// evaluate stores the value of an expression.
func evaluate(expression string, to *string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (_ chromedp.Void, err error) {
		*to, err = chromedp.Evaluate[string](expression)(ctx, t)
		return chromedp.Void{}, err
	}
}

// navigateWithoutLoad opens a page, and does not wait until it is loaded.
func navigateWithoutLoad(address string) chromedp.Action[chromedp.Void] {
	return script(fmt.Sprintf(`setTimeout(() => location.href = %q)`, address))
}

// define gives the board stars 30 members.
func define(t *testing.T, p *e2etest.Process) {
	t.Helper()
	request := func(method, path, body string, status int) {
		r, err := http.NewRequest(method, "http://"+p.Addr+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		a.Body.Close()
		require.Equal(t, status, a.StatusCode, "%s %s", method, path)
	}
	request("PUT", "/v1/boards/stars",
		`{"title":{"en":"Stars of the week"},"kind":"star","period":"week","display":{"unit":{"en":"garden flowers"}}}`, 200)
	request("PUT", "/v1/members/star/m0", `{"name":"Mia Torres"}`, 201)
	var updates []string
	for i := range 30 {
		updates = append(updates, fmt.Sprintf(`{"member":"m%d","score":%d}`, i, 1000-i))
	}
	request("POST", "/v1/boards/stars/scores", `{"updates":[`+strings.Join(updates, ",")+`]}`, 200)
}

// firstBoards are boards of all kinds of rules.
const firstBoards = `boards:
  stars: {title: {en: Stars of the week, zh: 本周明星}, kind: star, period: week, timezone: Asia/Shanghai}
  "fans:{star}": {title: {en: "Fans of {star}", zh: "{star}的粉丝"}, kind: user, period: day, keep: 2}
  laps: {mode: best, order: asc, ties: shared, display: {format: time_ms}, period: 36h, base: 2026-01-01T00:00:00Z}
  prices: {mode: last, ties: dense, display: {unit: {en: pts, zh: 分}, decimals: 2}, window: 3h}
  recent: {ties: member, window: 90m, refresh: live, description: What counts now}
  all: {union: {of: [stars, laps], refresh: 10m}}
  cup: {ends: 2099-01-01T00:00:00Z, ties: member}
events:
  gift:
    show: {board: stars, fans: "fans:{star}"}
    updates: [{board: stars, member: "{star}", score: 1}, {board: "fans:{star}", member: "{user}", score: 1}]
`

// The scripts of a page change none of the names, ranks and scores that the server rendered: both write them by the same
// rules.
func TestScriptsKeepTheFirstTexts(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, firstBoards)
	for _, board := range []string{"stars", "fans:s17", "laps", "prices", "recent", "cup"} {
		addToAna(p, board, 40_123)
	}
	for _, path := range []string{"/", "/boards/stars", "/boards/fans:s17", "/boards/laps", "/boards/prices", "/boards/recent",
		"/boards/cup?me=ana", "/boards/all", "/boards/fans:%7Bstar%7D", "/show/gift/ana"} {
		for i, lang := range []string{"en", "zh"} {
			if i > 0 && !slices.Contains([]string{"/", "/boards/prices", "/boards/fans:s17", "/show/gift/ana"}, path) {
				continue // the rules are the same
			}
			t.Run(path+" in "+lang, func(t *testing.T) {
				if path != "/" { // which is first: it shows whether somebody looks at a window
					t.Parallel()
				}
				addr, release := slowLine(t, p.Addr)
				ctx := window(t, 1000, 800)
				separator := "?"
				if strings.Contains(path, "?") {
					separator = "&"
				}
				do(t, ctx,
					navigateWithoutLoad("http://"+addr+path+separator+"lang="+lang),
					holds(`page.painted()`))
				first := value[string](t, ctx, `page.textsOfPage()`)
				value[bool](t, ctx, `(window.emptied = false, new MutationObserver(() => {
					window.emptied ||= document.querySelector('#instances a') === null;
				}).observe(document.documentElement, { childList: true, subtree: true }), true)`)
				release()
				settled := `page.state()`
				want := "live"
				if strings.Contains(path, "%7B") {
					settled, want = `String(document.querySelector('#instances a') !== null)`, "true"
				} else if path == "/" { // the first overview has come when the cards have a rate or none
					settled, want = `String(performance.getEntriesByType('resource')
						.filter(({name, responseEnd}) => name.endsWith('v1/overview') && responseEnd).length > 0
							&& document.readyState === 'complete')`, "true"
				}
				do(t, ctx,
					becomes(settled, want),
					becomes(`String(performance.getEntriesByType('resource').some(({name}) => /v1.(boards|overview|live)/.test(name)) || `+
						fmt.Sprint(strings.HasPrefix(path, "/show/gift"))+`)`, "true"))
				then := value[string](t, ctx, `page.textsOfPage()`)
				require.Equal(t, first, then)
				if strings.Contains(path, "%7B") { // the cards of the first answer stay until the page has newer ones
					require.False(t, value[bool](t, ctx, `window.emptied`))
				}
			})
		}
	}
}

// addToAna adds to the score of ana.
func addToAna(p *e2etest.Process, board string, score int) {
	p.T.Helper()
	a := p.Post(board, fmt.Sprintf(`{"member":"ana","score":%d}`, score))
	require.Equal(p.T, 200, a.Status, a.Body)
}
