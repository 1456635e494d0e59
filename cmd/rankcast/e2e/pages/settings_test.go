//go:build !race

package pages

import (
	"context"
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
	const calm = `String([...document.querySelectorAll('live-leaderboard')].every(board => board.hasAttribute('calm')))`
	const bars = `[...document.querySelectorAll('meta[name=theme-color]')].filter(({media}) => matchMedia(media).matches)
		.map(({content}) => content).join()`
	choose := func(name, value string) chromedp.Action[chromedp.Void] {
		return script(`document.querySelector('#settings [name=` + name + `][value=` + value + `]').click()`)
	}
	ctx := ownWindow(t, 1280, 900)
	at := func(path string) chromedp.Action[chromedp.Void] { return chromedp.Navigate("http://" + addr + path) }
	require.NoError(t, chromedp.Do(ctx, at("/boards/stars"), becomes(shown, "true"), becomes(settings, "   light dark"),
		becomes(calm, "false"), becomes(bars, "#f6f4ee"),
		script(`var height = document.querySelector('live-leaderboard').shadowRoot.querySelector('[data-member]').offsetHeight`),
		click("#settings summary"), becomes(`String(document.querySelector('#settings-form').checkVisibility())`, "true"),
		choose("theme", "dark"), choose("motion", "calm"), choose("density", "compact"), becomes(settings, "dark calm compact dark"),
		becomes(calm, "true"), becomes(bars, "#101312"),
		becomes(`String(document.querySelector('live-leaderboard').shadowRoot.querySelector('[data-member]').offsetHeight < height)`, "true"),
		typeInto("#settings summary", kb.Escape), becomes(`String(document.querySelector('#settings').open)`, "false"),
	))
	for _, path := range []string{"/", "/boards/stars", "/stars"} {
		require.NoError(t, chromedp.Do(ctx, at(path), becomes(shown, "true"), becomes(settings, "dark calm compact dark"), becomes(calm, "true"),
			becomes(`[...new FormData(document.querySelector('#settings-form'))].join(' ')`, "theme,dark motion,calm density,compact")), path)
	}
	for _, path := range []string{"/docs/start", "/boards/nosuch", "/boards/stars@1999-W01"} {
		require.NoError(t, chromedp.Do(ctx, at(path), becomes(`(`+settings+`).replace('compact', '')`, "dark calm  dark"),
			becomes(`getComputedStyle(document.body).backgroundColor`, "rgb(16, 19, 18)")), path)
	}
	// No script has run yet, or ever will.
	require.NoError(t, chromedp.Do(ctx, withoutScripts, at("/boards/stars"), becomes(settings, "dark calm compact dark"),
		becomes(`String(document.querySelectorAll('.first-rows').length)`, "1")))
}

// The menu offers the height of rows where there are rows. A choice on another page keeps it.
func TestMenuOffersWhatThePageHas(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	ctx := ownWindow(t, 1280, 900)
	for path, offered := range map[string]string{
		"/boards/stars": "theme motion density sound", "/stars": "theme motion density sound",
		"/": "theme motion sound", "/boards/fans:%7Bstar%7D": "theme motion sound", "/boards/stars/story": "theme motion sound",
		"/members/star/s22": "theme motion sound", "/boards/nosuch": "theme motion sound", "/no/page": "theme motion sound",
	} {
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+addr+path),
			script(`document.cookie = 'rankcast-settings=density=compact; Path=/'`), chromedp.Reload(), click("#settings summary"),
			becomes(`[...new Set([...document.querySelectorAll('#settings-form :is(fieldset, .settings-sound)')]
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
	p.Post("stars", `{"updates":[{"member":"ann","score":40},{"member":"bob","score":30},{"member":"cid","score":20}]}`)
	ctx := ownWindow(t, 1280, 900)
	event := func(name string) chromedp.Action[chromedp.Void] {
		return script(`document.querySelector('live-leaderboard').dispatchEvent(new CustomEvent('` + name +
			`', {bubbles: true, composed: true}))`)
	}
	require.NoError(t, chromedp.Do(ctx,
		beforeScripts(`var played = [], now = 0;
			performance.now = () => now;
			OscillatorNode.prototype.start = (start => function (at) { played.push(Math.round(this.frequency.value));
				start.call(this, at); })(OscillatorNode.prototype.start);`),
		chromedp.Navigate("http://"+p.Addr+"/boards/stars?me=bob"), shows("ann", "bob", "cid"), click("#name"),
		event("new-leader"), becomes(`played.join()`, ""),
		click("#settings summary"), click("#settings [name=sound]"),
		becomes(`played.join()`, "523,659"),
		script(`played.length = 0; now += 1000`), event("new-leader"), becomes(`played.join()`, "523,659"),
		event("rank-up"), becomes(`played.join()`, "523,659"), script(`now += 1000`), event("rank-up"),
		becomes(`played.join()`, "523,659,659,784"),
	))
}
