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
)

const (
	listed      = `String(` + rows + `.length)`
	shownButton = `[...document.querySelectorAll('#jump, #more-rows, #end-of-rows')].filter(part => part.checkVisibility())
		.map(part => part.textContent).join(' | ')`
	// ownInSight is an expression for where the followed member's row is.
	ownInSight = `(({top, bottom}) => top >= 0 && bottom <= innerHeight ? 'in sight'
		: 'out of sight')(document.querySelector('live-leaderboard').shadowRoot.querySelector('[aria-current]').getBoundingClientRect())`
)

// watchScroll lets scrollEnds see a page's scrolls.
var watchScroll = script(`var scroll; addEventListener('scroll', () => scroll = 'under way');
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
		require.Equal(t, 200, p.Post(board, `{"updates":[`+strings.Join(updates, ",")+`]}`).Status)
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
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/boards/stars?top=5"), becomes(listed, "5"), becomes(shownButton, "Show 40 more"),
		click("#more-rows"), becomes(listed, "45"), becomes(shownButton, "Show 45 more"),
		bottom, becomes(listed, "90"), bottom, becomes(listed, "150"),
		becomes(shownButton, "The list shows the first 150 of 160 members. The search finds all others."),
		// The address keeps the number that the reader has chosen, and another choice begins anew.
		becomes(`location.search`, "?top=5"),
	))
	require.Equal(t, 200, p.Post("stars", `{"member":"m0160","score":5000}`).Status)
	require.NoError(t, chromedp.Do(ctx, becomes(rows+`[0]`, "m0160"),
		script(`document.querySelector('#top').value = '10'; document.querySelector('#top').dispatchEvent(new Event('change'))`),
		becomes(listed, "10"), becomes(shownButton, "Show 40 more"),
		// The end of the list may be in sight from the beginning.
		chromedp.EmulateViewport(1280, 860),
		script(`var scrolled = false; addEventListener('scroll', () => scrolled = scrollY === 0, {once: true}); scrollTo(0, 0)`),
		becomes(`String(scrolled)`, "true"),
		becomes(shownButton, "Show 40 more"), script(`scrollTo(0, 20)`), becomes(listed, "50"),
	))
	// All of a short board is there at once.
	fill(t, p, "short", 10)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/boards/short"), becomes(listed, "10"), becomes(shownButton, "")))
}

// A reader comes to the followed member's row with one tap: from elsewhere in the list, and from below it, as far as a list
// reaches.
func TestReaderJumpsToTheFollowedRow(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--max-top", "150")
	fill(t, p, "stars", 160)
	below := `(button => button.checkVisibility() ? button.textContent : '')(document.querySelector('#jump-to'))`
	for _, motion := range []string{"no-preference", "reduce"} {
		ctx := ownWindow(t, 390, 844)
		require.NoError(t, chromedp.Do(ctx, media("prefers-reduced-motion", motion),
			chromedp.Navigate("http://"+p.Addr+"/boards/stars?me=m0100"), becomes(listed, "10"),
			follows("below: 100 m0100 1 to next 9,900"), becomes(shownButton, "Show 40 more"), becomes(below, "Jump to No. 100"),
			watchScroll, script(`var smooth = [];
				Element.prototype.scrollIntoView = (scroll => function (options) { smooth.push(options.behavior);
					scroll.call(this, options); })(Element.prototype.scrollIntoView)`),
			click("#jump-to"), follows("listed: 100 m0100 1 to next 9,900"), becomes(ownInSight, "in sight"), becomes(below, ""),
			becomes(`smooth.join()`, map[string]string{"no-preference": "smooth", "reduce": "auto"}[motion]),
			becomes(`String(scrollY > 2000)`, "true"), scrollEnds,
			script(`scrollTo(0, 0)`), becomes(ownInSight, "out of sight"),
			becomes(`document.querySelector('#jump').checkVisibility() && document.querySelector('#jump').textContent`, "Jump to No. 100"),
			click("#jump"), becomes(ownInSight, "in sight"), becomes(`String(document.querySelector('#jump').checkVisibility())`, "false"),
			// A list does not reach the last ones: their row is below it, with their neighbours.
			chromedp.Navigate("http://"+p.Addr+"/boards/stars?me=m0155"), follows("below: 155 m0155 1 to next 9,845"), becomes(below, ""),
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
	require.NoError(t, chromedp.Do(ownWindow(t, 1280, 900),
		chromedp.Navigate("http://"+p.Addr+"/boards/stars?top=5&me=m0100"), becomes(shownButton, "Show 40 more"), watchScroll,
		press("more-rows"), becomes(listed, "45"), becomes(focused, "m0006"),
		press("jump-to"), becomes(ownInSight, "in sight"), becomes(focused, "m0100"), scrollEnds,
		script(`scrollTo(0, 0)`), becomes(ownInSight, "out of sight"),
		becomes(`String(document.querySelector('#jump').checkVisibility())`, "true"),
		press("jump"), becomes(focused, "m0100"),
		press("unfollow"), becomes(urlMe, "none"), becomes(focused, "find-input"),
	))
}

// If the member falls below the list while the list grows for it, the reader can press again, and nothing scrolls later.
func TestJumpEndsWhenTheMemberFalls(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	fill(t, p, "stars", 3)
	require.NoError(t, chromedp.Do(window(t, 1280, 900), chromedp.Navigate("http://"+p.Addr+"/boards/stars"), shows("m0001", "m0002", "m0003"),
		script(`var board, list, row, below, jump, scrolls = 0, update = (rank, listed) =>
			jump.update({me: {rank}, snapshot: {top: Array.from({length: listed}, () => ({})), total: 160}});
			import('/assets/dashboard/jump.js').then(({Jump}) => {
				[board, list, row, below] = ['div', 'ol', 'li', 'button'].map(name => document.createElement(name));
				board.setAttribute('me', 'ann');
				row.setAttribute('part', 'row me');
				row.dataset.below = '';
				row.scrollIntoView = () => scrolls++;
				list.setAttribute('part', 'list');
				list.append(row);
				board.attachShadow({mode: 'open'}).append(list);
				jump = new Jump(board, {floating: document.createElement('button'), below}, {limit: 150, shown: 110, growTo() {}});
				update(100, 10);
				below.click();
			})`),
		becomes(`String(below.hidden)`, "true"),
		script(`update(111, 10)`), becomes(`String(below.hidden)`, "true"), // the list has not grown yet
		script(`update(112, 110)`), becomes(`below.hidden + below.textContent`, "falseJump to No. 112"),
		script(`delete row.dataset.below; update(90, 110)`), becomes(`String(scrolls)`, "0"),
	))
}

// media is an action that sets a media feature, such as prefers-reduced-motion.
func media(name, value string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		return chromedp.Void{}, e2etest.Call(ctx, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}})
	}
}
