//go:build !race

package pages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/server/servertest"
)

// loads counts how often a page has loaded the second file of the kit.
const loads = `performance.getEntriesByType('resource').filter(({name}) => name.includes('on-demand')).length + ''`

// onDemandSite is a page of another site under a strict policy, as the documentation describes it, with an element.
func onDemandSite(t *testing.T, p *e2etest.Process, element string) *httptest.Server {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		const policy = "default-src 'none'; script-src http://%[1]s 'nonce-own'; connect-src ws://%[1]s http://%[1]s"
		w.Header().Set("Content-Security-Policy", fmt.Sprintf(policy, p.Addr))
		fmt.Fprintf(w, `<!doctype html><title>site</title><script nonce="own">
			var refused = [], told = [];
			document.addEventListener('securitypolicyviolation', ({violatedDirective, blockedURI}) => refused.push(violatedDirective
				+ ' ' + blockedURI));
			document.addEventListener('new-leader', ({detail}) => told.push(detail.before.member + ' → ' + detail.entry.member));</script>
			<script type="module" src="http://%s/kit/v1/rankcast.js?2"></script>%s`, p.Addr, element)
	}))
	t.Cleanup(site.Close)
	return site
}

// A page of another site loads the second file of the kit once it needs it, also under a strict policy: not for scores that
// change, but for the first row that changes its place. What that row causes is not lost.
func TestKitLoadsTheRestOnDemand(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--origins", "*")
	p.Post("stars", `{"updates":[{"member":"ann","score":40},{"member":"bob","score":30}]}`)
	site := onDemandSite(t, p, `<live-leaderboard board="stars"></live-leaderboard>`)
	ctx := window(t, 800, 600)
	const (
		root = `document.querySelector('live-leaderboard').shadowRoot`
		rows = `[...` + root +
			`.querySelectorAll('[part~=row]')].map(row => row.dataset.member + ' ' + row.querySelector('[part=score]').textContent).join()`
		marks = `[...` + root + `.querySelectorAll('[data-move]')].map(mark => mark.dataset.move).join()`
	)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site.URL), shows("ann", "bob")))
	p.Post("stars", `{"member":"bob","score":5}`)
	require.NoError(t, chromedp.Do(ctx, becomes(rows, "ann 40,bob 35"), becomes(loads, "0")))
	p.Post("stars", `{"member":"bob","score":10}`)
	require.NoError(t, chromedp.Do(ctx, shows("bob", "ann"), becomes(loads, "1"), becomes(`told.join()`, "ann → bob"),
		becomes(marks, "▲1,▼1")))
	p.Post("stars", `{"member":"ann","score":10}`)
	require.NoError(t, chromedp.Do(ctx, shows("ann", "bob"), becomes(`told.join()`, "ann → bob,bob → ann"), becomes(loads, "1"),
		becomes(`refused.join()`, "")))
	// A search needs the file too.
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site.URL), shows("ann", "bob"), becomes(loads, "0"),
		script(`var found; import('http://`+p.Addr+`/kit/v1/rankcast.js?2')
			.then(({connect}) => connect().search('stars', 'bo')).then(({entries}) => found = entries[0].member)`),
		becomes(`found`, "bob"), becomes(loads, "1"), becomes(`refused.join()`, "")))
}

// The end of a period is loaded in its last minute, and moves nothing when it comes: neither the countdown nor the result.
func TestKitLoadsTheEndWithoutAJump(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	addr, release := lineThatHolds(t, p.Addr, func(r *http.Request) bool { return strings.Contains(r.URL.Path, "on-demand") })
	ends := time.Now().Add(20 * time.Second).UTC().Format(time.RFC3339)
	require.Equal(t, 201, servertest.Request(t, "PUT", "http://"+p.Addr+"/v1/boards/race", fmt.Sprintf(`{"ends":%q}`, ends)).Status)
	fill(t, p, "race", 10)
	const places = `JSON.stringify([document.querySelector('live-leaderboard'),
		...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[part=header], [part=list], [part=list] > *')]
			.map(element => { const {x, y, width, height} = element.getBoundingClientRect(); return [x, y, width, height]; }))`
	ctx := window(t, 800, 900)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+addr+"/embed/race"),
		becomes(`document.querySelector('live-leaderboard').dataset.state`, "live"), becomes(`document.fonts.status`, "loaded"),
		becomes(`String(document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[part=list] > *').length)`, "10"),
		script(`var before = `+places+`, shifts = 0;
			new PerformanceObserver(list => { for (const {value} of list.getEntries()) shifts += value; }).observe({type: 'layout-shift'})`)))
	release()
	require.NoError(t, chromedp.Do(ctx,
		becomes(`String(document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=countdown]').checkVisibility())`, "true"),
		becomes(`String(before === `+places+`)`, "true"), becomes(`String(shifts)`, "0"),
		becomes(`String(document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[part=podium] > *').length)`, "3"),
		becomes(`String(before === `+places+`)`, "true"), becomes(loads, "1")))
}
