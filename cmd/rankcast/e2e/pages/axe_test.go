//go:build axe && !race

package pages

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// What axe-core finds wrong with the pages for people who don't see them, or not well, or
// use no mouse. `make axe` brings it, with Node, and tells where it is.
func TestAxeFindsNothingSerious(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(os.Getenv("AXE"))
	require.NoError(t, err, "AXE is the path of axe.min.js")
	addr := demo(t)
	ctx := window(t, 1280, 900)
	do(t, ctx, chromedp.Navigate("about:blank"))
	withSample(t, ctx)
	for _, path := range append([]string{
		"/", "/boards/stars?me=s20", "/boards/laps", "/boards/fans:%7Bstar%7D", "/boards/nothing", "/boards/stars/story?me=s20",
		"/members/star/s20", "/stars", "/stars?me=mochi", "/stars?star=s01&me=mochi",
		"/overlay/stars", "/overlay/stars?theme=light&me=s20", "/overlay/stars?mode=compact", "/overlay/stars?mode=me&me=s20",
		"/embed/stars?top=5&me=s20",
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
					require.NoError(t, chromedp.Do(ctx, script(string(axe))), name)
					found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`axe.run(document, {resultTypes: ['violations']}).then(({violations}) =>
						violations.map(({impact, id, nodes}) => impact + ': ' + id + ': ' + nodes
							.map(({target, failureSummary}) => target.flat().join(' ') + ' ' + failureSummary.replace(/\s+/g, ' '))
								.join(' | ')))`, chromedp.EvalAwaitPromise))
					require.NoError(t, err, name)
					for _, violation := range found {
						if violation[0] == 's' || violation[0] == 'c' { // serious, critical
							t.Errorf("%s: %s", name, violation)
						} else {
							t.Logf("%s: %s", name, violation)
						}
					}
				}
			}
		}
	}
}
