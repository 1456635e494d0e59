//go:build !race

package e2e

import (
	"fmt"
	"net"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// The network drops while a double-clicked gift is on its way: it counts once, and so does
// the next one.
func TestStarsGiftCountsOnce(t *testing.T) {
	t.Parallel()
	p := launchStars(t)
	g := startGate(t, p.addr)
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+g.addr+"/stars?star=s17&lang=en"), watching,
		// Who sends them is asked for first.
		chromedp.Click(chromedp.CSS(`[data-flowers="10"]`)),
		becomes(`document.activeElement.id`, "me"), becomes(textOf("#gift-note"), "First say who you are, then send your flowers."),
		chromedp.SendKeys(chromedp.CSS("#me"), "mochi\r"),
		becomes(`location.search`, "?star=s17&me=mochi&lang=en"), becomes(textOf("#gift-note"), ""),
	))
	g.silence()
	require.NoError(t, chromedp.Do(ctx,
		chromedp.DoubleClick(chromedp.CSS(`[data-flowers="10"]`)),
		becomes(bouquet, "On its way… true"),
	))
	counted := func(flowers int) {
		t.Helper()
		redistest.Eventually(t, "the gift to count", func() error {
			if is := p.score("stars", "s17"); is != flowers {
				return fmt.Errorf("%d", is)
			}
			return nil
		})
	}
	counted(10)
	g.shut.Store(true)
	g.cut()
	require.NoError(t, chromedp.Do(ctx,
		becomes(textOf("#gift-note"), "Waiting for the server. Your flowers go out as soon as it is back."),
		becomes(bouquet, "On its way… true"), becomes(`String(document.querySelector('[data-flowers="10"]').disabled)`, "false"),
		chromedp.Click(chromedp.CSS(`[data-flowers="10"]`)),
	))
	g.shut.Store(false)
	require.NoError(t, chromedp.Do(ctx,
		becomes(textOf("#gift-note"), "Thank you! 10 flowers for s17: you are No. 1 among today’s fans."),
		becomes(bouquet, "A bouquet null"),
		becomes(textOf(".star-head"), "S s17 No. 1 10 flowers this week Leads the week"),
		becomes(boardOf("fans-today"), "1 mochi 10"),
		becomes(`String(document.querySelectorAll('.petals').length)`, "0"), // they are gone once they have risen
	))
	require.Equal(t, 10, p.score("stars", "s17"))
	require.NoError(t, chromedp.Do(ctx,
		// The second half of a double tap may come when the first is answered: the time for it ends when the test says.
		script(`var taps = []; globalThis.setTimeout = (real => (run, ms, ...more) => ms === 700 ? (taps.push(run), 0) : real(run, ms, ...more))(setTimeout)`),
		chromedp.Click(chromedp.CSS(`[data-flowers="10"]`)),
		becomes(textOf(".star-head"), "S s17 No. 1 20 flowers this week Leads the week"), becomes(`Object.values(sessionStorage).join()`, "[]"),
		becomes(bouquet, "On its way… true"), chromedp.Click(chromedp.CSS(`[data-flowers="10"]`)), becomes(`Object.values(sessionStorage).join()`, "[]"),
		script(`taps.forEach(run => run())`), becomes(bouquet, "A bouquet null"),
		becomes(`stays`, "yes"),
	))
	require.Equal(t, 20, p.score("fans:s17", "mochi"))
}

// The page is loaded anew while a gift is unanswered: it counts once.
func TestStarsGiftSurvivesReload(t *testing.T) {
	t.Parallel()
	p := launchStars(t)
	g := startGate(t, p.addr)
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+g.addr+"/stars?star=s17&me=mochi&lang=en"), watching))
	g.silence()
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Click(chromedp.CSS(`[data-flowers="10"]`)),
		becomes(bouquet, "On its way… true")))
	redistest.Eventually(t, "the gift to count", func() error {
		if p.score("stars", "s17") == 0 {
			return fmt.Errorf("it does not yet")
		}
		return nil
	})
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Reload(),
		becomes(`typeof stays`, "undefined"), // another page
		becomes(textOf("#gift-note"), "Thank you! 10 flowers for s17: you are No. 1 among today’s fans."),
		becomes(bouquet, "A bouquet null"),
		becomes(`Object.values(sessionStorage).join()`, "[]"),
	))
	require.Equal(t, 10, p.score("stars", "s17"))
}

// Where sockets may send nothing there is no button, and one that was there says why.
func TestStarsWithoutSocketWrites(t *testing.T) {
	t.Parallel()
	p := launchStars(t)
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.addr+"/stars?star=s17&me=mochi&lang=en"), watching))
	_, port, err := net.SplitHostPort(p.addr)
	require.NoError(t, err)
	p.kill()
	require.NoError(t, chromedp.Do(ctx, becomes(`document.querySelector('#stars').dataset.state`, "away")))
	p = launchStars(t, "--addr", "127.0.0.1:"+port, "--no-socket-writes")
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Click(chromedp.CSS(`[data-flowers="1"]`)),
		becomes(textOf("#gift-note"), "This server takes no flowers from pages. They were not sent."),
		becomes(`stays`, "yes"),
	))
	p.give("s17", "mochi", 3)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.addr+"/stars?star=s17&me=mochi&lang=en"), watching,
		becomes(boardOf("fans-today"), "1 mochi 3"),
		becomes(`String(document.querySelectorAll('.size').length)`, "0"),
	))
}
