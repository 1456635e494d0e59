//go:build !race

package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"

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
		page          string
		full          bool
		width, height int
	}{
		{site.URL, false, 390, 600}, {site.URL, false, 1280, 600}, {"http://" + p.Addr + "/embed/days?top=5&lang=en", false, 480, 420},
		{board, false, 390, 844}, {board, false, 700, 844}, {board, false, 1280, 900}, {board, false, 2560, 1440},
		{board, true, 390, 844}, {board, true, 768, 1024}, {board, true, 1280, 720}, {board, true, 1920, 1080},
	} {
		t.Run(fmt.Sprintf("%s at %d, full screen %t", c.page, c.width, c.full), func(t *testing.T) {
			ctx := ownWindow(t, c.width, c.height)
			do(t, ctx, chromedp.Navigate(c.page), becomes(live, "live"), becomes(`document.fonts.status`, "loaded"))
			if c.full {
				do(t, ctx, click("#full-screen"), becomes(`document.querySelector('#full-screen').ariaPressed`, "true"))
			}
			// Another leader, so that the element loads the parts of a show.
			p.Post("days", fmt.Sprintf(`{"member":"m000%d","score":%d}`, i%2+1, (i+1)*1_000_000))
			do(t, ctx, becomes(`getComputedStyle(page.part('countdown')).position`, "absolute"), becomes(covered, "ends"))
		})
	}
}

// The result of a period fits its card and, on a board alone, the screen. What belongs to a step stays in its column, and the
// followed member's score is whole.
func TestResultFits(t *testing.T) {
	t.Parallel()
	p := rounds(t)
	for _, c := range []struct {
		board         string
		full          bool
		width, height int
	}{
		{"round", true, 390, 844}, {"round", true, 300, 600}, {"round", true, 844, 390}, {"round", true, 768, 1024},
		{"round", true, 1280, 720}, {"round", true, 1920, 1080},
		{"large", true, 390, 844}, {"large", false, 390, 844}, {"large", false, 300, 600}, {"large", false, 1280, 900},
	} {
		t.Run(fmt.Sprintf("%s at %d, full screen %t", c.board, c.width, c.full), func(t *testing.T) {
			ctx := ownWindow(t, c.width, c.height)
			do(t, ctx, chromedp.Navigate("http://"+p.Addr+"/boards/"+c.board+"?me=m&lang=en"), isLive)
			if c.full {
				do(t, ctx, click("#full-screen"), becomes(`document.querySelector('#full-screen').ariaPressed`, "true"))
			}
			scale := map[string]int{"round": 1, "large": 40_000}[c.board]
			p.Update(c.board, fmt.Sprintf(`{"updates":[{"member":"b","score":%d},{"member":"a","score":%d},{"member":"c","score":%d},`+
				`{"member":"m","score":%d}]}`, 241*scale, 240*scale, 239*scale, 238*scale))
			do(t, ctx, becomes(`page.misplacedInResult()`, ""))
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
			click("#full-screen"), becomes(`document.querySelector('#full-screen').ariaPressed`, "true"), becomes(fits, "fits"),
			script(`say('2', 'abcd')`), becomes(listed, "4"), becomes(fits, "fits"),
		), size)
	}
}
