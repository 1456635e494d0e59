//go:build !race

package pages

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// calmPages are pages that must stay where they are while they load, each with an expression that is true once all of its parts
// have come.
var calmPages = []struct{ path, ready string }{
	{"/stars", starsReady},
	{"/stars?star=s17&me=mochi", starsReady +
		` && ['#fans-today', '#fans-3h'].every(id => document.querySelector(id).dataset.state === 'live')`},
}

// starsReady is an expression for whether the star-flower page has its board, its winners and its events.
const starsReady = `document.querySelector('#stars').dataset.state === 'live' && !document.querySelector('.to-come') &&
	performance.getEntriesByType('resource').some(({name, responseEnd}) => name.endsWith('v1/events') && responseEnd)`

// mostShift is the greatest sum of layout shifts that a page may have, half of what counts as good (web.dev/cls).
const mostShift = 0.05

// Nothing on a page jumps while it loads, on a phone and a desk, on a fast and a slow line.
func TestPagesAreCalm(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	for _, page := range calmPages {
		for _, size := range []struct{ width, height int }{{390, 844}, {1280, 900}} {
			for _, line := range []string{"fast", "slow"} {
				t.Run(fmt.Sprintf("%s at %d on a %s line", page.path, size.width, line), func(t *testing.T) {
					t.Parallel()
					addr, release := slowLine(t, addr)
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
								shifted.push(value.toFixed(3) + ': ' + sources.map(({node}) => (node?.id || node?.className || node?.nodeName)
									+ ' in ' + (node?.parentElement?.id || node?.parentElement?.className)).join(', '));
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

// falteringLine stands between a browser and a server. It passes the first half of a page, and the rest once the browser asks
// for /rest.
func falteringLine(t *testing.T, target string) (addr string) {
	t.Helper()
	to, err := url.Parse("http://" + target)
	require.NoError(t, err)
	released := make(chan struct{})
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	proxy.ModifyResponse = func(response *http.Response) error {
		if !strings.Contains(response.Header.Get("Content-Type"), "text/html") {
			return nil
		}
		page, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		main := bytes.Index(page, []byte("<main"))
		half := main + (len(page)-main)/2
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(page[:half]), readerFunc(func([]byte) (int, error) {
			select {
			case <-released:
			case <-response.Request.Context().Done():
			}
			return 0, io.EOF
		}), bytes.NewReader(page[half:])), response.Body}
		return nil
	}
	line := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/rest" {
			close(released)
			return
		}
		r.Header.Del("Accept-Encoding")
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(line.Close)
	return strings.TrimPrefix(line.URL, "http://")
}

// readerFunc is a function as an [io.Reader].
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A page that comes in two pieces, as each of more than 64 KiB may, is as calm as one that comes at once.
func TestPageInPiecesIsCalm(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	for _, path := range []string{"/", "/stars", "/stars?star=s17", "/boards/stars", "/boards/fans:%7Bstar%7D"} {
		for _, size := range [][2]int{{390, 844}, {1280, 900}} {
			t.Run(fmt.Sprintf("%s at %d", path, size[0]), func(t *testing.T) {
				t.Parallel()
				ctx := window(t, size[0], size[1])
				require.NoError(t, chromedp.Do(ctx,
					// Twenty answers are time enough to paint the first half.
					beforeScripts(`(async () => { for (let i = 0; i < 20; i++) await fetch('/v1/boards', {cache: 'no-store'}); fetch('/rest'); })()`),
					chromedp.Navigate("http://"+falteringLine(t, addr)+path)))
				require.Less(t, shift(t, ctx), mostShift)
			})
		}
	}
}
