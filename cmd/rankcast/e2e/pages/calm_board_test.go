//go:build !race

package pages

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// boardSettled is an expression for whether the page of a board has all that it shows by itself.
const boardSettled = `String(['live', 'paused'].includes(document.querySelector('live-leaderboard').dataset.state) &&
	document.querySelector('#latency').textContent !== '' && performance.getEntriesByType('resource')
		.some(({name, responseEnd}) => name.endsWith('/periods') && responseEnd))`

// Nothing jumps while the page of a board loads: what comes later has its room from the beginning. This holds on a slow
// line, for a closed period, and for a member that the device remembers.
func TestPageOfABoardLoadsWithoutJumping(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t,
		`boards: {stars: {kind: star, period: week}, quick: {kind: star, period: 1s, keep: 1000, base: "2026-01-01T00:00:00Z"}}`)
	fill(t, p, "stars", 26)
	var counted struct{ Period string }
	p.Post("quick", `{"member":"m0001","score":30}`).Into(&counted)
	for _, size := range [][2]int{{390, 844}, {1280, 900}} {
		for _, c := range []struct{ path, remembered string }{
			{"/boards/stars", ""}, {"/boards/stars?me=m0017", ""}, {"/boards/stars?me=nobody", ""}, {"/boards/stars", "m0017"},
			{"/boards/stars", "m0003"},
			{"/boards/quick@" + counted.Period, ""}, {"/boards/quick@" + counted.Period + "?me=m0017", ""},
		} {
			t.Run(fmt.Sprintf("%s %s at %d", c.path, c.remembered, size[0]), func(t *testing.T) {
				t.Parallel()
				addr, release := slowLine(t, p.Addr)
				ctx := window(t, size[0], size[1])
				require.NoError(t, chromedp.Do(ctx,
					beforeScripts(fmt.Sprintf(`if (%[1]q) localStorage.setItem('rankcast follow star /', %[1]q);
						var shifts = [];
						new PerformanceObserver(list => { for (const {value, sources} of list.getEntries()) shifts.push([value,
							...sources.map(({node}) => node?.id || node?.className || node?.nodeName)]); })
								.observe({type: 'layout-shift', buffered: true});`, c.remembered)),
					navigateWithoutLoad("http://"+addr+c.path),
					becomes(`String(performance.getEntriesByType('paint').length > 0 && customElements.get('live-leaderboard') === undefined
						&& document.querySelectorAll('.first-rows').length === 1)`, "true"),
				))
				release()
				require.NoError(t, chromedp.Do(ctx, becomes(boardSettled, "true"),
					becomes(`String(location.search.includes(`+fmt.Sprintf("%q", c.remembered)+`))`, "true"),
					script(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`),
					becomes(`shifts.reduce((sum, [value]) => sum + value, 0) < 0.05 ? '' : JSON.stringify(shifts)`, "")))
			})
		}
	}
}

// A number tells no time, so links to numbered periods do. They have their room before they come. Cards have the number
// alone, beside the time that is left.
func TestLinksToNumberedPeriodsTellTheTime(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {quick: {kind: star, period: 1s, keep: 100, base: "2026-01-01T00:00:00Z"}}`)
	var counted struct{ Period string }
	p.Post("quick", `{"member":"m0001","score":30}`).Into(&counted)
	n, err := strconv.Atoi(counted.Period)
	require.NoError(t, err)
	want := counted.Period + " · " + time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC).Format("2006-01-02 15:04 UTC")
	link := `document.querySelector('#periods a[title="` + counted.Period + `"]')`
	const height = `String(document.querySelector('#periods').offsetHeight)`
	addr, release := slowLine(t, p.Addr)
	ctx := window(t, 1280, 900)
	var before, after string
	require.NoError(t, chromedp.Do(ctx, timeZone("Asia/Shanghai"),
		navigateWithoutLoad("http://"+addr+"/boards/quick@"+counted.Period),
		becomes(`String(performance.getEntriesByType('paint').length > 0)`, "true"), evaluate(height, &before)))
	release()
	require.NoError(t, chromedp.Do(ctx, becomes(link+`?.textContent`, want), evaluate(height, &after)))
	require.Equal(t, before, after)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+addr+"/"), becomes(`String(/^\d+$/.test(document.querySelector('.card-period').textContent))`, "true")))
}
