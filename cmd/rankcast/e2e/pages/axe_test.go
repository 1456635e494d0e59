//go:build axe && !race

package pages

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/access"
)

// What axe-core finds wrong with the pages for people who don't see them, or not well, or
// use no mouse. `make axe` brings it, with Node, and tells where it is.
func TestAxeFindsNothing(t *testing.T) {
	t.Parallel()
	axe := readAxe(t)
	addr := demo(t)
	ctx := window(t, 1280, 900)
	do(t, ctx, chromedp.Navigate("about:blank"))
	withSample(t, ctx)
	for _, path := range append([]string{
		"/", "/boards/stars?me=s20", "/boards/laps", "/boards/fans:%7Bstar%7D", "/boards/nothing", "/boards/stars/story?me=s20",
		"/members/star/s20", "/show/gift", "/show/gift?me=mochi", "/show/gift/s01?me=mochi",
		"/overlay/stars", "/overlay/stars?theme=light&me=s20", "/overlay/stars?mode=compact", "/overlay/stars?mode=me&me=s20",
		"/overlay/stars?mode=goal&me=s20&goal=500,5000", "/boards/stars/overlay",
		"/embed/stars?top=5&me=s20", "/boards/stars?me=s20&goal=500,100000", "/tv/stars?me=s20", "/tv?boards=laps,stars&theme=light",
	}, docsPages...) {
		for _, lang := range []string{"en", "zh"} {
			if strings.HasPrefix(path, "/docs/") && lang != "en" {
				continue // the documentation is in English only
			}
			for _, theme := range []string{"light", "dark"} {
				for _, width := range []int{390, 1280, 2560} {
					name := fmt.Sprintf("%s %s %s %d", path, lang, theme, width)
					if path == "/boards/nothing" || path == "/boards/fans:%7Bstar%7D" {
						open(t, ctx, addr, path, width, 900, theme, lang)
					} else {
						lookOrRead(t, ctx, addr, path, width, 900, theme, lang)
					}
					if path == "/docs/start" { // with the results of a search, which cover the text
						require.NoError(t,
							chromedp.Do(ctx,
								script(`(box => {
									box.focus();
									box.value = 'a';
									box.dispatchEvent(new Event('input', {bubbles: true}));
								})(document.querySelector('#docs-search-input'))`),
								becomes(`document.querySelector('#docs-search-input').ariaExpanded`, "true")), name)
					}
					requireAccessible(t, ctx, axe, name)
				}
			}
		}
	}
}

// The same for each view of the console, with what opens in it.
func TestAxeFindsNothingInTheConsole(t *testing.T) {
	t.Parallel()
	axe := readAxe(t)
	r := redistest.Start(t)
	p := startConsole(t, "", "--redis", r.URL())
	p.may(201, "PUT", "/v1/members/star/s17", `{"name":"Sora"}`)
	for i, star := range []string{"s17", "s18", "s19"} {
		p.may(200, "POST", "/v1/events/gift", fmt.Sprintf(`{"id":"g%d","star":%q,"user":"mochi","flowers":3}`, i, star))
	}
	p.may(204, "PUT", "/v1/boards/stars/hidden/s18", `{"reason":"a test"}`)
	p.may(204, "PUT", "/v1/hidden/star/s19", `{"reason":"a test"}`)
	p.may(202, "DELETE", "/v1/members/star/s20", `{"reason":"a test"}`)
	ctx := ownWindow(t, 1280, 900)
	check := func(view string) {
		t.Helper()
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{390, 1280} {
				prefers(t, ctx, theme)
				do(t, ctx, resize(width, 900))
				requireAccessible(t, ctx, axe, fmt.Sprintf("/console#/%s %s %d", view, theme, width))
			}
		}
	}
	do(t, ctx,
		visit(p.Process, "/console"),
		typeInto("#key", access.NewKey()),
		click("#sign-in .primary"),
		holds(`page.text('#sign-in-note') !== ''`))
	check("")
	do(t, ctx, p.signIn(p.ops, ""))
	type action = chromedp.Action[chromedp.Void]
	for _, c := range []struct {
		view  string
		steps []action // each is checked
	}{
		{"status", []action{becomes(textOf(".verdict"), "All is well.")}},
		{"boards", []action{
			becomes(`page.count('.view tbody tr')`, "3"),
			chromedp.Steps(enter("[name=search]", "nothing"), holds(`page.text('.view').includes('No board matches.')`)),
		}},
		{"boards/+new", []action{chromedp.Steps(enter("[name=name]", "goals"), enter(yaml, "title: Goals\nmode: sun\n"),
			holds(`/want one of/.test(page.text('.checked'))`))}},
		{"boards/stars", []action{
			holds(`page.all('.members-list tbody tr').length === 1 && page.text('.view').includes('s18')`),
			press("Delete …"),
		}},
		{"boards/stars/edit", []action{
			becomes(textOf(".checked"), "Nothing changes."),
			chromedp.Steps(enter(yaml, "title: Flowers\nkind: star\nperiod: week\ntimezone: Asia/Shanghai\n"),
				becomes(`page.count('.checked td')`, "3")),
		}},
		{"boards/fans:%7Bstar%7D", []action{becomes(`page.count('.view tbody tr')`, "3"), press("Delete …")}},
		{"boards/nothing", []action{becomes(textOf(".view h1"), "This cannot be shown")}},
		{"members", []action{
			chromedp.Steps(enter("[name=kind]", "star"), enter("[name=q]", "sora"), press("Search"),
				becomes(`page.count('.panel tbody tr')`, "1")),
			chromedp.Steps(enter("[name=ids]", "s17 s18"), press("Look at what it will do …"), becomes(`page.visible('dialog')`, "true")),
		}},
		{"members/star/s17", []action{
			becomes(textOf(".view h1"), "Sora"),
			chromedp.Steps(press("Hide on all boards"), becomes(`page.visible('dialog')`, "true")),
			chromedp.Steps(press("Cancel"), press("Erase"), becomes(`page.visible('dialog')`, "true")),
		}},
		{"events", []action{becomes(`page.count('.paged tbody tr')`, "1")}},
		{"events/+new", []action{becomes(`page.count('.editor')`, "1")}},
		{"events/gift", []action{
			becomes(textOf(".feed-state .badge"), "live"),
			chromedp.Steps(enter(".event-form [name=star]", "s17"), enter(".event-form [name=user]", "mochi"),
				enter(".event-form [name=flowers]", "7"), press("Send"), becomes(`page.count('.answer tbody tr')`, "3")),
		}},
		{"events/gift/edit", []action{becomes(textOf(".checked"), "Nothing changes.")}},
		{"audit", []action{holds(`page.all('.view tbody tr').length >= 4`)}},
	} {
		do(t, ctx, chromedp.Navigate("about:blank"), visit(p.Process, "/console#/"+c.view))
		for i, step := range c.steps {
			require.NoError(t, chromedp.Do(ctx, step), "%s %d", c.view, i)
			check(fmt.Sprintf("%s, step %d", c.view, i))
		}
	}
	r.Kill()
	do(t, ctx, chromedp.Navigate("about:blank"), visit(p.Process, "/console#/status"), holds(`/not well/.test(page.text('.verdict'))`))
	check("status, not well")
}

// The same for the page of a host, and for what shows a frozen board, before and after a reveal.
func TestAxeFindsNothingInAReveal(t *testing.T) {
	t.Parallel()
	axe := readAxe(t)
	p, host := startFinale(t)
	ctx := ownWindow(t, 1280, 900)
	check := func(path string) {
		t.Helper()
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{390, 1280} {
				prefers(t, ctx, theme)
				// A card takes the colors of another theme in some time.
				do(t, ctx, resize(width, 900), holds(`document.getAnimations().every(({playState}) => playState === 'finished')`))
				requireAccessible(t, ctx, axe, fmt.Sprintf("%s %s %d", path, theme, width))
			}
		}
	}
	do(t, ctx, p.signInAsHost(host), holds(hostNext+`.startsWith('Eva')`))
	check("host")
	for i, path := range []string{"/", "/boards/finale", "/overlay/finale", "/overlay/finale?mode=compact", "/embed/finale"} {
		do(t, ctx, visit(p.Process, path), holds(`document.querySelector('[data-frozen]') !== null`))
		check(path)
		if i > 0 {
			p.send(fmt.Sprint("m", i), 100*i)
			p.may(200, "POST", "/v1/boards/finale/reveal", fmt.Sprintf(`{"members":["m%d"]}`, i))
			do(t, ctx, holds(`page.root().querySelector('[data-revealed=there]') !== null`))
			check(path + ", revealed")
		}
	}
	do(t, ctx, visit(p.Process, "/boards/finale/reveal"), press("Reveal all …"), becomes(`page.visible('dialog')`, "true"))
	check("host, dialog")
	do(t, ctx, press("Reveal all"), becomes(hostState, "All is revealed."))
	check("host, over")
}

func readAxe(t *testing.T) string {
	axe, err := os.ReadFile(os.Getenv("AXE"))
	require.NoError(t, err, "AXE is the path of axe.min.js")
	return string(axe)
}

// requireAccessible fails the test if axe-core finds something on the page.
func requireAccessible(t *testing.T, ctx context.Context, axe, name string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, script(axe)), name)
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`axe.run(document, {resultTypes: ['violations']}).then(({violations}) =>
		violations.map(({impact, id, nodes}) => impact + ': ' + id + ': ' + nodes
			.map(({target, failureSummary}) => target.flat().join(' ') + ' ' + failureSummary.replace(/\s+/g, ' '))
				.join(' | ')))`, chromedp.EvalAwaitPromise))
	require.NoError(t, err, name)
	assert.Empty(t, found, name)
}
