//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// A page counts down to the end of a period by the server's clock, even if its own clock is wrong, or is set while the page is
// open.
func TestPageCountsDownByTheServersClock(t *testing.T) {
	t.Parallel()
	base := time.Now().Add(-30*time.Minute - 5*time.Second).UTC().Format(time.RFC3339)
	p := e2etest.LaunchBoards(t, `boards: {hourly: {period: 1h, base: "`+base+`"}}`)
	const left = `/^ends in 2[0-9]:[0-5][0-9]$/.test(text()) ? 'right' : text()`
	for _, off := range []string{"3600e3", "-3600e3"} {
		ctx := window(t, 800, 600)
		do(t, ctx,
			visit(p, "/healthz"),
			script(`var off = `+off+`, right = Date.now; Date.now = () => right() + off`),
			step(t, "hourly-board"),
			becomes(`text() ? 'told' : ''`, "told"), becomes(left, "right"),
			script(`off = -2 * off; document.dispatchEvent(new Event('visibilitychange'))`), becomes(left, "right"),
		)
	}
}

// families are those of the tests below.
const families = `
boards:
  "fans:{star}":          {period: day, timezone: Asia/Shanghai}
  "hot:{genre}:{device}": {}
  last:                   {}
`

// The page of a family lists its boards, and has boxes for the name of another one. Unusual characters of a name come through
// the URL and the socket unchanged.
func TestPageShowsFamilies(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, families)
	const odd = "hot:a+b?c=1&d #%:名 前"
	for _, board := range []string{"fans:s17", "fans:s18", "hot:moba:phone", "last"} {
		p.Update(board, `{"member":"ann","score":3}`)
	}
	p.Update("hot:a+b%3Fc=1&d%20%23%25:%E5%90%8D%20%E5%89%8D", `{"member":"odd","score":3}`)
	ctx := window(t, 390, 844)
	const title = `document.querySelector('#name').textContent`
	const problem = `document.querySelector('#parts-problem').textContent`
	const instances = `page.all('#instances .card-name').map(a => a.textContent).join(', ')`
	const current = `page.all('#boards a[aria-current]').map(a => a.textContent + ' ' + a.ariaCurrent).join()`
	const visible = `['live-leaderboard', '#find', '#family'].map(part => document.querySelector(part).checkVisibility()).join()`
	do(t, ctx,
		visit(p, "/boards/last"),
		becomes(title, "last"), shows("ann"), becomes(visible, "true,true,false"),
		script(`var stays = true; document.querySelector('#boards a').click()`),
		becomes(title, "fans:{star}"), becomes(visible, "false,false,true"), becomes(instances, "s17, s18"), becomes(current, "fans:{star} page"),
		becomes(`document.querySelector('#rules').textContent`, "Scores add up, anew each day (Shanghai)"),

		// The reader chooses a board from the list.
		script(`document.querySelectorAll('#instances a')[1].click()`),
		becomes(title, "fans:s18"), shows("ann"), becomes(visible, "true,true,false"), becomes(current, "fans:{star} true"),
		becomes(`location.pathname`, "/boards/fans:s18"), becomes(`document.activeElement.id`, "main"),
		becomes(`document.querySelector('#rules').textContent`, "Scores add up, anew each day (Shanghai)"),

		// The reader names a board.
		script(`document.querySelectorAll('#boards a')[1].click()`),
		becomes(instances, "a+b?c=1&d #% · 名 前, moba · phone"),
		becomes(`page.all('#parts label').map(label => label.textContent).join()`, "genre,device"),
		script(`var boxes = document.querySelectorAll('#parts input');
			boxes[0].value = ' moba ';
			document.querySelector('#instance button').click()`),
		becomes(problem, "device is missing."),
		becomes(`document.activeElement.name + ' ' + boxes[0].ariaInvalid + ' ' + boxes[1].ariaInvalid`, "device false true"),
		script(`boxes[1].value = 'a:b'; document.querySelector('#instance button').click()`),
		becomes(problem, "device can have none of : @ / and braces."),
		typeInto("#parts label:nth-child(2) input", "\b\b\bnew pc\r"),
		becomes(title, "hot:moba:new pc"),
		becomes(`page.part('note').textContent`, "No scores yet"),
		becomes(`location.pathname`, "/boards/hot:moba:new%20pc"),
		script(`history.back()`), becomes(title, "hot:{genre}:{device}"), becomes(instances, "a+b?c=1&d #% · 名 前, moba · phone"),
		script(`document.querySelectorAll('#instances a')[0].click()`), becomes(title, odd), shows("odd"),
		holds(`stays`),

		// The address names a board and a period.
		visit(p, "/boards/fans:s17@-1"),
		becomes(title, "fans:s17@-1"),
		becomes(`page.part('state').textContent`, "Final"),
		becomes(`page.part('note').textContent`, "No scores"),
		visit(p, "/boards/fans:s17@2020-01-01"),
		becomes(`page.part('note').textContent`, "There is no such period, yet or any more."),
		visit(p, "/boards/nope:{x}"),
		becomes(textOf("main"),
			"No such board This server has no board with this name: nope:{x} The name may be mistyped, or the board is not defined "+
				"yet. All boards of this server"),
		becomes(`document.querySelector('main a').pathname`, "/"),
	)
}

// When a period ends, the open page shows its result and the next period, without a reload.
func TestPageTurnsWithTheServer(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {quick: {period: 3s, base: "2026-01-01T00:00:00Z", keep: 1000}}`)
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/quick"),
		becomes(`page.part('state')?.textContent`, "Live"),
		script(`var stays = true`))
	period := periodOf(p, "quick", `{"member":"ann","score":30}`)
	do(t, ctx,
		becomes(`page.part('note').textContent.replace(/^.*?[AP]M/, 'It')`, "It is over: ann was first with 30. No scores yet"),
		becomes(`page.root().querySelectorAll('[data-member]:not([data-below])').length + ''`, "0"),
		holds(`stays`),
		chromedp.Navigate("http://"+p.Addr+"/boards/quick@"+period),
		shows("ann"),
		becomes(`page.part('state').textContent`, "Final"),
	)
}

// Scores leave the page when they are older than the window. A row keeps the scores that still count, and the list is empty in
// the end. For this the page needs no further update and no reload.
func TestPageOfAWindowEmptiesByItself(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.LaunchBoards(t, `boards: {quiet: {window: 1h, refresh: live}}`, "--redis", r.URL())
	const scores = `page.listed().map(page.words).join(', ')`
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/quiet?me=bob"),
		isLive,
		becomes(`document.querySelector('#rules').textContent`, "Scores add up, over the last hour"),
		follows("below: bob has no score yet"),
		// The page notes each list that it shows. A reload would lose the notes.
		script(`var board = page.board(), seen = new Set(); var list = () => `+scores+`;
			new MutationObserver(() => seen.add(list())).observe(board.shadowRoot, {childList: true, characterData: true, subtree: true})`),
	)
	// These scores are almost an hour old, so they leave the window while the page is open.
	now := time.Now()
	aged := func(member string, score int, left time.Duration) string {
		return fmt.Sprintf(`{"member":%q,"score":%d,"at":%d}`, member, score, now.Add(left-time.Hour).UnixMilli())
	}
	a := p.Post("quiet", `{"updates":[`+strings.Join([]string{
		aged("ann", 9, 8*time.Second), aged("bob", 5, 12*time.Second), aged("ann", 1, 12*time.Second), aged("cid", 3, 16*time.Second),
	}, ",")+`]}`)
	require.Equal(t, 200, a.Status, a.Body)
	was := func(list string) chromedp.Action[chromedp.Void] {
		return becomes(fmt.Sprintf(`seen.has(%q) ? 'seen' : [...seen].join(' / ')`, list), "seen")
	}
	do(t, ctx,
		was("1 ann 10, 2 bob 5 to next 5, 3 cid 3"),
		was("1 bob 5, 2 cid 3, 3 ann 1"),
		was("1 cid 3"),
		becomes(`list()`, ""), becomes(`board.shadowRoot.querySelector('[part=note]').textContent`, "No scores yet"),
		follows("below: bob has no score yet"),
	)
}
