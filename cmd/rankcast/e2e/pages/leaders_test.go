//go:build !race

package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// On a board's page and in a frame, the row of the present leader is larger than the others. Its name begins where the other
// names begin.
func TestLeaderHasALargerRow(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	define(t, p)
	const leading = `(([first, ...others]) => first.dataset.member + ' ' + first.offsetHeight + ' '
		+ new Set(others.map(row => row.offsetHeight)).size + ' ' + others[0].offsetHeight)(
		[...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[part~=row]')])`
	const begins = `String(new Set([...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[part=member]')]
		.map(name => Math.round(name.getBoundingClientRect().left))).size)`
	board, frame := window(t, 800, 900), window(t, 400, 600)
	open(t, board, p.Addr, "/boards/stars", 800, 900, "light", "en")
	open(t, frame, p.Addr, "/embed/stars", 400, 600, "light", "en")
	require.NoError(t, chromedp.Do(board, becomes(leading, "m0 64 1 46")))
	require.NoError(t, chromedp.Do(frame, becomes(leading, "m0 56 1 46")))
	p.Post("stars", `{"member":"m5","score":10}`)
	require.NoError(t, chromedp.Do(board, becomes(leading, "m5 64 1 46"), becomes(begins, "1")))
	require.NoError(t, chromedp.Do(frame, becomes(leading, "m5 56 1 46"), becomes(begins, "1")))
}

// A line below each row shows its share of the leader's score, and moves with the scores. A share of a time, or of a
// list where the least leads, says nothing: these have no lines.
func TestRowsShowTheirShareOfTheLeadersScore(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t,
		`boards: {points: {mode: last}, laps: {mode: last, display: {format: time_ms}}, golf: {mode: last, order: asc}, debts: {mode: last}}`)
	for _, board := range []string{"points", "laps", "golf"} {
		p.Post(board, `{"updates":[{"member":"ana","score":200},{"member":"eli","score":50},{"member":"bo","score":-20}]}`)
	}
	p.Post("debts", `{"updates":[{"member":"ana","score":-1},{"member":"eli","score":-9}]}`)
	const lines = `[...(board => (board.shadowRoot ?? board).querySelectorAll(board.shadowRoot ? '[part~=row]'
		: 'tbody tr'))(document.querySelector('live-leaderboard'))]
		.map(row => (style => style.backgroundImage === 'none' ? 'none' : style.backgroundSize)(getComputedStyle(row))).join()`
	ctx := window(t, 1000, 800)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/boards/points"), shows("ana", "eli", "bo"),
		becomes(lines, "100% 2px,25% 2px,0% 2px")))
	p.Post("points", `{"member":"eli","score":100}`)
	require.NoError(t, chromedp.Do(ctx, becomes(lines, "100% 2px,50% 2px,0% 2px")))
	p.Post("points", `{"member":"ana","score":125}`)
	require.NoError(t, chromedp.Do(ctx, becomes(lines, "100% 2px,80% 2px,0% 2px")))
	for board, members := range map[string]string{"laps": "ana eli bo", "golf": "bo eli ana", "debts": "ana eli"} {
		look(t, ctx, p.Addr, "/boards/"+board, 1000, 800, "light", "en")
		require.NoError(t, chromedp.Do(ctx, becomes(rows+".join(' ')", members)))
		is, err := chromedp.Run(ctx, chromedp.Evaluate[string](lines))
		require.NoError(t, err)
		require.Regexp(t, "^none(,none)+$", is, board)
	}
}

// A followed row has as much room above the name as below the gap.
func TestFollowedRowIsBalanced(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	define(t, p)
	const balanced = `(row => (([row, name, gap]) => String(Math.abs(name.top - row.top - row.bottom + gap.bottom) < 2))(
		[row, row.querySelector('bdi, [part=member]'), row.querySelector('small, [part=gap]')].map(e => e.getBoundingClientRect())))(
		(board => (board.shadowRoot ?? board).querySelector('.first-me, [part~=me]'))(document.querySelector('live-leaderboard')))`
	for _, path := range []string{"/boards/stars?me=m3", "/embed/stars?me=m3"} {
		addr, release := slowLine(t, p.Addr)
		ctx := window(t, 1000, 800)
		require.NoError(t, chromedp.Do(ctx, navigateWithoutLoad("http://"+addr+path),
			becomes(`String(document.querySelectorAll('.first-me').length)`, "1"), becomes(balanced, "true")))
		release()
		require.NoError(t, chromedp.Do(ctx, becomes(`String(document.querySelectorAll('.first-me').length)`, "0"), becomes(balanced, "true")))
	}
}

// A moment stands in the header of the list, also above the first rows: nothing moves when it comes.
func TestMomentMovesNothing(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	define(t, p)
	const (
		places = `[...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[part=header], [part=list]')]
			.map(e => e.getBoundingClientRect().bottom).join(' ')`
		moment = `(([header, moment]) => moment.textContent + (([header, moment]) => moment.top >= header.top
			&& moment.bottom <= header.bottom + 1)([header, moment].map(e => e.getBoundingClientRect())))(
			[...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[part=header], [part=moment]')])`
	)
	for i, width := range []int{390, 1280} {
		ctx := window(t, width, 900)
		open(t, ctx, p.Addr, "/boards/stars", width, 900, "light", "en")
		var before, after string
		require.NoError(t, chromedp.Do(ctx, becomes(`String(document.querySelector("live-leaderboard").dataset.state)`, "live"),
			evaluate(places, &before)))
		p.Post("stars", fmt.Sprintf(`{"member":"m%d","score":%d}`, i+8, (i+1)*10_000))
		require.NoError(t, chromedp.Do(ctx, becomes(moment, []string{"m8 passed Mia Torres for No. 1true",
			"m9 passed m8 for No. 1true"}[i]), evaluate(places, &after)))
		require.Equal(t, before, after)
	}
}
