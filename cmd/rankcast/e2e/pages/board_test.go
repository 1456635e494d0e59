//go:build !race

package pages

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

func TestPageMovesByItself(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.Launch(t, "--redis", r.URL())
	p.Update("stars", e2etest.Scores("ann", 30, "bob", 20, "cid", 10))
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/stars"),
		shows("ann", "bob", "cid"),
		// Noted on the page, so that a reload would lose it.
		step(t, "watch-states"),
		state("live"),
	)

	p.Update("stars", `{"member":"cid","score":100}`)
	do(t, ctx, shows("cid", "ann", "bob"))
	const sameRow = `row === board.shadowRoot.querySelector('[data-member=cid]')`
	require.True(t, value[bool](t, ctx, sameRow), "a row that moves is the same row, on the same page")

	// A name is text, whatever it looks like.
	p.Update("stars", `{"member":"<img src=x onerror=alert(1)>","score":50}`)
	do(t, ctx, shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob"))
	require.Zero(t, value[int](t, ctx, `board.shadowRoot.querySelectorAll('img:not([part=avatar])').length`))

	// Redis ends and comes back: the page says so, and keeps its rows.
	r.Kill()
	do(t, ctx, state("stale"), shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob"))
	r.Start()
	do(t, ctx, state("live"))

	// So does the server, at the same address.
	p.Kill()
	do(t, ctx, state("away"), shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob"))
	p = e2etest.Launch(t, "--redis", r.URL(), "--addr", p.Addr)
	do(t, ctx, state("live"))
	p.Update("stars", `{"member":"bob","score":1000}`)
	do(t, ctx, shows("bob", "cid", "<img src=x onerror=alert(1)>", "ann"))
	require.True(t, value[bool](t, ctx, sameRow), "all of this without a reload")
}

// The row of the followed member moves without a reload, also into the list and out of it.
func TestPageFollowsAMember(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.Launch(t, "--redis", r.URL())
	p.Update("stars", e2etest.Scores("ann", 70, "bob", 60, "cid", 50, "dan", 40, "eve", 30, "u4", 20, "fay", 10))
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/stars?top=5&me=u4"),
		shows("ann", "bob", "cid", "dan", "eve"),
		follows("below: 6 u4 10 to next 20"),
		// Noted on the page, so that a reload would lose it.
		step(t, "watch-followed-row"),
		state("live"),
	)
	post := func(member string, score int) {
		t.Helper()
		p.Update("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, member, score))
	}

	post("fay", 15) // 25
	do(t, ctx, follows("below: 7 u4 5 to next 20"), becomes(`root.querySelector('[role=status]').textContent`, "u4 is at rank 7."))
	post("u4", 1)
	do(t, ctx, follows("below: 7 u4 4 to next 21"))
	post("u4", 24)
	do(t, ctx, shows("ann", "bob", "cid", "u4", "dan"), follows("listed: 4 u4 5 to next 45"))
	post("cid", -5) // cid ties with u4, and reached the score later
	do(t, ctx, shows("ann", "bob", "u4", "cid", "dan"), follows("listed: 3 u4 15 to next 45"))
	post("dan", 100)
	post("eve", 100)
	do(t, ctx, shows("dan", "eve", "ann", "bob", "u4"), follows("listed: 5 u4 15 to next 45"))
	post("cid", 10)
	do(t, ctx, shows("dan", "eve", "ann", "bob", "cid"), follows("below: 6 u4 10 to next 45"))

	// The member leaves the board, and joins it again.
	p.Answers(200, "DELETE", "/v1/boards/stars/members/u4", "")
	do(t, ctx, follows("below: u4 has no score yet"))
	post("u4", 25)
	do(t, ctx, follows("below: 7 u4 level with the next 25"))

	// The server ends: the page keeps its rows. Another node takes updates meanwhile.
	p.Kill()
	do(t, ctx, state("away"), follows("below: 7 u4 level with the next 25"),
		chromedp.Evaluate[chromedp.Void](`sent.length = 0; null`))
	other := e2etest.Launch(t, "--redis", r.URL())
	other.Update("stars", `{"member":"fay","score":100}`)
	other.Update("stars", `{"member":"u4","score":1}`)
	p = e2etest.Launch(t, "--redis", r.URL(), "--addr", p.Addr)
	do(t, ctx, state("live"), shows("dan", "eve", "fay", "ann", "bob"), follows("below: 7 u4 29 to next 26"))
	resumed := value[string](t, ctx, `(({board, top, me, resume: {life, seq}}) => [board, top, me, life !== '', seq > 0]
			.join(' '))(sent.find(({type}) => type === 'subscribe'))`)
	require.Equal(t, "stars 5 u4 true true", resumed, "it offers what it holds")

	seen := value[string](t, ctx, `twice + ' twice, ' + heights.size + ' height'`)
	require.Equal(t, "0 twice, 1 height", seen, "a member has one row at any time, and nothing jumps")
}

// Elements on one page follow different members of one board. An element whose me is no valid id stops, and the others stay
// live.
func TestPageFollowsTwo(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	p.Update("stars", e2etest.Scores("ann", 60, "bob", 50, "cid", 40, "dan", 30, "eve", 20, "fay", 10))
	const all = `page.all('live-leaderboard').map(page.own).join(', ')`
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/stars?top=5&me=fay"),
		follows("below: 6 fay 10 to next 10"),
		chromedp.Evaluate[chromedp.Void](`for (const me of ['eve', 'fay', '', 'x'.repeat(129)]) {
			const board = document.createElement('live-leaderboard');
			for (const [name, value] of Object.entries({board: 'stars', top: '3', me})) board.setAttribute(name, value);
			document.body.append(board);
		} null`),
		becomes(all, "below: 6 fay 10 to next 10, below: 5 eve 10 to next 20, below: 6 fay 10 to next 10, , "),
		becomes(`page.all('live-leaderboard').map(board => board.dataset.state).join(' ')`, "live live live live stopped"),
		becomes(`page.all('live-leaderboard').at(-1).shadowRoot.querySelector('[part~=note]').textContent`,
			"me: has 129 bytes; want 1 to 128"),
	)
	p.Update("stars", `{"member":"fay","score":11}`)
	do(t, ctx, becomes(all, "listed: 5 fay 9 to next 21, below: 6 eve 1 to next 20, below: 5 fay 9 to next 21, , "))
}

const (
	listed      = `String(page.rows().length)`
	shownButton = `page.all('#jump, #more-rows, #end-of-rows').filter(part => part.checkVisibility())
		.map(part => part.textContent).join(' | ')`
	// ownInSight is an expression for where the followed member's row is.
	ownInSight = `(({top, bottom}) => top >= 0 && bottom <= innerHeight ? 'in sight'
		: 'out of sight')(page.root().querySelector('[aria-current]').getBoundingClientRect())`
)

// watchScroll lets scrollEnds see a page's scrolls.
var watchScroll = script(`var scroll;
	addEventListener('scroll', () => scroll = 'under way');
	addEventListener('scrollend', () => scroll = 'at its end')`)

// scrollEnds waits until a scroll that has begun is at its end. While a smooth one is under way, scrollTo only changes where it
// ends.
var scrollEnds = becomes(`scroll`, "at its end")

// fill gives a board members m0001, m0002, …, by rank.
func fill(t *testing.T, p *e2etest.Process, board string, members int) {
	t.Helper()
	for from := 1; from <= members; from += 500 {
		var updates []string
		for i := from; i < min(from+500, members+1); i++ {
			updates = append(updates, fmt.Sprintf(`{"member":"m%04d","score":%d}`, i, 10_000-i))
		}
		p.Update(board, `{"updates":[`+strings.Join(updates, ",")+`]}`)
	}
}

// A list grows as the reader scrolls to its end, stays live, and says where it ends. A reader who does not scroll has a
// button.
func TestListGrowsAsTheReaderScrolls(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {stars: {}, short: {}}`, "--max-top", "150")
	fill(t, p, "stars", 160)
	ctx := window(t, 1280, 900)
	bottom := script(`scrollTo(0, document.documentElement.scrollHeight)`)
	do(t, ctx,
		visit(p, "/boards/stars?top=5"), becomes(listed, "5"), becomes(shownButton, "Show 40 more"),
		click("#more-rows"), becomes(listed, "45"), becomes(shownButton, "Show 45 more"),
		bottom, becomes(listed, "90"), bottom, becomes(listed, "150"),
		becomes(shownButton, "The list shows the first 150 of 160 members. The search finds all others."),
		// The address keeps the number that the reader has chosen, and another choice begins anew.
		becomes(`location.search`, "?top=5"),
	)
	p.Update("stars", `{"member":"m0160","score":5000}`)
	do(t, ctx, becomes(`page.rows()[0]`, "m0160"),
		script(`document.querySelector('#top').value = '10'; document.querySelector('#top').dispatchEvent(new Event('change'))`),
		becomes(listed, "10"), becomes(shownButton, "Show 40 more"),
		// The end of the list may be in sight from the beginning.
		chromedp.EmulateViewport(1280, 860),
		script(`var scrolled = false; addEventListener('scroll', () => scrolled = scrollY === 0, {once: true}); scrollTo(0, 0)`),
		holds(`scrolled`),
		becomes(shownButton, "Show 40 more"), script(`scrollTo(0, 20)`), becomes(listed, "50"),
	)
	// All of a short board is there at once.
	fill(t, p, "short", 10)
	do(t, ctx, visit(p, "/boards/short"), becomes(listed, "10"), becomes(shownButton, ""))
}

// One tap brings the reader to the followed member's row: elsewhere in the list, or below it, as far as a list reaches.
func TestReaderJumpsToTheFollowedRow(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--max-top", "150")
	fill(t, p, "stars", 160)
	below := `(button => button.checkVisibility() ? button.textContent : '')(document.querySelector('#jump-to'))`
	for _, motion := range []string{"no-preference", "reduce"} {
		ctx := ownWindow(t, 390, 844)
		require.NoError(t, chromedp.Do(ctx, media("prefers-reduced-motion", motion),
			visit(p, "/boards/stars?me=m0100"), becomes(listed, "10"),
			follows("below: 100 m0100 1 to next 9,900"), becomes(shownButton, "Show 40 more"), becomes(below, "Jump to No. 100"),
			watchScroll, script(`var smooth = [];
				Element.prototype.scrollIntoView = (scroll => function (options) {
					smooth.push(options.behavior);
					scroll.call(this, options);
				})(Element.prototype.scrollIntoView)`),
			click("#jump-to"), follows("listed: 100 m0100 1 to next 9,900"), becomes(ownInSight, "in sight"), becomes(below, ""),
			becomes(`smooth.join()`, map[string]string{"no-preference": "smooth", "reduce": "auto"}[motion]),
			holds(`scrollY > 2000`), scrollEnds,
			script(`scrollTo(0, 0)`), becomes(ownInSight, "out of sight"),
			becomes(`document.querySelector('#jump').checkVisibility() && document.querySelector('#jump').textContent`, "Jump to No. 100"),
			click("#jump"), becomes(ownInSight, "in sight"), becomes(`String(document.querySelector('#jump').checkVisibility())`, "false"),
			// A list does not reach the last ones: their row is below it, with their neighbours.
			visit(p, "/boards/stars?me=m0155"), follows("below: 155 m0155 1 to next 9,845"), becomes(below, ""),
		), motion)
	}
}

// A button that hides when it is pressed leaves the focus where a reader with a keyboard goes on.
func TestFocusIsNotLostWithTheButton(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--max-top", "150")
	fill(t, p, "stars", 160)
	const focused = `(at => at.shadowRoot?.activeElement?.closest('[data-member]').dataset.member ?? at.id)(document.activeElement)`
	press := func(id string) chromedp.Action[chromedp.Void] {
		return typeInto("#"+id, kb.Enter)
	}
	do(t, ownWindow(t, 1280, 900),
		visit(p, "/boards/stars?top=5&me=m0100"), becomes(shownButton, "Show 40 more"), watchScroll,
		press("more-rows"), becomes(listed, "45"), becomes(focused, "m0006"),
		press("jump-to"), becomes(ownInSight, "in sight"), becomes(focused, "m0100"), scrollEnds,
		script(`scrollTo(0, 0)`), becomes(ownInSight, "out of sight"),
		holds(`document.querySelector('#jump').checkVisibility()`),
		press("jump"), becomes(focused, "m0100"),
		press("unfollow"), becomes(urlMe, "none"), becomes(focused, "find-input"),
	)
}

// If the member falls below the list while the list grows for it, the reader can press again, and nothing scrolls later.
func TestJumpEndsWhenTheMemberFalls(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	fill(t, p, "stars", 3)
	do(t, window(t, 1280, 900), visit(p, "/boards/stars"), shows("m0001", "m0002", "m0003"),
		step(t, "jump-alone"),
		holds(`below.hidden`),
		script(`update(111, 10)`), holds(`below.hidden`), // the list has not grown yet
		script(`update(112, 110)`), becomes(`below.hidden + below.textContent`, "falseJump to No. 112"),
		script(`delete row.dataset.below; update(90, 110)`), becomes(`String(scrolls)`, "0"),
	)
}

// media is an action that sets a media feature, such as prefers-reduced-motion.
func media(name, value string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		return chromedp.Void{}, e2etest.Call(ctx, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}})
	}
}

// On a board's page and in a frame, the row of the present leader is larger than the others. Its name begins where the other
// names begin.
func TestLeaderHasALargerRow(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	define(t, p)
	const begins = `String(new Set(page.all('[part=member]', page.root())
		.map(name => Math.round(name.getBoundingClientRect().left))).size)`
	board, frame := window(t, 800, 900), window(t, 400, 600)
	open(t, board, p.Addr, "/boards/stars", 800, 900, "light", "en")
	open(t, frame, p.Addr, "/embed/stars", 400, 600, "light", "en")
	do(t, board, becomes(`page.leading()`, "m0 64 1 46"))
	do(t, frame, becomes(`page.leading()`, "m0 56 1 46"))
	p.Post("stars", `{"member":"m5","score":10}`)
	do(t, board, becomes(`page.leading()`, "m5 64 1 46"), becomes(begins, "1"))
	do(t, frame, becomes(`page.leading()`, "m5 56 1 46"), becomes(begins, "1"))
}

// A line below each row shows its share of the leader's score, and moves with the scores. A share of a time, or of a
// list where the least leads, says nothing: these have no lines.
func TestRowsShowTheirShareOfTheLeadersScore(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t,
		`boards: {points: {mode: last}, laps: {mode: last, display: {format: time_ms}}, golf: {mode: last, order: asc}, debts: {mode: last}}`)
	for _, board := range []string{"points", "laps", "golf"} {
		p.Post(board, e2etest.Scores("ana", 200, "eli", 50, "bo", -20))
	}
	p.Post("debts", e2etest.Scores("ana", -1, "eli", -9))
	const lines = `page.shareLines()`
	ctx := window(t, 1000, 800)
	do(t, ctx, visit(p, "/boards/points"), shows("ana", "eli", "bo"), becomes(`page.shareLines()`, "100% 2px,25% 2px,0% 2px"))
	p.Post("points", `{"member":"eli","score":100}`)
	do(t, ctx, becomes(`page.shareLines()`, "100% 2px,50% 2px,0% 2px"))
	p.Post("points", `{"member":"ana","score":125}`)
	do(t, ctx, becomes(`page.shareLines()`, "100% 2px,80% 2px,0% 2px"))
	for board, members := range map[string]string{"laps": "ana eli bo", "golf": "bo eli ana", "debts": "ana eli"} {
		look(t, ctx, p.Addr, "/boards/"+board, 1000, 800, "light", "en")
		do(t, ctx, becomes(`page.rows().join(' ')`, members))
		require.Regexp(t, "^none(,none)+$", value[string](t, ctx, lines), board)
	}
}

// A followed row has as much room above the name as below the gap.
func TestFollowedRowIsBalanced(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	define(t, p)
	for _, path := range []string{"/boards/stars?me=m3", "/embed/stars?me=m3"} {
		addr, release := slowLine(t, p.Addr)
		ctx := window(t, 1000, 800)
		do(t, ctx, navigateWithoutLoad("http://"+addr+path),
			becomes(`page.count('.first-me')`, "1"), becomes(`page.followedRowIsBalanced()`, "true"))
		release()
		do(t, ctx, becomes(`page.count('.first-me')`, "0"), becomes(`page.followedRowIsBalanced()`, "true"))
	}
}

// A moment stands in the header of the list, also above the first rows: nothing moves when it comes.
func TestMomentMovesNothing(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	define(t, p)
	const (
		places = `page.all('[part=header], [part=list]', page.root()).map(e => e.getBoundingClientRect().bottom).join(' ')`
	)
	for i, width := range []int{390, 1280} {
		ctx := window(t, width, 900)
		open(t, ctx, p.Addr, "/boards/stars", width, 900, "light", "en")
		do(t, ctx, becomes(`String(document.querySelector("live-leaderboard").dataset.state)`, "live"))
		before := value[string](t, ctx, places)
		p.Post("stars", fmt.Sprintf(`{"member":"m%d","score":%d}`, i+8, (i+1)*10_000))
		do(t, ctx, becomes(`page.moment()`, []string{"m8 passed Mia Torres for No. 1true",
			"m9 passed m8 for No. 1true"}[i]))
		after := value[string](t, ctx, places)
		require.Equal(t, before, after)
	}
}
