//go:build !race

package pages

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// layoutShift is a script that waits for the next frames, and then tells how far the page has moved since it began to load
// (cumulative layout shift).
const layoutShift = `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => {
	const observer = new PerformanceObserver(() => {});
	observer.observe({type: 'layout-shift', buffered: true});
	resolve(String(observer.takeRecords().reduce((sum, {value}) => sum + value, 0)));
})))`

// shift is the cumulative layout shift of a page.
func shift(t *testing.T, ctx context.Context) float64 {
	t.Helper()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](layoutShift, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	sum, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return sum
}

// calmFront has a board of each kind that the front page shows, and a family.
const calmFront = `boards:
  stars:         {title: Stars of the week, kind: star, period: week, icon: /assets/shared/favicon.svg}
  laps:          {mode: best, order: asc, display: {format: time_ms}}
  "fans:{star}": {title: "Fans of {star}", kind: user, period: day}
`

// Nothing moves while the front page and the page of a family load, on a phone and on a laptop, also on a slow line.
func TestFrontPagesAreCalm(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, calmFront)
	for i := range 12 {
		addToAna(p, "stars", i)
		addToAna(p, "laps", i)
		addToAna(p, fmt.Sprintf("fans:s%d", i), i)
	}
	setName(p, "star", "s1", "Mia Torres")
	loaded := map[string]string{
		"/": `String(performance.getEntriesByType('resource')
			.some(({name, responseEnd}) => name.endsWith('v1/overview') && responseEnd))`,
		"/boards/fans:%7Bstar%7D": `String(performance.getEntriesByType('resource')
			.some(({name, responseEnd}) => name.includes('/overview?') && responseEnd))`,
		"/boards/nope": `String(document.readyState === 'complete')`,
	}
	for path, ready := range loaded {
		for _, size := range [][2]int{{390, 844}, {1280, 900}} {
			t.Run(fmt.Sprintf("%s at %d", path, size[0]), func(t *testing.T) {
				t.Parallel()
				addr, release := slowLine(t, p.Addr)
				ctx := window(t, size[0], size[1])
				require.NoError(t, chromedp.Do(ctx, navigateWithoutLoad("http://"+addr+path),
					becomes(`String(performance.getEntriesByType('paint').length > 0 && document.querySelector('h1').textContent !== '')`, "true")))
				release()
				require.NoError(t, chromedp.Do(ctx, becomes(ready, "true")))
				require.Less(t, shift(t, ctx), 0.05)
			})
		}
	}
}

// If the server cannot read its boards, the front page shows that cards are on their way, and then the cards, without a
// jump.
func TestFrontPageShowsThatCardsAreOnTheirWay(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.LaunchBoards(t, calmFront, "--redis", r.URL())
	addToAna(p, "stars", 3)
	r.Kill()
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/"),
		becomes(`String(document.querySelectorAll('.card[data-skeleton]').length > 0)`, "true"),
		becomes(`document.querySelector('#overview-note').textContent`, "The server can’t list its boards now. Trying again…")))
	r.Start()
	require.NoError(t, chromedp.Do(ctx,
		becomes(`document.querySelectorAll('.card:not([data-skeleton])').length + ' ' + document.querySelectorAll('.card[data-skeleton]').length`,
			"3 0"),
		becomes(`document.querySelector('#overview-note').textContent`, "3 boards")))
	require.Less(t, shift(t, ctx), 0.05)
}

// All cards show when the server is away, and when it is back. Nothing moves.
func TestCardsShowWhenTheServerIsAway(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, calmFront)
	addToAna(p, "stars", 3)
	addToAna(p, "fans:s1", 3)
	const places = `JSON.stringify([...document.querySelectorAll('.card')]
		.map(card => [card.getBoundingClientRect().y, card.getBoundingClientRect().height]))`
	for path, parts := range map[string]struct{ list, note, calm string }{
		"/": {"#cards", "#overview-note", "3 boards"}, "/boards/fans:%7Bstar%7D": {"#instances", "#instances-note", "1 board"},
	} {
		for _, width := range []int{390, 1280} {
			ctx := window(t, width, 900)
			note := fmt.Sprintf(`document.querySelector(%q).textContent.replace(/\d+:\d\d:\d\d.[AP]M/, '…')`, parts.note)
			stale := fmt.Sprintf(`String(document.querySelector(%q).hasAttribute('data-stale'))`, parts.list)
			var before, away string
			require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+path), becomes(note, parts.calm),
				becomes(`String(performance.getEntriesByType('resource').some(({name, responseEnd}) => name.includes('/overview') && responseEnd))`,
					"true"),
				evaluate(places, &before),
				script(`var request = fetch; fetch = () => Promise.reject(new TypeError('away')); dispatchEvent(new Event('online'))`),
				becomes(note, "Can’t reach the server. As of …"), becomes(stale, "true"), evaluate(places, &away),
			), "%s at %d", path, width)
			require.Equal(t, before, away, "%s at %d", path, width)
			require.NoError(t, chromedp.Do(ctx, script(`fetch = request; dispatchEvent(new Event('online'))`), becomes(note, parts.calm),
				becomes(stale, "false")), "%s at %d", path, width)
		}
	}
}
