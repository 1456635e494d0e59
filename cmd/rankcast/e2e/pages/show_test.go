//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// starFlowers is a show, as README has it.
const starFlowers = `
boards:
  stars:           {period: week, timezone: Asia/Shanghai, kind: star}
  "fans:{star}":   {period: day, timezone: Asia/Shanghai, kind: user}
  "fans3h:{star}": {window: 3h, kind: user}
` + giftEvent

// giftEvent is the event of that show.
const giftEvent = `
events:
  gift:
    show: {title: Star flowers, board: stars, fans: "fans:{star}", recent: "fans3h:{star}"}
    updates:
      - {board: stars,           member: "{star}", score: "{flowers}"}
      - {board: "fans:{star}",   member: "{user}", score: "{flowers}"}
      - {board: "fans3h:{star}", member: "{user}", score: "{flowers}"}
`

// launchShow starts a server with starFlowers.
func launchShow(t *testing.T, args ...string) *e2etest.Process {
	return e2etest.Launch(t, append(args, "--boards", e2etest.Write(t, "stars.yaml", starFlowers))...)
}

// give has a user send flowers to a star.
func give(p *e2etest.Process, star, user string, flowers int) {
	p.T.Helper()
	a := p.Submit("/v1/events/gift", fmt.Sprintf(`{"star":%q,"user":%q,"flowers":%d}`, star, user, flowers))
	require.Equal(p.T, 200, a.Status, a.Body)
}

// scoreOf returns the score of a member on a board, 0 if it has none.
func scoreOf(p *e2etest.Process, board, member string) int {
	p.T.Helper()
	var entry struct{ Score int }
	if a := p.Request("GET", "/v1/boards/"+board+"/members/"+member, ""); a.Status == 200 {
		a.Into(&entry)
	}
	return entry.Score
}

// setName gives a member of a kind a name.
func setName(p *e2etest.Process, kind, member, name string) {
	p.T.Helper()
	a := p.Request("PUT", "/v1/members/"+kind+"/"+member, fmt.Sprintf(`{"name":%q}`, name))
	require.Equal(p.T, 2, a.Status/100, a.Body)
}

// taps is an expression for the taps on the button for ten flowers that no answer has come for.
const taps = `document.querySelector('[data-amount="10"] .size-taps').textContent`

// address is an expression for what the page is about, as its address says it.
const address = `location.pathname + location.search`

// sees is an expression for which of these elements are visible.
func sees(selectors ...string) string {
	return fmt.Sprintf(`%q.split(' ').map(part => document.querySelector(part).checkVisibility()).join()`, strings.Join(selectors, " "))
}

// watching waits until the page watches its boards and the feed: what was asked before a ping is answered before it.
var watching = chromedp.Steps(
	script(`var ponged = '', stays = 'yes';
		import('/kit/rankcast.js').then(kit => kit.connect().ping()).then(() => ponged = 'yes')`),
	becomes(`ponged`, "yes"),
	becomes(`page.state('star-board')`, "live"),
)

// The board moves by itself; a star's page and the way back are the same page, with the
// focus where it belongs.
func TestShowMoves(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	setName(p, "star", "s1", "Ann")
	for i, star := range []string{"s1", "s2", "s3"} {
		give(p, star, "u1", 30-10*i)
	}
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/show/gift?me=u2&lang=en"), watching,
		becomes(`page.fields('star-board')`, "1 Ann 30 | 2 s2 10 to next 20 | 3 s3 10 to next 10"),
		becomes(`String(/^\d.*(d|h|min|:)/.test(`+textOf("#countdown-left")+`))`, "true"),
		becomes(`document.title`, "Star flowers · Rankcast"),
		holds(`document.querySelector('#no-winners').checkVisibility()`),
	)
	give(p, "s3", "u2", 15)
	do(t, ctx,
		becomes(`page.fields('star-board')`, "1 Ann 30 | 2 s3 5 to next 25 | 3 s2 5 to next 20"),
		// By the keyboard.
		script(`page.root('star-board').querySelectorAll('a')[1].focus()`),
		chromedp.KeyEvent("\r"),
		becomes(address, "/show/gift/s3?me=u2&lang=en"),
		becomes(textOf(".star-head"), "S s3 No. 2 25 5 to No. 1, Ann"),
		becomes(`page.fields('fans')`, "1 u2 15 | 2 u1 10"),
		becomes(`page.fields('recent')`, "1 u2 15 | 2 u1 10"),
		becomes(`document.title`, "s3 · Star flowers · Rankcast"), becomes(`page.focus()`, "star-name"),
		becomes(`[...page.root('fans').querySelectorAll('[aria-current]')].map(row => row.dataset.member).join()`, "u2"),
		becomes(`page.all('h1, h2, h3').filter(h => h.checkVisibility()).map(h => h.tagName).join(' ')`, "H1 H2 H2 H3 H3 H3 H2"),
	)
	give(p, "s3", "u1", 5)
	do(t, ctx, becomes(textOf(".star-head"), "S s3 No. 2 30 Level with No. 1, Ann"),
		becomes(`document.querySelector('#star-progress').style.getPropertyValue('--share')`, "1"))
	give(p, "s3", "u1", 95)
	do(t, ctx,
		becomes(textOf(".star-head"), "S s3 No. 1 125 95 ahead of Ann"),
		becomes(`page.fields('fans')`, "1 u1 110 | 2 u2 95 to next 15"),
		script(`history.back()`),
		becomes(address, "/show/gift?me=u2&lang=en"), becomes(`document.title`, "Star flowers · Rankcast"), becomes(`page.focus()`, "link"),
		becomes(`String(document.querySelector('#star').checkVisibility())`, "false"),
		script(`history.forward()`),
		becomes(`page.focus()`, "star-name"), becomes(textOf("#star-name"), "s3"),
		click("#back"),
		becomes(address, "/show/gift?me=u2&lang=en"), becomes(`stays`, "yes"),
		// Nobody has sent flowers to this one.
		visit(p, "/show/gift/s9?lang=en"),
		becomes(textOf(".star-head"), "S s9 Nothing yet."), becomes(textOf("#gift-title"), "Send"),
		// An id that no star can have gets no buttons.
		visit(p, "/show/gift/s%2F9?lang=en"),
		becomes(textOf(".star-head"), "S s/9 Nobody can have this id."), becomes(textOf("#gift-title"), "Your place"),
		becomes(sees(".sizes", "#fans-panel", "#recent-panel"), "false,false,false"),
	)
}

// The page of an event shows and sends it, whatever the names of its boards and fields.
func TestShowShowsTheBoardsOfAnEvent(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `
boards:
  idols:            {period: day}
  "fans-of:{idol}": {}
  "now:{idol}":     {window: 1h, refresh: live}
  city:             {}
events:
  a: [{board: city, member: "{idol}", score: 1}]
  vote:
    show: {board: idols, fans: "fans-of:{idol}", recent: "now:{idol}"}
    updates:
      - {board: idols,            member: "{idol}", score: "{votes}"}
      - {board: "fans-of:{idol}", member: "{fan}",  score: "{votes}"}
      - {board: "now:{idol}",     member: "{fan}",  score: "{votes}"}
  z:
    show: {board: city}
    updates: [{board: city, member: "{idol}", score: 1}]
`)
	vote := func(idol, fan string, votes int) {
		t.Helper()
		a := p.Submit("/v1/events/vote", fmt.Sprintf(`{"idol":%q,"fan":%q,"votes":%d}`, idol, fan, votes))
		require.Equal(t, 200, a.Status, a.Body)
	}
	vote("ann", "uma", 30)
	vote("bo", "uma", 20)
	first := p.Request("GET", "/show/vote/bo", "", "Accept", "text/html").Body
	for _, board := range []string{"idols", "fans-of:bo", "now:bo"} {
		require.Contains(t, first, `board="`+board+`"`)
	}
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/show/vote/bo?me=mochi&lang=en"), watching,
		becomes(`page.fields('star-board')`, "1 ann 30 | 2 bo 10 to next 20"),
		becomes(`page.fields('fans')`, "1 uma 20 | mochi nothing yet"),
		becomes(`page.fields('recent')`, "1 uma 20 | mochi nothing yet"))
	vote("ann", "uma", 1)
	do(t, ctx, becomes(`page.feedOf()`, "uma ann 1"),
		click(`[data-amount="10"]`),
		becomes(textOf("#gift-note"), "Thank you! 10 for bo: you are No. 2 among the fans."),
		becomes(`page.feedOf()`, "mochi bo 10 | uma ann 1"),
		becomes(`page.fields('star-board')`, "1 ann 31 | 2 bo 1 to next 30"),
		becomes(`page.fields('recent')`, "1 uma 20 | 2 mochi 10 to next 10"),
	)
	require.Zero(t, scoreOf(p, "city", "bo"))
	// A show without boards of fans.
	require.Equal(t, 200, p.Submit("/v1/events/z", `{"idol":"bo"}`).Status)
	do(t, ctx, chromedp.Navigate("about:blank"),
		visit(p, "/show/z/bo?me=mochi&lang=en"), watching, becomes(`page.fields('star-board')`, "1 bo 1"),
		becomes(sees(".sizes", "#fans-panel", "#recent-panel"), "false,false,false"),
	)
}

// Quick gifts of one amount, of one person to one star, are one line.
func TestShowFeedMerges(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	setName(p, "user", "u1", "Uma")
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/show/gift?me=u2&lang=en"), watching, holds(`document.querySelector('#feed-empty').checkVisibility()`))
	give(p, "s1", "u1", 1)
	do(t, ctx, becomes(`page.feedOf()`, "Uma s1 1"), script(`var line = document.querySelector('.feed-line')`))
	give(p, "s1", "u1", 1)
	give(p, "s1", "u2", 99)
	give(p, "s1", "u1", 1)
	give(p, "s1", "u1", 4)
	do(t, ctx,
		becomes(`page.feedOf()`, "Uma s1 4 | u2 s1 99 | Uma s1 1 ×3"),
		holds(`line === page.all('.feed-line').at(-1)`),
		becomes(`page.all('.feed-line').map(line => 'big' in line.dataset).join()`, "false,true,false"),
		becomes(`page.all('.feed-line').map(line => 'own' in line.dataset).join()`, "false,true,false"),
		becomes(`document.querySelector('#gifts').ariaLive`, "off"),
	)
	// However many there are.
	do(t, ctx, script(`var most = 0;
		new MutationObserver(() => most = Math.max(most, document.querySelectorAll('.feed-line').length))
		.observe(document.querySelector('#gifts'), {childList: true})`))
	for _, last := range []int{29, 49} {
		for i := last - 19; i <= last; i++ {
			give(p, "s3", fmt.Sprint("v", i), 1)
		}
		do(t, ctx, becomes(`document.querySelector('.feed-fan').textContent`, fmt.Sprint("v", last)))
	}
	do(t, ctx, becomes(`String(most)`, "14"))

	lines := func(users string) string { return strings.Join(strings.Split(users, ""), " s1 2 | ") + " s1 2" }
	// Others have come in between. A feed of the test's own, whose gifts are from when it says.
	const hear = `feed.addItems(%s.map(([user, at]) => ({at: new Date(at * 1e3).toJSON(), data: {user, star: 's1', flowers: 2}})))`
	do(t, ctx,
		script(`var feed;
			import('/assets/show/gift-feed.js').then(({GiftFeed}) => {
				const list = document.createElement('ol');
				document.querySelector('#gifts').replaceWith(list);
				feed = new GiftFeed(list, document.querySelector('#feed-empty'), {fan: () => ({}), star: () => ({}), me: () => ''});
				`+fmt.Sprintf(hear, `[['ann', 0], ['ann', 1], ['ann', 2]]`)+`;
			})`),
		becomes(`page.feedOf()`, "ann s1 2 ×3"),
		script(fmt.Sprintf(hear, `[...'bcdefgh'].map(user => [user, 3])`)), becomes(`page.feedOf()`, lines("hgfedcb")+" | ann s1 2 ×3"),
		script(fmt.Sprintf(hear, `[...'ijklmno'].map(user => [user, 3])`)), becomes(`page.feedOf()`, lines("onmlkjihgfedcb")),
		script(fmt.Sprintf(hear, `[['ann', 12]]`)), becomes(`page.feedOf()`, "ann s1 2 ×4 | "+lines("onmlkjihgfedc")),
		script(fmt.Sprintf(hear, `[['b', 13.5], ['ann', 13.5]]`)), // too late for b, whose line had gone
		becomes(`page.feedOf()`, "b s1 2 | ann s1 2 ×5 | "+lines("onmlkjihgfed")),
	)
}

// A name is text, whatever it looks like, and so is an id.
func TestShowNamesAreText(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	const evil = "<img src=x onerror=alert(1)>"
	setName(p, "star", "s1", evil)
	setName(p, "user", "u1", evil)
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/show/gift/s1?me=u1&lang=en"), watching)
	give(p, "s1", "u1", 7)
	give(p, evil, evil, 5)
	do(t, ctx,
		becomes(`page.fields('star-board')`, "1 "+evil+" 7 | 2 "+evil+" 2 to next 5"),
		becomes(`page.fields('fans')`, "1 "+evil+" 7"),
		becomes(`page.feedOf()`, evil+" "+evil+" 5 | "+evil+" "+evil+" 7"),
		becomes(textOf("#star-name"), evil), becomes(`document.title`, evil+" · Star flowers · Rankcast"),
		becomes(`[document, ...page.all('live-leaderboard').map(board => board.shadowRoot)]
			.flatMap(root => [...root.querySelectorAll('img[src]')]).map(img => img.getAttribute('src')).join()`, "../../assets/shared/favicon.svg"),
		script(`page.root('star-board').querySelector('[data-member^="<"] a').click()`),
		becomes(textOf("#star-name"), evil), becomes(`page.fields('fans')`, "1 "+evil+" 5 | u1 nothing yet"),
	)
}

// When a week ends, the open page shows who has won, and how long the next week lasts; that of a star tells the star's final place.
func TestShowPeriodEnds(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `
boards:
  stars:           {period: 4s, base: "2026-01-01T00:00:00Z", keep: 1000, mode: last, kind: star}
  "fans:{star}":   {}
  "fans3h:{star}": {window: 3h}
events:
  gift:
    show: {board: stars, fans: "fans:{star}"}
    updates: [{board: stars, member: "{star}", score: "{flowers}"}, {board: "fans:{star}", member: "{user}", score: 1}]
`)
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/show/gift?lang=en"), watching,
		holds(`document.querySelector('#no-winners').checkVisibility()`),
		// The page notes each text, since none stays for long when weeks last seconds. Its clock is an hour wrong.
		script(`Date.now = (real => () => real() + 3600e3)(Date.now)`),
		script(`var left = [], podiums = [], note = (id, list, read) => new MutationObserver(() => list.push(read()))
			.observe(document.getElementById(id), {childList: true, subtree: true});
			note('countdown-left', left, () => `+textOf("#countdown-left")+`);
			note('podium', podiums, () => `+textOf("#podium")+` + ' ' + document.querySelector('#no-winners').checkVisibility())`))
	star := window(t, 390, 844)
	do(t, star, visit(p, "/show/gift/s1?lang=en"), watching,
		script(`var finals = []; new MutationObserver(() => finals.push(`+textOf("#star-move")+`))
			.observe(document.querySelector('#star-move'), {childList: true})`))
	// Each week has the same result, until the page has seen a week end with it.
	redistest.Eventually(t, "a podium", func() error {
		if a := p.Post("stars",
			e2etest.Scores("s1", 30, "s2", 40, "s3", 9)); a.Status != 200 {
			return fmt.Errorf("%s", a.Body)
		}
		seen, err := chromedp.Run(ctx, chromedp.Evaluate[string](`podiums.join()`))
		if err == nil && seen == "" {
			err = fmt.Errorf("none yet")
		}
		return err
	})
	do(t, star, becomes(`finals.find(text => text.startsWith('Finished'))`, "Finished No. 2 with 30"))
	do(t, ctx,
		becomes(`podiums[0]`, "Ss2 401Ss1 302Ss3 93 false"),
		holds(`left.some(time => /^0:0[1-4]$/.test(time))`),
		// It goes on by itself, once a second.
		// The script is one task, so the page's own timers have no part in it.
		step(t, "countdown-alone"),
		becomes(`read.slice(0, 4).join(' ')`, "0:09 0:08 0:07 0:06"),
		// A week without flowers has no podium.
		becomes(`podiums.at(-1)`, " true"), becomes(`stays`, "yes"),
	)
}

// Without an event that has a page there is none, and a person reads how to get one. A page goes on with the event as it is.
func TestShowNeedsAnEvent(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {stars: {}, other: {}, "fans:{star}": {}}`)
	ctx := window(t, 1280, 900)
	visible := sees("#standings", "#feed", "#fans-panel", ".sizes")
	do(t, ctx,
		visit(p, "/stars?lang=en"),
		becomes(textOf("main"), "There is no such page An event gets a page by “show” in its definition, and this server has no such event "+
			"yet. “rankcast example boards > boards.yaml” writes a file with one. Start the server with --boards boards.yaml, or with --demo. "+
			"How to get one"),
		visit(p, "/show/gift/s17?lang=en"),
		becomes(textOf("main"), "There is no such page No event with a page has this name: gift "+
			"An event gets a page by “show” in its definition. How to get one"),
	)
	const gift = `{"show":{"board":"stars","fans":"fans:{star}"},"updates":[` +
		`{"board":"stars","member":"{star}","score":"{flowers}"},{"board":"fans:{star}","member":"{user}","score":"{flowers}"}]}`
	p.Answers(201, "PUT", "/v1/events/gift", gift)
	do(t, ctx,
		visit(p, "/stars?star=s17&me=mochi&lang=en"), watching, becomes(visible, "true,true,true,true"),
		becomes(address, "/show/gift/s17?lang=en&me=mochi"),
	)
	p.Answers(204, "DELETE", "/v1/events/gift", "")
	do(t, ctx,
		script(`dispatchEvent(new Event('online'))`), // as when somebody comes back to look
		becomes(textOf("#requirements"), "There is no event “gift” with a page."), becomes(visible, "false,false,true,false"),
	)
	p.Answers(201, "PUT", "/v1/events/gift", strings.Replace(gift, `"show"`, `"fields":{"flowers":{"choices":[1,7]}},"show"`, 1))
	do(t, ctx,
		script(`dispatchEvent(new Event('online'))`), // as when somebody comes back to look
		becomes(textOf("#requirements"), ""), becomes(visible, "true,true,true,true"),
		becomes(`page.all('.size').map(({dataset}) => dataset.amount).join()`, "1,7"),
		click(`[data-amount="1"]`),
		becomes(`page.fields('fans')`, "1 mochi 1"), becomes(`page.feedOf()`, "mochi s17 1"), becomes(`stays`, "yes"),
		// The page stores its gifts once more when the answer comes, perhaps after the frames that show the gift.
		becomes(`sessionStorage.getItem('rankcast gifts /show/gift')`, "[]"),
		// What was not answered when the page was left is sent again, but not what servers may have forgotten.
		script(`sessionStorage.setItem('rankcast gifts /show/gift', JSON.stringify([[540e3, 99], [300e3, 10]]
			.map(([ago, amount]) => ({id: 'left' + amount, star: 's17', fan: 'mochi', choice: amount, amount, at: Date.now() - ago}))))`),
		visit(p, "/show/gift/s17?me=mochi&lang=en"),
		becomes(`page.fields('fans')`, "1 mochi 11"),
	)
}
