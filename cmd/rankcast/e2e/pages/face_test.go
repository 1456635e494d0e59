//go:build !race

package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// All pages show figures and headings in the face of the server, and all of its figures have one width, so that a score does
// not shiver while it counts.
func TestPagesHaveTheirFace(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	const family = `(e => getComputedStyle(e).fontFamily.split(',')[0])`
	for _, c := range []struct{ path, figure string }{
		{"/", `document.querySelector('.card-score')`},
		{"/boards/points", `document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=score]')`},
		{"/boards/points/story", `document.querySelector('.standing-score')`},
		{"/stars", `document.querySelector('#stars').shadowRoot.querySelector('[part=score]')`},
		{"/members/star/s01", `document.querySelector('.place b')`},
		{"/overlay/points", `document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=rank]')`},
		{"/embed/points", `document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=score]')`},
		{"/docs/start", `document.querySelector('h2')`},
		{"/no/such/page", `document.querySelector('h1')`},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			ctx := ownWindow(t, 800, 600)
			open(t, ctx, addr, c.path, 800, 600, "light", "en")
			require.NoError(t, chromedp.Do(ctx,
				becomes(family+`(document.querySelector('h1')) + ' ' + `+family+`(`+c.figure+`)`, "Archivo Archivo"),
				becomes(`[...new Set([...document.fonts].map(({family, status}) => family + ' ' + status))].join()`, "Archivo loaded"),
				script(`var figures = document.createElement('b');
					figures.style.font = '40px Archivo, monospace';
					figures.style.fontVariantNumeric = 'tabular-nums';
					document.body.append(figures);
					var widths = weight => {
						figures.style.fontWeight = weight;
						return new Set([...'0123456789']
							.map(figure => (figures.textContent = figure.repeat(20), figures.getBoundingClientRect().width))).size;
					}`),
				becomes(`[500, 650, 800].map(widths).join(' ')`, "1 1 1"),
			))
		})
	}
}

// An overlay stays open for hours: it takes its face also where that comes after the first picture, and no row moves.
func TestOverlayTakesALateFace(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 5)
	addr, release := lineThatHolds(t, p.Addr, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, ".woff2") })
	ctx := ownWindow(t, 800, 600)
	var before, after string
	require.NoError(t, chromedp.Do(ctx, navigateWithoutLoad("http://"+addr+"/overlay/stars?pace=0"),
		becomes(seen, "1 m01 50 | 2 m02 40 | 3 m03 30 | 4 m04 20 | 5 m05 10"),
		// The time in which a face that comes may still be used, in pages that keep to the first picture.
		becomes(`String(performance.now() > performance.getEntriesByType('paint')[0]?.startTime + 500)`, "true"),
		script(`var digits = document.createRange();
			digits.selectNodeContents(document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=score]'));
			var usual = digits.getBoundingClientRect().width`),
		evaluate(placesOfRows, &before)))
	release()
	require.NoError(t, chromedp.Do(ctx, becomes(`String(digits.getBoundingClientRect().width !== usual)`, "true"),
		evaluate(placesOfRows, &after)))
	require.Equal(t, before, after)
}
