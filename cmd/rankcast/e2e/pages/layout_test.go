//go:build !race

package pages

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// hugeScores has boards whose scores are as long as they get.
const hugeScores = `
boards:
  huge:            {mode: last, kind: player, title: لوحة المتصدرين الطويلة جدا لكل اللاعبين في جميع البلدان والمدن,
                   display: {unit: flowers, decimals: 6}}
  plain:           {mode: last}
  stars:           {mode: last, kind: star}
  "fans:{star}":   {mode: last, kind: user}
  "fans3h:{star}": {window: 3h, kind: user}
` + giftEvent

// crowded is an expression for the faults of the visible rows among some rows, see page.crowded.
func crowded(rows, name, score string) string {
	return fmt.Sprintf(`page.crowded(%s, %q, %q)`, rows, name, score)
}

// screenSizes are the windows of pages, from the smallest phone to a wall. The front page fills those from 1600 x 960 px on.
var screenSizes = [][2]int64{{300, 900}, {390, 900}, {1280, 900}, {1600, 960}, {1920, 1080}, {2560, 1440}}

// fits opens a page, draws it at each size, and waits until it is ready, nothing is wrong with it, and then the rest.
func fits(t *testing.T, ctx context.Context, sizes [][2]int64, address, ready string, then ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(sizes[0][0], sizes[0][1]), chromedp.Navigate(address)), address)
	for _, size := range sizes {
		require.NoError(t, chromedp.Do(ctx, append([]chromedp.Action[chromedp.Void]{resize(size[0], size[1]),
			becomes(ready, "true"), becomes(`page.misfits()`, "")}, then...)...), "%s at %d",
			address, size[0])
	}
}

// However long names and scores are, each has room in its row, from a phone to a wall.
func TestRowsHaveRoomForNamesAndScores(t *testing.T) {
	t.Parallel()
	const most = 9_007_199_254_740_991
	p := e2etest.LaunchBoards(t, hugeScores)
	long := strings.Repeat("Wolfeschlegelsteinhausenbergerdorff ", 4)[:126]
	const arabic = "محمد عبد الرحمن بن خالد الأنصاري الطويل"
	for _, board := range []string{"huge", "plain", "stars", "fans:ann"} {
		var updates []string
		for i, m := range []string{long + "1", "ann", "很长的名字很长的名字很长的名字", arabic, strings.Repeat("W", 100), "bob"} {
			updates = append(updates, fmt.Sprintf(`{"member":%q,"score":%d}`, m, most-i))
		}
		updates = append(updates,
			fmt.Sprintf(`{"member":"cid","score":123456},{"member":"dan","score":%d},{"member":"%s2","score":%d}`, 1-most, long, -most))
		p.Update(board, `{"updates":[`+strings.Join(updates, ",")+`]}`)
	}
	// The part of each, whether from a template or not.
	boards := func(ids ...string) string {
		return fmt.Sprintf(`['%s'].flatMap(id => [...document.querySelector(id).shadowRoot.querySelectorAll('[data-member]')])
			.filter(row => row.checkVisibility())`, strings.Join(ids, "', '"))
	}
	const name, score = "[part=member]", "[part=score]"
	ctx := window(t, 1280, 900)
	atEach := func(sizes [][2]int64, path, ready string, then ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		fits(t, ctx, sizes, "http://"+p.Addr+path, ready, then...)
	}
	rowsOf := func(rows string, n int) string { return fmt.Sprintf(`String(%s.length >= %d)`, rows, n) }
	for _, board := range []string{"huge", "plain"} {
		// Shown in the board's own way, once the page knows it.
		unit := becomes(`String(`+boards("#leaderboard")+`[0]?.textContent.includes('flowers'))`, fmt.Sprint(board == "huge"))
		atEach(screenSizes, "/boards/"+board+"?me="+url.QueryEscape(arabic), rowsOf(boards("#leaderboard"), 8), unit,
			becomes(crowded(boards("#leaderboard"), name, score), ""))
	}
	atEach(screenSizes, "/embed/huge?me=dan", rowsOf(boards("live-leaderboard"), 8),
		becomes(crowded(boards("live-leaderboard"), name, score), ""))
	const cards = `page.all('.card-row').filter(row => row.checkVisibility())`
	atEach(screenSizes, "/", rowsOf(cards, 3), becomes(crowded(cards, ".card-member", ".card-score"), ""))
	atEach(screenSizes, "/show/gift?me=dan", rowsOf(boards("#star-board"), 8), becomes(crowded(boards("#star-board"), name, score), ""))
	atEach(screenSizes, "/show/gift/ann?me=dan", rowsOf(boards("#fans"), 8), becomes(crowded(boards("#fans"), name, score), ""),
		becomes(`(head => String(head.scrollWidth <= head.clientWidth))(document.querySelector('.star-head'))`, "true"))
	for _, query := range []string{"me=dan", "mode=compact&me=dan", "mode=me&me=dan", "mode=me&me=" + strings.Repeat("W", 100)} {
		rows := boards("live-leaderboard")
		atEach([][2]int64{{400, 300}, {200, 120}, {1280, 720}}, "/overlay/huge?"+query, rowsOf(rows, 1),
			holds(rows+`.every(row => row.textContent.includes('flowers'))`), becomes(crowded(rows, name, score), ""))
	}
	do(t, ctx, chromedp.EmulateViewport(390, 900), visit(p, "/boards/huge"),
		typeInto("#find-input", arabic[:len("محمد")]),
		becomes(`page.count('.found-name')`, "1"), becomes(`page.misfits()`, ""))
	// The change in the chart beside the board is long too.
	do(t, ctx, chromedp.EmulateViewport(1280, 900),
		chromedp.Navigate("http://"+p.Addr+"/boards/huge?me="+url.QueryEscape(arabic)),
		becomes(`page.count('.trend-name:not(:empty)')`, "2"))
	p.Update("huge", `{"member":"`+arabic+`","score":1}`)
	do(t, ctx,
		becomes(crowded(`page.all('.trend-head').filter(head => head.querySelector('.trend-change').textContent.length > 20)`, ".trend-name",
			".trend-change"), ""))
	// The rows that come with the page.
	addr, release := slowLine(t, p.Addr)
	defer release()
	for _, path := range []string{"/boards/plain", "/show/gift"} {
		for _, width := range []int64{390, 1280} {
			require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), navigateWithoutLoad("http://"+addr+path),
				becomes(`String(location.host === '`+addr+`' && location.pathname === '`+path+
					`' && document.querySelectorAll('.first-rows tbody tr').length > 5)`, "true"),
				becomes(`page.misfits()`, "")), "%s at %d", path, width)
		}
	}
}

// The pages that draw a history have room for names and scores too, and for the dates of their charts.
func TestHistoriesHaveRoomForNamesAndScores(t *testing.T) {
	t.Parallel()
	p, _ := race(t)
	named(t, p, "player", map[string]string{"ann": "Wolfeschlegelsteinhausenbergerdorff-Montgomery",
		"bob": "محمد عبد الرحمن بن خالد الأنصاري الطويل", "dan": "很长的名字很长的名字很长的名字很长的名字"})
	p.Update("race", e2etest.Scores("ann", 9007199254740000, "bob", 9007199254730000, "dan", 9007199254720000))
	ctx := window(t, 1280, 900)
	const cards, lines = `page.all('.member-board')`, `page.all('.standing-row')`
	for _, lang := range []string{"en", "zh"} {
		fits(t, ctx, screenSizes, "http://"+p.Addr+"/members/player/bob?lang="+lang,
			`String(document.querySelector('.rank-times')?.textContent.length > 10)`, becomes(crowded(cards, "h2", ".score"), ""))
	}
	fits(t, ctx, screenSizes, "http://"+p.Addr+"/boards/race/story?me=bob&lang=en",
		`String(`+lines+`[0]?.textContent.includes('9007T pts') && document.querySelector('#tip').checkVisibility())`,
		becomes(crowded(lines, ".standing-name", ".standing-score"), ""),
		becomes(`(tip => String(tip.scrollWidth <= tip.clientWidth))(document.querySelector('#tip'))`, "true"))
}

// The head stands at the same place on all pages, however wide the content below it is.
func TestHeadStaysInPlaceBetweenPages(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	ctx := window(t, 1280, 900)
	places := map[int64]map[string]string{390: {}, 1280: {}, 1440: {}, 1920: {}, 2560: {}}
	for _, path := range []string{"/", "/boards/stars", "/boards/fans:%7Bstar%7D", "/boards/stars/story", "/members/star/s22",
		"/docs/start", "/show/gift", "/boards/nosuch"} {
		do(t, ctx, chromedp.Navigate("http://"+addr+path))
		for width, ofWidth := range places {
			do(t, ctx, resize(width, width*9/16))
			place := value[string](t, ctx, `(([brand, site]) => [brand.left, site.right].map(Math.round)
					.join() + getComputedStyle(document.documentElement).scrollbarGutter)(['.brand', '.site']
						.map(part => document.querySelector(part).getBoundingClientRect()))`)
			ofWidth[place] += path + " "
		}
	}
	for width, ofWidth := range places {
		require.Len(t, ofWidth, 1, "at %d", width)
		for place := range ofWidth { // beside a scroll bar there is a gutter on pages that do not scroll, too
			require.Equal(t, width >= 768, strings.Contains(place, "stable"), place)
		}
	}
}

// The first screen of a board's page has rows, also on the smallest phone, and the controls above them are large enough for a
// finger.
func TestFirstScreenHasRows(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	ctx := window(t, 360, 640)
	rows := func(least int) chromedp.Action[chromedp.Void] {
		return becomes(fmt.Sprintf(`String(page.members('leaderboard')
			.filter(row => row.getBoundingClientRect().bottom <= innerHeight).length >= %d)`, least), "true")
	}
	for _, query := range []string{"?lang=en", "?lang=zh", "?lang=en&me=s22"} {
		require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(360, 640),
			chromedp.Navigate("http://"+addr+"/boards/stars"+query), holds(`page.shown()`), rows(5),
			becomes(`page.all('#board :is(a, button, input, select)')
				.filter(part => part.checkVisibility() && part.getBoundingClientRect().height < 35)
					.map(part => part.id || part.textContent).join()`, ""),
			chromedp.EmulateViewport(768, 1024), rows(8),
		), query)
	}
}
