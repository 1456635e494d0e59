//go:build !race

package pages

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// calmPages are pages that must stay where they are while they load, each with an expression that is true once all of its parts
// have come.
var calmPages = []struct{ path, ready string }{
	{"/show/gift", starsReady},
	{"/show/gift/s17?me=mochi", starsReady +
		` && ['#fans', '#recent'].every(id => document.querySelector(id).dataset.state === 'live')`},
}

// starsReady is an expression for whether the star-flower page has its board, its winners and its events.
const starsReady = `page.state('star-board') === 'live' && !document.querySelector('.to-come') && page.answered('/v1/events/gift')`

// mostShift is the greatest sum of layout shifts that a page may have, half of what counts as good (web.dev/cls).
const mostShift = 0.05

// Nothing on a page jumps while it loads, on a phone and a desk, on a fast and a slow line.
func TestPagesAreCalm(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	for _, page := range calmPages {
		for _, c := range []struct {
			line          string
			width, height int
		}{{"fast", 390, 844}, {"fast", 1280, 900}, {"slow", 390, 844}, {"slow", 1280, 900}} {
			t.Run(fmt.Sprintf("%s at %d on a %s line", page.path, c.width, c.line), func(t *testing.T) {
				t.Parallel()
				addr, release := slowLine(t, addr)
				if c.line == "fast" {
					release()
				}
				ctx := window(t, c.width, c.height)
				do(t, ctx,
					navigateWithoutLoad("http://"+addr+page.path),
					holds(`page.painted()`),
					step(t, "note-shifts"),
				)
				if c.line == "slow" {
					release()
				}
				do(t, ctx, holds(page.ready))
				value[any](t, ctx, `page.drawn()`) // the frame with the last part
				require.Less(t, value[float64](t, ctx, `shift`), mostShift, value[string](t, ctx, `shifted.join('\n')`))
			})
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
	for _, c := range []struct {
		path          string
		width, height int
	}{
		{"/", 390, 844}, {"/", 1280, 900}, {"/boards/stars", 390, 844}, {"/boards/stars", 1280, 900}, {"/show/gift", 390, 844},
		{"/show/gift/s17", 1280, 900}, {"/boards/fans:%7Bstar%7D", 1280, 900}, {"/tv/stars?me=s17", 1280, 900},
		{"/boards/stars/overlay", 390, 844}, {"/boards/stars/overlay", 1280, 900},
	} {
		t.Run(fmt.Sprintf("%s at %d", c.path, c.width), func(t *testing.T) {
			t.Parallel()
			ctx := window(t, c.width, c.height)
			do(t, ctx,
				// Twenty answers are time enough to paint the first half.
				beforeScripts(`(async () => { for (let i = 0; i < 20; i++) await fetch('/v1/boards', {cache: 'no-store'}); fetch('/rest'); })()`),
				chromedp.Navigate("http://"+falteringLine(t, addr)+c.path))
			require.Less(t, shift(t, ctx), mostShift)
		})
	}
}

// boardSettled is an expression for whether the page of a board has all that it shows by itself.
const boardSettled = `String(['live', 'paused'].includes(page.state()) &&
	document.querySelector('#latency').textContent !== '' && page.answered('/periods'))`

// Nothing jumps while the page of a board loads: what comes later has its room from the beginning. This holds on a slow
// line, for a closed period, and for a member that the device remembers.
func TestPageOfABoardLoadsWithoutJumping(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t,
		`boards: {stars: {kind: star, period: week}, quick: {kind: star, period: 1s, keep: 1000, base: "2026-01-01T00:00:00Z"}}`)
	fill(t, p, "stars", 26)
	closed := "/boards/quick@" + periodOf(p, "quick", `{"member":"m0001","score":30}`)
	p.Logs("settled closed periods")
	for _, c := range []struct {
		path, remembered string
		width, height    int
	}{
		{"/boards/stars", "", 390, 844}, {"/boards/stars", "", 1280, 900}, {"/boards/stars?me=m0017", "", 390, 844},
		{"/boards/stars?me=nobody", "", 390, 844}, {"/boards/stars", "m0017", 390, 844}, {"/boards/stars", "m0017", 1280, 900},
		{"/boards/stars", "m0003", 390, 844},
		{closed, "", 390, 844}, {closed, "", 1280, 900}, {closed + "?me=m0017", "", 320, 568},
	} {
		t.Run(fmt.Sprintf("%s %s at %d", c.path, c.remembered, c.width), func(t *testing.T) {
			t.Parallel()
			addr, release := slowLine(t, p.Addr)
			ctx := window(t, c.width, c.height)
			do(t, ctx,
				beforeScripts(fmt.Sprintf(`if (%[1]q) localStorage.setItem('rankcast follow star /', %[1]q);
					var shifts = [];
					new PerformanceObserver(list => {
						for (const {value, sources} of list.getEntries())
							shifts.push([value, ...sources.map(({node}) => node?.id || node?.className || node?.nodeName)]);
					}).observe({type: 'layout-shift', buffered: true});`, c.remembered)),
				navigateWithoutLoad("http://"+addr+c.path),
				holds(`page.painted() && customElements.get('live-leaderboard') === undefined
					&& document.querySelectorAll('.first-rows').length === 1`),
			)
			first := value[string](t, ctx, `page.placesOfRows()`)
			require.NotEqual(t, "[]", first)
			release()
			do(t, ctx, becomes(boardSettled, "true"),
				becomes(`String(location.search.includes(`+fmt.Sprintf("%q", c.remembered)+`))`, "true"),
				becomes(`shifts.reduce((sum, [value]) => sum + value, 0) < 0.05 ? '' : JSON.stringify(shifts)`, ""))
			value[any](t, ctx, `page.drawn()`)
			// A browser counts no shift where the element replaces the rows of the first answer. More rows may follow them.
			require.Contains(t, value[string](t, ctx, `page.placesOfRows()`), strings.TrimSuffix(first, "]"))
		})
	}
}

// A number tells no time, so links to numbered periods do. They have their room before they come. Cards have the number
// alone, beside the time that is left.
func TestLinksToNumberedPeriodsTellTheTime(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {quick: {kind: star, period: 1s, keep: 100, base: "2026-01-01T00:00:00Z"}}`)
	period := periodOf(p, "quick", `{"member":"m0001","score":30}`)
	n, err := strconv.Atoi(period)
	require.NoError(t, err)
	want := time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC).Format("3:04:05 PM")
	link := `document.querySelector('#periods a[title="` + period + `"]')`
	const height = `String(document.querySelector('#periods').offsetHeight)`
	addr, release := slowLine(t, p.Addr)
	ctx := window(t, 1280, 900)
	do(t, ctx, timeZone("Asia/Shanghai"),
		navigateWithoutLoad("http://"+addr+"/boards/quick@"+period),
		holds(`page.painted()`))
	before := value[string](t, ctx, height)
	release()
	// The element says that it shows a result before it says, in the same frame, that its list is final.
	do(t, ctx, becomes(link+`?.textContent.replace(/\s/, ' ').replace(/^.*, /, '')`, want), becomes(height, before))
	do(t, ctx, chromedp.Navigate("http://"+addr+"/"), holds(`/^[\d:]+\s[AP]M$/.test(document.querySelector('.card-period').textContent)`))
}

// shift is the cumulative layout shift of a page.
func shift(t *testing.T, ctx context.Context) float64 {
	t.Helper()
	return value[float64](t, ctx, `page.layoutShift()`)
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
		"/":                       `String(page.answered('/v1/overview'))`,
		"/boards/fans:%7Bstar%7D": `String(page.answered('%7D/overview'))`,
		"/boards/nope":            `String(document.readyState === 'complete')`,
	}
	for path, ready := range loaded {
		for _, size := range [][2]int{{390, 844}, {1280, 900}} {
			t.Run(fmt.Sprintf("%s at %d", path, size[0]), func(t *testing.T) {
				t.Parallel()
				addr, release := slowLine(t, p.Addr)
				ctx := window(t, size[0], size[1])
				do(t, ctx, navigateWithoutLoad("http://"+addr+path),
					holds(`page.painted() && document.querySelector('h1').textContent !== ''`))
				release()
				do(t, ctx, becomes(ready, "true"))
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
	do(t, ctx, visit(p, "/"),
		holds(`document.querySelectorAll('.card[data-skeleton]').length > 0`),
		becomes(`document.querySelector('#overview-note').textContent`, "The server can’t list its boards now. Trying again…"))
	r.Start()
	do(t, ctx,
		becomes(`document.querySelectorAll('.card:not([data-skeleton])').length + ' ' + document.querySelectorAll('.card[data-skeleton]').length`,
			"3 0"),
		becomes(`document.querySelector('#overview-note').textContent`, "3 boards"))
	require.Less(t, shift(t, ctx), 0.05)
}

// All cards show when the server is away, and when it is back. Nothing moves.
func TestCardsShowWhenTheServerIsAway(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, calmFront)
	addToAna(p, "stars", 3)
	addToAna(p, "fans:s1", 3)
	const places = `JSON.stringify(page.all('.card')
		.map(card => [card.getBoundingClientRect().y, card.getBoundingClientRect().height]))`
	for path, parts := range map[string]struct{ list, note, calm string }{
		"/": {"#cards", "#overview-note", "3 boards"}, "/boards/fans:%7Bstar%7D": {"#instances", "#instances-note", "1 board"},
	} {
		for _, width := range []int{390, 1280} {
			ctx := window(t, width, 900)
			note := fmt.Sprintf(`document.querySelector(%q).textContent.replace(/\d+:\d\d:\d\d.[AP]M/, '…')`, parts.note)
			stale := fmt.Sprintf(`String(document.querySelector(%q).hasAttribute('data-stale'))`, parts.list)
			var before, away string
			require.NoError(t, chromedp.Do(ctx, visit(p, path), becomes(note, parts.calm),
				holds(`page.answered('/overview')`),
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
