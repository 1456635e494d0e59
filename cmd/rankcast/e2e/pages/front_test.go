//go:build !race

package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// cardNames is an expression for the titles of the cards that can be seen, in order.
const cardNames = `page.all('.card-name').filter(name => name.checkVisibility()).map(name => name.textContent).join(', ')`

// The front page has the boards in the order of their activity. The cards of an open page keep their places.
func TestFrontPageIsInOrderOfActivity(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {a-empty: {}, b-calm: {}, c-busy: {}, "fam:{x}": {}}`)
	addToAna(p, "b-calm", 1)
	addToAna(p, "c-busy", 1)
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/"), becomes(cardNames, "b-calm, c-busy, a-empty, fam:{x}"))
	const busy = `document.querySelector('[data-board=c-busy] .card-%s').textContent`
	for score, rate := 2, ""; rate == ""; score++ { // until the node has measured one
		addToAna(p, "c-busy", 1)
		do(t, ctx, becomes(fmt.Sprintf(busy, "score"), fmt.Sprint(score)), evaluate(fmt.Sprintf(busy, "rate"), &rate))
	}
	const active = "c-busy, b-calm, a-empty, fam:{x}"
	do(t, ctx, becomes(cardNames, "b-calm, c-busy, a-empty, fam:{x}"),
		script(`document.querySelector('.card-name').click()`), becomes(textOf("#name"), "b-calm"),
		script(`history.back()`), becomes(cardNames, active),
		visit(p, "/"), becomes(cardNames, active))
}

// With many boards, a filter finds those whose title, name or first boards have a text.
func TestFrontPageFilter(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t,
		`boards: {b1: {}, b2: {}, b3: {}, b4: {}, b5: {}, b6: {}, cup: {title: {en: Grand Prix, zh: 大奖赛}}, "fam:{star}": {}}`)
	const filter = `document.querySelector('#filter')`
	note := textOf("#overview-note")
	hidesFilter := becomes(`String(`+filter+`.checkVisibility())`, "false")
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/"), becomes(note, "8 boards"), hidesFilter)
	p.Answers(201, "PUT", "/v1/boards/b7", "{}")
	setName(p, "star", "s1", "Mia Torres")
	addToAna(p, "fam:s1", 1)
	do(t, ctx,
		becomes(note, "9 boards"), becomes(textOf(".card-faces li"), "MMia Torres"),
		script(`document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true, cancelable: true}))`),
		becomes(`document.activeElement.id`, "filter"),
		typeInto("#filter", "pRIX"), becomes(cardNames, "Grand Prix"), becomes(note, "1 board matches."),
		script(filter+`.select()`), typeInto("#filter", "mia"), becomes(cardNames, "fam:{star}"),
		script(filter+`.select()`), typeInto("#filter", "a/b"), becomes(cardNames, ""), becomes(note, "No board matches “a/b”."),
		script(filter+`.select()`), typeInto("#filter", "b7\r"), becomes(`location.pathname`, "/boards/b7"),
		visit(p, "/?lang=zh"), script(filter+`.value = '大奖'; `+filter+`.dispatchEvent(new Event('input'))`),
		becomes(cardNames, "大奖赛"),
	)
}

// A family has a card for each board, named by the member that the board is of, with who leads it; the next ones follow when
// the reader asks for them.
func TestFamilyHasCards(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {"fans:{star}": {title: {en: "Fans of {star}", zh: "{star}的粉丝"}, kind: user, period: day}}`)
	setName(p, "star", "s00", "Mia Torres")
	setName(p, "user", "ana", "Ana")
	for i := range 53 {
		addToAna(p, fmt.Sprintf("fans:s%02d", i), 40+i)
	}
	const cards = `document.querySelectorAll('#instances .card').length + ' ' + document.querySelector('#more-boards').checkVisibility()`
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/"), becomes(cardNames, "Fans of …"), becomes(textOf(".card-faces li"), "MMia Torres"),
		becomes(textOf(".card-total"), "53 boards"),
		script(`var stays = true; document.querySelector('.card-faces a').click()`), becomes(textOf("#name"), "Fans of Mia Torres"),
		script(`document.querySelector('#boards a').click()`), becomes(textOf("#name"), "Fans of …"),
		becomes(cards, "50 true"), becomes(textOf("#instances-note"), "50 of 53 boards"),
		// On a phone, too, the name stands in one line, and the form below it.
		chromedp.EmulateViewport(390, 844),
		holds(`document.querySelector('#name').offsetHeight < 60
			&& page.box('#instance').top
				>= page.box('#name').bottom`),
		chromedp.EmulateViewport(1280, 900),
		becomes(`['.card-name', '.card-member', '.card-score', '.card-total']
			.map(part => document.querySelector('#instances ' + part).textContent).join()`, "Mia Torres,Ana,40,1 member"),
		becomes(`document.querySelector('#instances .card-name').title`, "fans:s00"),
		script(`document.querySelector('#more-boards').click()`), becomes(cards, "53 false"), becomes(textOf("#instances-note"), "53 boards"),
		holds(`stays`),
	)
	addToAna(p, "fans:s00", 2)
	do(t, ctx, becomes(`document.querySelector('#instances .card-score').textContent`, "42"))
}

// Boards have their icons, on cards and in the list of boards; of another site only those that the server names.
func TestBoardsHaveIcons(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {own: {icon: /assets/shared/favicon.svg}, other: {icon: "https://example.org/i.png"}}`)
	answered := func(path string) chromedp.Action[chromedp.Void] {
		return becomes(fmt.Sprintf(`String(page.answered(%q))`, path), "true")
	}
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/"), answered("/v1/overview"), becomes(`page.icons()`, "other false0,own true1"),
		visit(p, "/boards/own"), answered("/v1/boards"), becomes(`page.icons()`, "other false0,own true1"),
	)
}

// The page of a board that is not there offers nothing to do with it.
func TestUnknownBoardOffersNothing(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {here: {}}`)
	const offers = `['#choices', '#share', '#full-screen'].map(part => document.querySelector(part)?.checkVisibility() ?? false).join()`
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/nope"), becomes(textOf("h1"), "No such board"), becomes(offers, "false,false,false"),
		visit(p, "/boards/here"), becomes(offers, "true,true,true"),
	)
	p.Answers(204, "DELETE", "/v1/boards/here", "")
	do(t, ctx, script(`dispatchEvent(new Event('online'))`), becomes(offers, "false,false,false"))
}

// Periods have the names that people give them, and their own name at hand.
func TestPeriodsAreNamedForPeople(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {day: {period: day}, stars: {period: week}}`)
	current := periodOf(p, "stars", `{"member":"ana","score":1}`)
	const period = `(link => link.textContent + ' ' + link.title)(document.querySelector('#periods a'))`
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/stars"), becomes(`page.state()`, "live"), becomes(period, "This week "+current),
		holds(`/^[A-Z][a-z]+ [0-9]/.test(page.part('period-name').textContent)`), becomes(`page.part('period-name').title`, current),
		visit(p, "/boards/stars?lang=zh"), becomes(period, "本周 "+current),
		visit(p, "/"),
		becomes(`page.all('.card-period').map(period => period.textContent).sort().join()`, "This week,Today"),
	)
}

// On a phone, the head is one line, however long the title of a show.
func TestHeadIsOneLineOnPhones(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {stars: {kind: star}, "fans:{star}": {kind: user}}
events:
  gift:
    show: {title: A night of flowers for all the stars of this year, board: stars, fans: "fans:{star}"}
    updates: [{board: stars, member: "{star}", score: "{n}"}, {board: "fans:{star}", member: "{user}", score: "{n}"}]`)
	ctx := window(t, 390, 844)
	for _, path := range []string{"/?lang=en", "/boards/stars?lang=en", "/?lang=zh"} {
		for _, width := range []int64{300, 390, 470} {
			do(t, ctx, visit(p, path), resize(width, 844), becomes(`document.querySelector('.show-link').checkVisibility() + ' ' +
				document.documentElement.scrollWidth + ' ' + (page.box('.masthead').height < 64)`, fmt.Sprintf("true %d true", width)))
		}
	}
}

// On a phone, a long moment is whole, in two lines, and nothing moves.
func TestLongMomentIsWholeOnPhones(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {stars: {kind: star}}`)
	p.Post("stars", e2etest.Scores("ann", 40, "bob", 30))
	ctx := window(t, 390, 844)
	do(t, ctx, visit(p, "/boards/stars?lang=en"), isLive, script(`var place = page.placesOfRows(), moment = page.part('moment');
			moment.textContent = 'Zoë Marchetti-Fontaine passed Alessandra Okafor-Lindqvist for No. 12'`),
		becomes(`String(moment.offsetHeight > 0 && moment.scrollHeight <= moment.offsetHeight
			&& moment.scrollWidth <= moment.offsetWidth && place === page.placesOfRows())`, "true"))
}

// A wall screen is filled by the cards of a few boards.
func TestFrontPageFillsAWall(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	ctx := window(t, 2560, 1440)
	do(t, ctx, chromedp.Navigate("http://"+addr+"/"),
		becomes(`(cards => String(cards.right - cards.left >= 0.9 * innerWidth && cards.bottom >= 0.93 * innerHeight
			&& cards.bottom <= innerHeight))(page.box('#cards'))`, "true"),
		holds(`page.all('.card-row').filter(row => row.checkVisibility()).length >= 25`),
		chromedp.Navigate("http://"+addr+"/boards/fans:%7Bstar%7D"),
		becomes(`(cards => String(cards.right >= 0.95 * innerWidth && cards.bottom >= 0.93 * innerHeight))(page.box('#instances'))`, "true"),
	)
}
