//go:build !race

package pages

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// A reader chooses the look of the pages once. Each page comes with it, before any script has run.
func TestPagesKeepTheSettingsOfTheReader(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	const settings = `(({theme, motion, density}) => [theme, motion, density].join(' '))(document.documentElement.dataset) + ' '
		+ getComputedStyle(document.documentElement).colorScheme`
	const calm = `String(page.all('live-leaderboard').every(board => board.hasAttribute('calm')))`
	const bars = `page.all('meta[name=theme-color]').filter(({media}) => matchMedia(media).matches)
		.map(({content}) => content).join()`
	choose := func(name, value string) chromedp.Action[chromedp.Void] {
		return script(`document.querySelector('#settings [name=` + name + `][value=` + value + `]').click()`)
	}
	ctx := ownWindow(t, 1280, 900)
	at := func(path string) chromedp.Action[chromedp.Void] { return chromedp.Navigate("http://" + addr + path) }
	do(t, ctx, at("/boards/stars"), holds(`page.shown()`), becomes(settings, "   light dark"),
		becomes(calm, "false"), becomes(bars, "#f6f4ee"),
		script(`var height = page.root().querySelector('[data-member]').offsetHeight`),
		click("#settings summary"), holds(`document.querySelector('#settings-form').checkVisibility()`),
		choose("theme", "dark"), choose("motion", "calm"), choose("density", "compact"), becomes(settings, "dark calm compact dark"),
		becomes(calm, "true"), becomes(bars, "#101312"),
		holds(`page.root().querySelector('[data-member]').offsetHeight < height`),
		typeInto("#settings summary", kb.Escape), becomes(`String(document.querySelector('#settings').open)`, "false"),
	)
	for _, path := range []string{"/", "/boards/stars", "/show/gift"} {
		require.NoError(t, chromedp.Do(ctx, at(path), holds(`page.shown()`), becomes(settings, "dark calm compact dark"), becomes(calm, "true"),
			becomes(`[...new FormData(document.querySelector('#settings-form'))].join(' ')`, "theme,dark motion,calm density,compact")), path)
	}
	for _, path := range []string{"/docs/start", "/boards/nosuch", "/boards/stars@1999-W01"} {
		require.NoError(t, chromedp.Do(ctx, at(path), becomes(`(`+settings+`).replace('compact', '')`, "dark calm  dark"),
			becomes(`getComputedStyle(document.body).backgroundColor`, "rgb(16, 19, 18)")), path)
	}
	// No script has run yet, or ever will.
	do(t, ctx, withoutScripts, at("/boards/stars"), becomes(settings, "dark calm compact dark"),
		becomes(`page.count('.first-rows')`, "1"))
}

// The menu offers the height of rows where there are rows. A choice on another page keeps it.
func TestMenuOffersWhatThePageHas(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	ctx := ownWindow(t, 1280, 900)
	for path, offered := range map[string]string{
		"/boards/stars": "theme motion density sound", "/show/gift": "theme motion density sound",
		"/": "theme motion sound", "/boards/fans:%7Bstar%7D": "theme motion sound", "/boards/stars/story": "theme motion sound",
		"/members/star/s22": "theme motion sound", "/boards/nosuch": "theme motion sound", "/no/page": "theme motion sound",
	} {
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+addr+path),
			script(`document.cookie = 'rankcast-settings=density=compact; Path=/'`), chromedp.Reload(), click("#settings summary"),
			becomes(`[...new Set(page.all('#settings-form :is(fieldset, .settings-sound)')
				.filter(part => part.checkVisibility()).map(part => part.querySelector('input').name))].join(' ')`, offered),
			script(`document.querySelector('#settings [name=theme][value=dark]').click()`),
			becomes(`document.cookie`, "rankcast-settings=theme=dark&density=compact")), path)
	}
}

func withoutScripts(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
	return chromedp.Void{}, e2etest.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// Pages are silent unless the reader wants sound. Then a new leader and the rise of the followed member have tones of their
// own, and a busy board plays one in a second.
func TestPagesPlayTonesOnRequest(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	p.Post("stars", e2etest.Scores("ann", 40, "bob", 30, "cid", 20))
	ctx := ownWindow(t, 1280, 900)
	event := func(name string) chromedp.Action[chromedp.Void] {
		return script(`page.board().dispatchEvent(new CustomEvent('` + name +
			`', {bubbles: true, composed: true}))`)
	}
	do(t, ctx,
		beforeScripts(`var played = [], now = 0;
			performance.now = () => now;
			OscillatorNode.prototype.start = (start => function (at) {
				played.push(Math.round(this.frequency.value));
				start.call(this, at);
			})(OscillatorNode.prototype.start);`),
		visit(p, "/boards/stars?me=bob"), shows("ann", "bob", "cid"), click("#name"),
		event("new-leader"), becomes(`played.join()`, ""),
		click("#settings summary"), click("#settings [name=sound]"),
		becomes(`played.join()`, "523,659"),
		script(`played.length = 0; now += 1000`), event("new-leader"), becomes(`played.join()`, "523,659"),
		event("rank-up"), becomes(`played.join()`, "523,659"), script(`now += 1000`), event("rank-up"),
		becomes(`played.join()`, "523,659,659,784"),
	)
}

// All pages show figures and headings in the face of the server, and all of its figures have one width, so that a score does
// not shiver while it counts.
func TestPagesHaveTheirFace(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	const family = `(e => getComputedStyle(e).fontFamily.split(',')[0])`
	for _, c := range []struct{ path, figure string }{
		{"/", `document.querySelector('.card-score')`},
		{"/boards/points", `page.part('score')`},
		{"/boards/points/story", `document.querySelector('.standing-score')`},
		{"/show/gift", `page.part('score', 'star-board')`},
		{"/members/star/s01", `document.querySelector('.place b')`},
		{"/overlay/points", `page.part('rank')`},
		{"/embed/points", `page.part('score')`},
		{"/docs/start", `document.querySelector('h2')`},
		{"/no/such/page", `document.querySelector('h1')`},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			ctx := visitorWindow(t, 800, 600)
			open(t, ctx, addr, c.path, 800, 600, "light", "en")
			do(t, ctx,
				becomes(family+`(document.querySelector('h1')) + ' ' + `+family+`(`+c.figure+`)`, "Archivo Archivo"),
				becomes(`[...new Set([...document.fonts].map(({family, status}) => family + ' ' + status))].join()`, "Archivo loaded"),
				step(t, "figure-widths"),
				becomes(`[500, 650, 800].map(widths).join(' ')`, "1 1 1"),
			)
		})
	}
}

// An overlay stays open for hours: it takes its face also where that comes after the first picture, and no row moves.
func TestOverlayTakesALateFace(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 5)
	addr, release := lineThatHolds(t, p.Addr, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, ".woff2") })
	ctx := visitorWindow(t, 800, 600)
	do(t, ctx, navigateWithoutLoad("http://"+addr+"/overlay/stars?pace=0"),
		becomes(`page.seen()`, "1 m01 50 | 2 m02 40 | 3 m03 30 | 4 m04 20 | 5 m05 10"),
		// The time in which a face that comes may still be used, in pages that keep to the first picture.
		holds(`performance.now() > performance.getEntriesByType('paint')[0]?.startTime + 500`),
		script(`var digits = document.createRange();
			digits.selectNodeContents(page.part('score'));
			var usual = digits.getBoundingClientRect().width`))
	before := value[string](t, ctx, `page.placesOfRows()`)
	release()
	do(t, ctx, holds(`digits.getBoundingClientRect().width !== usual`))
	after := value[string](t, ctx, `page.placesOfRows()`)
	require.Equal(t, before, after)
}
