//go:build !race

package pages

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

const longName = "Maximiliane Wolfeschlegelsteinhausenbergerdorff-Montgomery"

// rounds starts a server with boards whose periods end all the time, and the names of a, b and c.
func rounds(t *testing.T) *e2etest.Process {
	t.Helper()
	p := e2etest.LaunchBoards(t, `boards:
  round: {kind: player, mode: best, period: 4s, base: "2026-01-01T00:00:00Z", keep: 1000, display: {unit: pts}}
  large: {kind: player, mode: best, period: 4s, base: "2026-01-01T00:00:00Z", keep: 1000, display: {unit: points}}
`)
	for member, name := range map[string]string{"a": "Zoë", "b": longName, "c": "Ivy", "m": "محمد عبد الرحمن بن خالد الأنصاري الطويل"} {
		p.Answers(201, "PUT", "/v1/members/player/"+member, fmt.Sprintf(`{"name":%q}`, name))
	}
	return p
}

// In a line, the name of a winner is whole if it is short: a long one gives way.
func TestFinishLineKeepsShortNames(t *testing.T) {
	t.Parallel()
	p := rounds(t)
	for _, c := range []struct {
		query         string
		width, height int
	}{{"mode=compact", 480, 60}, {"mode=compact", 600, 60}, {"mode=compact", 1000, 60}, {"mode=list", 400, 120},
		{"mode=me&me=nobody", 480, 100}} {
		t.Run(fmt.Sprint(c.query, " at ", c.width), func(t *testing.T) {
			ctx := ownWindow(t, c.width, c.height)
			do(t, ctx, overlay(p, "round", "pace=0&"+c.query), isLive)
			p.Update("round", e2etest.Scores("a", 30, "b", 20, "c", 10))
			do(t, ctx, becomes(`page.finishNames()`, "Zoë whole, Max cut, Ivy whole"))
		})
	}
}

// The figures at the end of a member's card never cover its name, also while the member has no place.
func TestOverlayCardHasRoomAtItsEnd(t *testing.T) {
	t.Parallel()
	p := rounds(t)
	ctx := ownWindow(t, 480, 100)
	do(t, ctx, overlay(p, "round", "mode=me&me=m&pace=0"), isLive)
	assert.NoError(t, chromedp.Do(ctx, becomes(`page.coveredAtTheEnd()`, "countdown")))
	p.Update("round", e2etest.Scores("a", 30, "m", 20))
	assert.NoError(t, chromedp.Do(ctx, becomes(`page.coveredAtTheEnd()`, "mark")))
}

// The last seconds stand over the end of the period in the header, as a whole, and over no part of another text.
func TestCountdownCoversTheEndAlone(t *testing.T) {
	t.Parallel()
	var body string
	site := servePage(t, &body)
	p := e2etest.LaunchBoards(t, `boards: {days: {period: day, timezone: Asia/Shanghai}}`, "--origins", site.URL)
	fill(t, p, "days", 30)
	body = fmt.Sprintf(`<!doctype html><script type="module" src="http://%s/kit/rankcast.js"></script><live-leaderboard `+
		`board="days" top="5" me="m0003" moments></live-leaderboard>`, p.Addr)
	const (
		live    = `page.state()`
		covered = `page.coveredInHeader()`
	)
	board := "http://" + p.Addr + "/boards/days?me=m0029&lang=en"
	for i, c := range []struct {
		page  string
		full  bool
		sizes [][2]int64
	}{
		{site.URL, false, [][2]int64{{390, 600}, {1280, 600}}},
		{"http://" + p.Addr + "/embed/days?top=5&lang=en", false, [][2]int64{{480, 420}}},
		{board, false, [][2]int64{{390, 844}, {700, 844}, {1280, 900}, {2560, 1440}}},
		{board, true, [][2]int64{{390, 844}, {768, 1024}, {1280, 720}, {1920, 1080}}},
	} {
		t.Run(fmt.Sprintf("%s, full screen %t", c.page, c.full), func(t *testing.T) {
			ctx := ownWindow(t, 390, 600)
			do(t, ctx, chromedp.Navigate(c.page), becomes(live, "live"), becomes(`document.fonts.status`, "loaded"))
			if c.full {
				do(t, ctx, fullScreen)
			}
			// Another leader, so that the element loads the parts of a show.
			p.Post("days", fmt.Sprintf(`{"member":"m000%d","score":%d}`, i%2+1, (i+1)*1_000_000))
			do(t, ctx, becomes(`getComputedStyle(page.part('countdown')).position`, "absolute"))
			for _, size := range c.sizes {
				assert.NoError(t, chromedp.Do(ctx, resize(size[0], size[1]), becomes(isFullScreen, fmt.Sprint(c.full)),
					becomes(covered, "ends")), "at %d", size[0])
			}
			assert.NoError(t, chromedp.Do(ctx, script(`document.dir = 'rtl'`), becomes(covered, "ends")), "from right to left")
		})
	}
}

// While a result stands on the board, it leads on to its story, and to a picture of it.
func TestResultLeadsOn(t *testing.T) {
	t.Parallel()
	ends := time.Now().Add(6 * time.Second).UTC().Format(time.RFC3339)
	p := e2etest.LaunchBoards(t, fmt.Sprintf(`boards:
  cup: {kind: player, history: 10s, ends: %q}
  round: {kind: player, mode: best, period: 4s, base: "2026-01-01T00:00:00Z", keep: 1000, display: {unit: pts}}
`, ends))
	const links = `page.all('#result-links a').filter(link => link.checkVisibility()).map(link => link.pathname + link.search).join()`
	p.Update("cup", e2etest.Scores("a", 30, "b", 20, "c", 10))
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/boards/cup?me=b"), becomes(links, "/boards/cup/story?me=b&play=10,/boards/cup/card.png"))
	do(t, ctx, visit(p, "/boards/round"), isLive, becomes(links, ""))
	p.Update("round", e2etest.Scores("a", 30, "b", 20))
	do(t, ctx, becomes(`String(/^.boards.round@[0-9]+.card.png$/.test(decodeURIComponent(`+links+`)))`, "true"))
	// Nothing speaks of the next period.
	do(t, ctx, holds(`['#periods', '#trends'].every(part =>
		!document.querySelector(part).checkVisibility({visibilityProperty: true}))`),
		holds(`/^Final result, .+\s–\s.+[AP]M · \d+ pts ahead of b$/.test(page.part('result-note').textContent)`))
	require.Equal(t, "image/png", value[string](t, ctx,
		`fetch(document.querySelector('#result-picture').href).then(({headers}) => headers.get('content-type'))`))
	do(t, ctx, script(`page.board().setAttribute('board', 'cup')`), becomes(links, ""))
}

// The result of a period fits its card and, on a board alone, the screen. What belongs to a step stays in its column, and the
// followed member's score is whole.
func TestResultFits(t *testing.T) {
	t.Parallel()
	p := rounds(t)
	for _, c := range []struct {
		board string
		full  bool
		sizes [][2]int64
	}{
		{"round", true, [][2]int64{{390, 844}, {300, 600}, {844, 390}, {768, 1024}, {1280, 720}, {1920, 1080}}},
		{"large", true, [][2]int64{{390, 844}}}, {"large", false, [][2]int64{{390, 844}, {300, 600}, {1280, 900}}},
		{"round", false, [][2]int64{{390, 844}, {844, 390}, {1280, 800}}},
	} {
		t.Run(fmt.Sprintf("%s, full screen %t", c.board, c.full), func(t *testing.T) {
			ctx := ownWindow(t, 390, 844)
			do(t, ctx, chromedp.Navigate("http://"+p.Addr+"/boards/"+c.board+"?me=m&lang=en"), isLive)
			if c.full {
				do(t, ctx, fullScreen)
			}
			scale := map[string]int{"round": 1, "large": 40_000}[c.board]
			for _, size := range c.sizes {
				// The update gives the current period scores, so another result comes if the last one has gone.
				p.Update(c.board, e2etest.Scores("b", 241*scale, "a", 240*scale, "c", 239*scale, "m", 238*scale))
				assert.NoError(t, chromedp.Do(ctx, resize(size[0], size[1]), becomes(isFullScreen, fmt.Sprint(c.full)),
					script(`delete page.board().dataset.misplaced`), becomes(`page.misplacedInResult()`, "")), "at %d", size[0])
			}
		})
	}
}

// A board alone on the screen fits it also after a period with more rows: the list keeps their room.
func TestBoardFitsTheScreenAfterALongerPeriod(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {days: {period: day, timezone: Asia/Shanghai}}`)
	const (
		listed = `String(page.root().querySelectorAll('[part=list] > [data-member]').length)`
		fits   = `(e => e.scrollHeight > innerHeight ? 'ends at ' + e.scrollHeight : 'fits')(document.querySelector('#board'))`
	)
	for _, size := range [][2]int{{390, 844}, {1280, 720}, {1920, 1080}} {
		ctx := ownWindow(t, size[0], size[1])
		assert.NoError(t, chromedp.Do(ctx, beforeScripts(scriptFile(t, "sockets.js")), visit(p, "/boards/days?lang=en"),
			script(`var socket = () => sockets.find(({sent}) => sent.some(({type}) => type === 'subscribe'))`),
			holds(`socket() !== undefined`),
			script(`var say = (period, members) => socket().say({...snapshot(5, members, period), board: 'days', period,
				ends: '2999-01-01T00:00:00Z', total: members.length})`),
			script(`socket().say({type: 'ok', id: socket().sent.find(({type}) => type === 'subscribe').id}); say('1', 'abcdefghij')`),
			becomes(listed, "10"),
			fullScreen, becomes(fits, "fits"),
			script(`say('2', 'abcd')`), becomes(listed, "4"), becomes(fits, "fits"),
		), size)
	}
}
