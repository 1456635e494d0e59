//go:build !race

package e2e

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// calmPages are pages that must stay where they are while they load, each with an expression that is true once all of its parts
// have come.
var calmPages = []struct{ path, ready string }{
	{"/stars", starsReady},
	{"/stars?star=s17&me=mochi", starsReady + ` && ['#fans-today', '#fans-3h'].every(id => document.querySelector(id).dataset.state === 'live')`},
}

// starsReady is an expression for whether the star-flower page has its board, its winners and its events.
const starsReady = `document.querySelector('#stars').dataset.state === 'live' && !document.querySelector('.to-come') &&
	performance.getEntriesByType('resource').some(({name, responseEnd}) => name.endsWith('v1/events') && responseEnd)`

// mostShift is the greatest sum of layout shifts that a page may have, half of what counts as good (web.dev/cls).
const mostShift = 0.05

// Nothing on a page jumps while it loads, on a phone and a desk, on a fast and a slow line.
func TestPagesAreCalm(t *testing.T) {
	t.Parallel()
	p := launch(t, "--demo")
	for _, page := range calmPages {
		for _, size := range []struct{ width, height int }{{390, 844}, {1280, 900}} {
			for _, line := range []string{"fast", "slow"} {
				t.Run(fmt.Sprintf("%s at %d on a %s line", page.path, size.width, line), func(t *testing.T) {
					t.Parallel()
					addr, release := slowLine(t, p.addr)
					if line == "fast" {
						release()
					}
					ctx := window(t, size.width, size.height)
					require.NoError(t, chromedp.Do(ctx,
						navigateWithoutLoad("http://"+addr+page.path),
						becomes(`String(performance.getEntriesByType('paint').length > 0)`, "true"),
						script(`var shift = 0, shifted = []; new PerformanceObserver(list => {
							for (const {hadRecentInput, value, sources} of list.getEntries()) if (!hadRecentInput) {
								shift += value;
								shifted.push(value.toFixed(3) + ': ' + sources.map(({node}) => (node?.id || node?.className || node?.nodeName) + ' in ' + (node?.parentElement?.id || node?.parentElement?.className)).join(', '));
							}
						}).observe({type: 'layout-shift', buffered: true})`),
					))
					if line == "slow" {
						release()
					}
					var shift, shifted string
					require.NoError(t, chromedp.Do(ctx,
						becomes(fmt.Sprintf(`String(%s)`, page.ready), "true"),
						// The browser has drawn the frame with the last part.
						script(`var drawn = ''; requestAnimationFrame(() => requestAnimationFrame(() => drawn = 'yes'))`), becomes(`drawn`, "yes"),
						evaluate(`String(shift)`, &shift), evaluate(`shifted.join('\n')`, &shifted),
					))
					sum, err := strconv.ParseFloat(shift, 64)
					require.NoError(t, err)
					require.Less(t, sum, mostShift, shifted)
				})
			}
		}
	}
}
