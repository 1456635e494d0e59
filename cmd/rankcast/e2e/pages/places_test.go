//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/embedded"
	"rankcast/ranking/redistest"
)

// The mark of a move and a gain have places of their own: they cover neither the portrait nor a text, on wide and narrow pages.
func TestMarksAndGainsHaveAPlace(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, starFlowers[:strings.Index(starFlowers, "\nevents:")]+`
  points: {}
  laps:   {mode: best, order: asc, display: {format: time_ms}}
`+giftEvent)
	const members = 12
	for i := range members {
		give(p, fmt.Sprintf("s%02d", i), "ann", 20-i)
		p.Post("points", fmt.Sprintf(`{"member":"member-%02d","score":%d}`, i, 1000-i))
		p.Post("laps", fmt.Sprintf(`{"member":"member-%02d","score":%d}`, i, 600_000+i))
	}
	ctx := window(t, 1280, 900)
	for i, c := range []struct {
		path, name    string
		width, height int64
		marks, gains  bool
	}{
		{"/boards/points?top=25&lang=en", "points", 1280, 900, true, true},
		{"/boards/points?top=25&me=member-05&lang=en", "points", 390, 844, true, true},
		{"/boards/points?top=25&lang=en", "points", 300, 844, false, true},
		{"/boards/laps?top=25&me=member-05&lang=en", "laps", 390, 844, true, true},
		{"/boards/laps?top=25&me=member-05&lang=en", "laps", 300, 844, false, true},
		{"/overlay/laps?top=20&me=member-05&lang=en&pace=0", "laps", 400, 300, true, true},
		{"/overlay/points?top=12&lang=en&pace=0", "points", 400, 300, true, true},
		{"/overlay/points?top=12&theme=light&lang=en&pace=0", "points", 800, 600, true, true},
		{"/overlay/points?top=12&theme=clear&lang=en&pace=0", "points", 500, 300, true, true},
		{"/show/gift?lang=en", "stars", 1280, 900, true, true},
		// The podium of phones has the gain at the foot of the portrait.
		{"/show/gift?lang=en", "stars", 390, 844, true, false},
	} {
		require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(c.width, c.height), chromedp.Navigate("http://"+p.Addr+c.path),
			becomes(`(board => board.dataset.state
				+ (board.shadowRoot.querySelector('[part=list]').childElementCount > 3))(
				document.querySelector('#star-board') ?? page.board())`, "livetrue")), c)
		// The first list is drawn: it is what the next one is compared with.
		value[any](t, ctx, `page.drawn()`)
		switch last, leads := members-1-i, i+1; c.name { // the last member takes the lead
		case "stars":
			give(p, fmt.Sprintf("s%02d", last), "ann", 100*leads)
		case "points":
			p.Post("points", fmt.Sprintf(`{"member":"member-%02d","score":%d}`, last, 10_000*leads))
		case "laps":
			p.Post("laps", fmt.Sprintf(`{"member":"member-%02d","score":%d}`, last, 500_000-20_000*leads))
		}
		assert.NoError(t, chromedp.Do(ctx, becomes(fmt.Sprintf("page.collisions(%t, %t)", c.marks, c.gains), "")), c)
	}
}

// The code of Share gives a frame the height of its page, and what an overlay shows besides its rows covers none of them.
func TestFramesAndOverlaysHaveRoom(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t,
		`boards: {points: {}, laps: {mode: best, order: asc, display: {format: time_ms}}, days: {period: day, timezone: Asia/Shanghai}}`)
	for _, board := range []string{"points", "laps", "days"} {
		fill(t, p, board, 30)
	}
	const live = `page.state()`
	ctx := window(t, 1280, 2000)
	for _, c := range []struct{ board, query string }{{"points", "top=10"}, {"points", "top=25"}, {"laps", "top=5"}, {"days", "top=10"}} {
		require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(1280, 2000),
			chromedp.Navigate("http://"+p.Addr+"/boards/"+c.board+"?lang=en&"+c.query), becomes(live, "live")), c)
		frame, err := chromedp.Run(ctx, chromedp.Evaluate[struct {
			Address      string
			Height       int64
			Before, Then float64 // where the button of Share ends, px
		}](`(button => {
			const end = () => button.getBoundingClientRect().right, Before = end();
			button.click();
			const frame = new DOMParser().parseFromString(document.querySelector('#share-frame').textContent, 'text/html').querySelector('iframe');
			return {Address: frame.src, Height: Number(frame.height), Before, Then: end()};
		})(document.querySelector('#share'))`))
		require.NoError(t, err, c)
		assert.Equal(t, frame.Before, frame.Then, "a dialog moves nothing of the page")
		for more, me := range map[int64]string{0: "", 54: "&me=m0029"} {
			assert.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(480, frame.Height+more), chromedp.Navigate(frame.Address+me),
				becomes(live, "live"),
				becomes(`(e => e.scrollHeight > innerHeight ? e.scrollHeight + ' px' : 'fits')(document.documentElement)`, "fits")), "%v %s", c, me)
		}
	}
	// The last seconds of a period are in a bar below the rows.
	assert.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(400, 300), overlay(p, "days", "top=20"), becomes(live, "live"),
		script(`var root = page.root(), bar = root.querySelector('[part=countdown]')`),
		// Shown anew at each look: a frame that comes hides it.
		becomes(`(() => {
			bar.textContent = '9';
			bar.hidden = false;
			const seconds = bar.getBoundingClientRect();
			const rows = [...root.querySelectorAll('[part=list] > [part~=row]')].map(row => row.getBoundingClientRect());
			return rows.filter(row => row.bottom > seconds.top + 0.5).length + (seconds.bottom > innerHeight ? ' out of view' : '');
		})()`, "0"),
		holds(`root.querySelector('[part=list]').childElementCount > 5`),
	))
	// The outline of a text is half as wide outside the letters as in all. Nothing cuts it.
	for _, c := range []struct{ mode, part, sides string }{
		{"list", "member", "'Top', 'Right', 'Bottom', 'Left'"}, {"compact", "score", "'Top', 'Right', 'Bottom', 'Left'"},
		{"list", "gap", "'Right', 'Left'"}, {"me", "figures", "'Right', 'Left'"}, // a line of their own height
	} {
		assert.NoError(t, chromedp.Do(ctx, overlay(p, "days", "theme=clear&me=m0005&mode="+c.mode), becomes(live, "live"),
			becomes(fmt.Sprintf(`(text => {
				const style = getComputedStyle(text), outside = parseFloat(style.webkitTextStrokeWidth) / 2;
				const least = Math.min(...[%s].map(side => parseFloat(style['padding' + side])));
				return outside > 0 && least >= outside
					&& (text.part.value !== 'member' || getComputedStyle(text.parentElement).overflow === 'visible') ? 'whole'
						: [outside, least].join(' ');
			})(page.root().querySelector('[part~=me] [part=%s]'))`, c.sides, c.part), "whole")), c)
	}
}

// The sparklines of a board have one scale. Better is up, also where less is better, and no line ends in an edge.
func TestSparklinesCompare(t *testing.T) {
	t.Parallel()
	redis, err := embedded.Start()
	require.NoError(t, err)
	t.Cleanup(redis.Close)
	begin := time.Now().Add(-4 * time.Minute).Truncate(time.Second)
	redis.SetClock(begin)
	rdb := redistest.Dial(t, redis.URL())
	store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	require.NoError(t, store.Define(t.Context(), definition.Set{Boards: []definition.Board{
		{Name: "points", History: 10 * time.Second}, {Name: "laps", Mode: definition.Best, Order: definition.Asc, History: 10 * time.Second}}}))
	for i, step := range []struct{ points, laps []definition.Update }{
		{[]definition.Update{{Member: "ann", Score: 500}, {Member: "bob", Score: 400}},
			[]definition.Update{{Member: "ann", Score: 80_000}, {Member: "bob", Score: 90_000}}},
		{[]definition.Update{{Member: "ann", Score: 500}, {Member: "bob", Score: 1}}, []definition.Update{{Member: "bob", Score: 70_000}}},
		{[]definition.Update{{Member: "ann", Score: 1}}, []definition.Update{{Member: "ann", Score: 79_999}}},
	} {
		redis.SetClock(begin.Add(time.Duration(i) * time.Minute))
		for board, updates := range map[string][]definition.Update{"points": step.points, "laps": step.laps} {
			_, err := store.Apply(t.Context(), board, updates)
			require.NoError(t, err)
			require.NoError(t, store.RecordHistory(t.Context(), board))
		}
	}
	store.Close()
	redis.ResetClock()
	p := e2etest.Launch(t, "--redis", redis.URL())
	ctx := window(t, 1280, 900)
	assert.NoError(t, chromedp.Do(ctx, visit(p, "/boards/points"), becomes(`page.sparklines()`, "ann 34, bob 0")))
	assert.NoError(t, chromedp.Do(ctx, visit(p, "/boards/laps"), becomes(`page.sparklines()`, "bob 34, ann 0"),
		script(`var line = '';
			import('/assets/dashboard/sparkline.js').then(({Sparkline}) => {
				const drawing = new Sparkline();
				drawing.render([{at: 0, value: 1}, {at: 5, value: 2}, {at: 10, value: 9}], 10);
				line = drawing.element.querySelector('.line').getAttribute('d');
			})`),
		becomes(`String(/H240(\.0)?V/.test(line)) + /H120.0V/.test(line)`, "falsetrue")))
	// The chart beside the board agrees with the line in the row.
	p.Update("laps", `{"member":"bob","score":60000}`)
	assert.NoError(t, chromedp.Do(ctx, becomes(`page.course()`, "bob -10,000 higher")))
}
