//go:build !race

package pages

import (
	"context"
	"net"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// Beside a board without scores, nothing looks as if it were still to come, and nothing takes room above it in a narrower window.
func TestPanelBesideAnEmptyBoardIsNotThere(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {empty: {}}`)
	const seen = `String(document.querySelector('#trends').checkVisibility({visibilityProperty: true}))`
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/boards/empty"), becomes(seen, "false"),
		chromedp.EmulateViewport(768, 900), becomes(`String(document.querySelector('.sidebar').offsetHeight)`, "0"),
		chromedp.EmulateViewport(1280, 900)))
	p.Post("empty", `{"member":"🦊🦊","score":9007199254740991}`)
	require.NoError(t, chromedp.Do(ctx, becomes(seen, "true"),
		// A name without letters has its first character in the portrait, here and before a script runs.
		becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[data-initial]').dataset.initial`, "🦊"),
		chromedp.Navigate("http://"+p.Addr+"/"), becomes(textOf(".card-score"), "9007T"), becomes(textOf(".card-row .portrait"), "🦊"),
	))
}

// The panels beside a board turn grey while the server is away, and get their color back with the server.
func TestPanelsBesideABoardShowWhetherTheServerIsThere(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.LaunchBoards(t, `boards: {stars: {period: week}}`, "--redis", r.URL())
	fill(t, p, "stars", 12)
	const panels = `['.periods', '.sidebar'].map(part => getComputedStyle(document.querySelector(part)).filter).join()`
	const ping = `String(/^[0-9]+ ms there and back$/.test(document.querySelector('#latency').textContent))`
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/boards/stars"), becomes(ping, "true"),
		becomes(panels, "none,none")))
	r.Kill()
	require.NoError(t, chromedp.Do(ctx, becomes(panels, "grayscale(1),grayscale(1)")))
	r.Start()
	require.NoError(t, chromedp.Do(ctx, becomes(panels, "none,none")))
	_, port, err := net.SplitHostPort(p.Addr)
	require.NoError(t, err)
	p.Kill()
	require.NoError(t, chromedp.Do(ctx, becomes(panels, "grayscale(1),grayscale(1)"), becomes(textOf("#latency"), "No connection")))
	e2etest.Launch(t, "--redis", r.URL(), "--addr", "127.0.0.1:"+port)
	require.NoError(t, chromedp.Do(ctx, becomes(panels, "none,none"), becomes(ping, "true")))
}

// Trends begin anew when the server comes back with another store.
func TestTrendsBeginAnewWithAnotherStore(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	// One more than the list has.
	const others = `{"member":"m2","score":300},{"member":"m3","score":300},{"member":"m4","score":300},{"member":"m5","score":300}`
	require.Equal(t, 200, p.Post("stars", `{"updates":[{"member":"ann","score":30000},`+others+`,{"member":"bob","score":200}]}`).Status)
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/boards/stars?top=5&me=bob"),
		becomes(course, "ann level, bob level")))
	_, port, err := net.SplitHostPort(p.Addr)
	require.NoError(t, err)
	p.Kill()
	another := redistest.Start(t)
	p = e2etest.Launch(t, "--redis", another.URL())
	require.Equal(t, 200, p.Post("stars", `{"updates":[{"member":"ann","score":500},`+others+`,{"member":"bob","score":3}]}`).Status)
	e2etest.Launch(t, "--redis", another.URL(), "--addr", "127.0.0.1:"+port)
	require.NoError(t, chromedp.Do(ctx, becomes(own, "below: 6 bob 297 to next 3"), becomes(course, "ann level, bob level")))
}

// The page of a closed period shows the result in place of the graphs, which would be empty, also if the period closes while
// the page is open. Times name their zone. The followed member has its name also without a score.
func TestClosedPeriodHasItsResultBesideIt(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {quick: {kind: star, period: 1s, keep: 1000, base: "2026-01-01T00:00:00Z", display: {unit: pts}}}`)
	named(t, p, "star", map[string]string{"s1": "Solveig Harte", "s9": "Odette Flint"})
	var counted struct{ Period string }
	p.Post("quick", `{"member":"s1","score":30}`).Into(&counted)
	const facts = `[...document.querySelectorAll('#trends h2, #trends dd, #trends .trend')]
		.filter(part => part.checkVisibility()).map(part => part.textContent).join(' | ').replace(/\w+ \d+, \d+, \d+:\d\d.[AP]M UTC/, 'a time')`
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx, timeZone("UTC"),
		navigateWithoutLoad("http://"+p.Addr+"/boards/quick@"+counted.Period+"?me=s9"),
		becomes(facts, "Final result | Solveig Harte | a time"), becomes(following, "You follow Odette Flint Stop"),
		becomes(`(links => String(links.length > 0 && links
			.every(a => / UTC$/.test(a.textContent))))([...document.querySelectorAll('#periods a')])`, "true"),
	))
}

func timeZone(name string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		return chromedp.Void{}, e2etest.Call(ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
	}
}
