//go:build !race

package pages

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// named gives members of a kind names.
func named(t *testing.T, p *e2etest.Process, kind string, names map[string]string) {
	t.Helper()
	for member, name := range names {
		a := p.Request("PUT", "/v1/members/"+kind+"/"+member, fmt.Sprintf(`{"name":%q}`, name))
		require.Equal(t, 2, a.Status/100, a.Body)
	}
}

const (
	findBox   = `document.querySelector('#find-input')`
	found     = `page.all('#find-list [role=option]').map(page.words).join(' | ')`
	urlMe     = `new URLSearchParams(location.search).get('me') ?? 'none'`
	following = `page.all('#following, #following-hint, #me-problem:not(:empty)')
		.filter(part => part.checkVisibility()).map(part => part.innerText.replace(/\s+/g, ' ').trim()).join(' | ')`
	// pickRow is a script that picks the row of a member, as a tap on it does.
	pickRow = `board.dispatchEvent(new CustomEvent('pick', {detail: {member: %[1]q, entry: {member: %[1]q, name: %[2]q}}}))`
)

// A reader finds a member by its name, chooses it with the arrows or a tap, and follows it. Enter also follows a member by its
// id, even one without a score.
func TestSearchOfABoardFindsMembersByName(t *testing.T) {
	t.Parallel()
	const name = "<img src=x onerror=alert(1)>"
	p := e2etest.LaunchBoards(t,
		`boards: {stars: {kind: star, display: {unit: pts}}, quick: {kind: star, period: 1s, keep: 1000, base: "2026-01-01T00:00:00Z"}}`)
	named(t, p, "star", map[string]string{"s17": "Solveig Harte", "s18": "Sol Reyes", "s1": name})
	p.Update("stars", e2etest.Scores("ann", 70, "bob", 60, "cid", 50, "dan", 40, "eve", 30, "s17", 20, "s18", 10, "s1", 5))
	type_ := func(text string) chromedp.Action[chromedp.Void] {
		return typeInto("#find-input", text)
	}
	ctx := window(t, 390, 844)
	do(t, ctx,
		visit(p, "/boards/stars?top=5"),
		shows("ann", "bob", "cid", "dan", "eve"), follows(""), becomes(following, "Tap a row to follow its member."),

		// Suggestions while typing, the first one selected; the arrows choose, Enter follows.
		type_("Sol"), becomes(found, "S Solveig Harte 20 pts No. 6 | S Sol Reyes 10 pts No. 7 | Follow the id “Sol”"),
		becomes(findBox+`.ariaExpanded + document.getElementById(`+findBox+`.getAttribute('aria-activedescendant')).ariaSelected`, "truetrue"),
		becomes(textOf("#find-status"), "2 members found."),
		type_(kb.ArrowDown+kb.Enter),
		follows("below: 7 Sol Reyes 10 to next 10 pts"), becomes(urlMe, "s18"), becomes(following, "You follow Sol Reyes Jump to No. 7 Stop"),
		becomes(findBox+`.value + document.querySelector('#find-panel').checkVisibility()`, "false"),

		// Enter need not wait for the suggestions.
		type_("solveig"+kb.Enter), follows("below: 6 Solveig Harte 10 to next 20 pts"), becomes(urlMe, "s17"),
		becomes(following, "You follow Solveig Harte Jump to No. 6 Stop"),
		// A tap; and a name is text, whatever it looks like.
		type_("img"), becomes(found, "I "+name+" 5 pts No. 8 | Follow the id “img”"), click("#find-list-0"),
		becomes(urlMe, "s1"), becomes(`String(document.querySelector('#following-name img'))`, "null"),

		// An id that has no score yet is the only one to follow, or the last.
		type_("nobody"), becomes(found, "Follow the id “nobody”"), becomes(textOf("#find-note"), "No member of this board has this name or id."),
		type_(kb.Enter), follows("below: nobody has no score yet"), becomes(urlMe, "nobody"),
		type_("s"), becomes(`page.count('#find-list [role=option]')`, "4"), type_(kb.ArrowUp+kb.Enter),
		becomes(urlMe, "s"),
		// What can be no id is said, and changes nothing.
		type_(strings.Repeat("é", 64)+"x"+kb.Enter), becomes(following, "You follow s Stop | A member id has at most 128 bytes."),
		becomes(urlMe, "s"),
		type_(kb.Escape), holds(`document.activeElement === document.body`),

		click("#unfollow"), follows(""), becomes(urlMe, "none"), becomes(following, "Tap a row to follow its member."),
	)

	// On a closed period too.
	period := periodOf(p, "quick", `{"member":"s17","score":20}`)
	do(t, ctx, chromedp.Navigate("http://"+p.Addr+"/boards/quick@"+period), shows("s17"),
		becomes(`page.part('state').textContent`, "Final"),
		type_("har"), becomes(found, "S Solveig Harte 20 No. 1 | Follow the id “har”"), type_(kb.Enter), follows("listed: 1 Solveig Harte 20"))
}

// The last answer wins: the page drops one that comes after the reader has typed on.
func TestSearchOfABoardShowsTheLastAnswer(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	p.Update("stars", e2etest.Scores("ann", 70, "bob", 60))
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/boards/stars"), shows("ann", "bob"),
		// The answers of the test come when the test says so.
		step(t, "answer-searches"),
		typeInto("#find-input", "a"), becomes(`asked.map(({q}) => q).join()`, "a"),
		typeInto("#find-input", "n"), becomes(`asked.map(({q, signal}) => q + signal.aborted).join()`, "atrue,anfalse"),
		script(`answer(1, 'ann', false); answer(0, 'bob', true)`),
		becomes(found, "A ann 70 No. 1 | Follow the id “an”"), becomes(textOf("#find-note"), "There are more. Type on to find them."),
		// Without an answer an id still works, once the reader says that the text is one.
		typeInto("#find-input", "n"+kb.Enter), becomes(`asked.at(-1).q`, "ann"), script(`asked.at(-1).resolve(new Response('', {status: 500}))`),
		becomes(textOf("#find-note"), "The search gets no answer now. Type again to retry."), becomes(found, "Follow the id “ann”"),
		becomes(urlMe, "none"),
		typeInto("#find-input", kb.Enter), becomes(urlMe, "ann"),
	)
}

// A tap on a row follows its member. The device remembers the member for boards of its kind, until the reader stops.
func TestPageFollowsWhoIsTappedAndRemembersIt(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {stars: {kind: star}, month: {kind: star}, laps: {kind: driver}}`)
	named(t, p, "star", map[string]string{"bob": "Bob Stone"})
	for _, board := range []string{"stars", "month", "laps"} {
		p.Update(board, e2etest.Scores("ann", 70, "bob", 60))
	}
	ctx := ownWindow(t, 1280, 900)
	at := func(path string) chromedp.Action[chromedp.Void] { return chromedp.Navigate("http://" + p.Addr + path) }
	picks := func(member, name string) chromedp.Action[chromedp.Void] {
		return script(`var board = page.board(); ` + fmt.Sprintf(pickRow, member, name))
	}
	do(t, ctx,
		at("/boards/stars"), shows("ann", "bob"), becomes(`page.board().getAttribute('pickable')`, ""),
		picks("bob", "Bob Stone"), follows("listed: 2 Bob Stone 10 to next 60"), becomes(urlMe, "bob"),
		becomes(following, "You follow Bob Stone Stop"),
		// The page follows the member on another board of the kind, but on no board of another kind.
		at("/boards/month"), follows("listed: 2 Bob Stone 10 to next 60"), becomes(urlMe, "bob"),
		at("/boards/laps"), shows("ann", "bob"), becomes(urlMe, "none"), becomes(following, "Tap a row to follow its member."),
		// The links to boards of the kind name the member.
		at("/boards/stars"), becomes(urlMe, "bob"),
		becomes(`page.all('#boards a').map(a => a.getAttribute('href').replace(location.origin, '')).join()`,
			"/boards/laps,/boards/month?me=bob,/boards/stars?me=bob"),
		// An address that names another member counts for its page alone.
		at("/boards/stars?me=ann"), becomes(following, "You follow ann Stop"), at("/boards/stars"), becomes(urlMe, "bob"),
		click("#unfollow"), becomes(urlMe, "none"), at("/boards/stars"), shows("ann", "bob"),
		becomes(following, "Tap a row to follow its member."), becomes(urlMe, "none"),
		// A device that stores nothing follows without it.
		script(`Storage.prototype.setItem = Storage.prototype.removeItem = Storage.prototype.getItem =
			() => { throw new DOMException('', 'SecurityError'); }`),
		picks("ann", ""), becomes(urlMe, "ann"), click("#unfollow"), becomes(urlMe, "none"),
	)
}

// On a phone the rows begin high on the screen: the search is a button beside the periods, and a box with the focus.
func TestPhoneHasRoomForRows(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {days: {period: day, timezone: Asia/Shanghai}, all: {}, none: {}}`)
	fill(t, p, "days", 30)
	fill(t, p, "all", 30)
	const (
		row    = `page.root().querySelector('[part=list] > li').getBoundingClientRect().top`
		search = `document.querySelector('#find-input').getBoundingClientRect()`
		beside = search + `.left >= page.box('#periods').right`
	)
	ctx := ownWindow(t, 390, 844)
	do(t, ctx,
		visit(p, "/boards/days?lang=en"), isLive, holds(row+` < 320`), holds(beside), holds(search+`.width < 48`),
		click("#find-input"), holds(search+`.width > 340`),
		visit(p, "/boards/all?lang=en"), isLive, holds(row+` < 320`), holds(search+`.width > 240`),
	)
	// A line below the list names the followed member and its neighbours. An empty board has no row to tap.
	const line = `document.querySelector('.following').innerText.replace(/\s+/g, ' ').trim()`
	do(t, ctx,
		becomes(line, "Tap a row to follow its member."), holds(`page.box('.following').top > page.box('#leaderboard').bottom`),
		visit(p, "/boards/all?me=m0002"), becomes(line, "You follow m0002 Stop 1 behind m0001, 1 ahead of m0003"),
		visit(p, "/boards/none"), isLive, becomes(line, ""),
	)
}

// A reader shares exactly the page in front of them, and takes its board to another site.
func TestReaderSharesABoard(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {"fans:{star}": {kind: user}}`)
	p.Update("fans:s1", `{"member":"ann","score":70}`)
	address := "http://" + p.Addr + "/boards/fans:s1?top=5&me=ann"
	embed := "http://" + p.Addr + "/embed/fans:s1?top=5"
	const open = `document.querySelector('#share-dialog').open`
	done := becomes(textOf("#share-done"), "Copied")
	ctx := window(t, 390, 844)
	do(t, ctx, chromedp.Navigate(address), shows("ann"),
		isLive,
		script(`var copied = '', mayCopy = true, shared = '';
			navigator.clipboard.writeText = async text => {
				if (!mayCopy) throw new DOMException('', 'NotAllowedError');
				copied = text;
			};
			document.addEventListener('securitypolicyviolation', ({violatedDirective}) => shared += violatedDirective);`),
		click("#share"), becomes(`String(`+open+`)`, "true"), becomes(`page.focus()`, "share-close"),
		becomes(textOf("#share-url"), address), becomes(`new URL(document.querySelector('#share-qr').src).search`,
			"?text="+url.QueryEscape(address)),
		becomes(`(qr => String(qr.complete && qr.naturalWidth > 0))(document.querySelector('#share-qr'))`, "true"), becomes(`shared`, ""),
		becomes(`(card => String(card.complete && card.naturalWidth))(document.querySelector('#share-card'))`, "1200"),
		click("#share-dialog summary"), click("#share-copy-url"), done, becomes(`copied`, address),
		click("#share-copy-frame"), becomes(`copied`, `<iframe src="`+embed+`" width="480" height="354" title="fans:s1 · Rankcast"></iframe>`),
		click("#share-copy-element"), becomes(`copied`, `<script type="module" src="http://`+p.Addr+`/kit/rankcast.js"></script>`+
			"\n"+`<live-leaderboard board="fans:s1" top="5"></live-leaderboard>`),
		// Where the page may not copy, the text is there to be copied by hand.
		script(`mayCopy = false`), click("#share-copy-url"), becomes(`String(getSelection())`, address),
		becomes(`document.querySelector('#overlay-link').href.replace(location.origin, '')`, "/boards/fans:s1/overlay?me=ann"),
		typeInto("#share-copy-url", kb.Escape), becomes(`String(`+open+`)`, "false"), becomes(`page.focus()`, "share"),
		// The share sheet of the device, where it has one.
		beforeScripts(`var shared; Navigator.prototype.share = async data => shared = data.title + ' ' + data.url`),
		chromedp.Navigate(address), shows("ann"), click("#share"), click("#share-native"), becomes(`shared`, "fans:s1 · Rankcast "+address),
		// A language that the address names goes along.
		chromedp.Navigate(address+"&lang=zh"), shows("ann"), click("#share"),
		becomes(`document.querySelector('#share-frame').textContent.split('"')[1]`, embed+"&amp;lang=zh"),
	)
}

// A dialog darkens the whole window, and leaves the page below it where it is, whether the page scrolls or not.
func TestDialogsCoverTheWindow(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	fill(t, p, "stars", 100)
	fill(t, p, "fans:s1", 3)
	ctx := window(t, 1920, 1080)
	const page = `document.documentElement.getBoundingClientRect().width`
	const places = `['.brand', '.site', 'main'].map(page.box).flatMap(({left, right, top}) => [left, right, top]).join()`
	const dialog = `page.all('dialog[open]')`
	for _, c := range []struct{ path, opens, scrolls string }{{"/boards/fans:s1", "#share", "false"},
		{"/boards/stars?top=100", "#share", "true"}, {"/show/gift", "#viewer", "true"}} {
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+c.path), holds(`page.shown()`),
			holds(`page.all('live-leaderboard').some(({dataset}) => dataset.state === 'live')`),
			becomes(`String(document.documentElement.scrollHeight > innerHeight)`, c.scrolls),
			becomes(`String(`+page+` < innerWidth)`, "true"), // there is a gutter
			script(`scrollTo(0, 40); var before = `+places+`; document.querySelector('`+c.opens+`').click()`),
			becomes(dialog+`.map(open => parseFloat(getComputedStyle(open, '::backdrop').width) - innerWidth).join()`, "0"),
			becomes(`(now => now === before ? "" : before + " then " + now)(`+places+`)`, ""),
			script(dialog+`[0].close()`),
			becomes(`String(`+page+` < innerWidth && `+places+` === before)`, "true"),
		), c.path)
	}
}

// A board is alone on the whole screen, and large: as large as the members that there are leave room for.
func TestBoardFillsTheScreen(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {stars: {}, few: {}}`)
	fill(t, p, "stars", 30)
	fill(t, p, "few", 12)
	ctx := ownWindow(t, 1280, 900)
	// heights is an expression for how much of the screen the rows take, in percent.
	const height = `(list => Math.round(100 * list.getBoundingClientRect().height / innerHeight))(page.part('list'))`
	visible := becomes(`['#name', '#leaderboard', '#choices', '.sidebar', '.masthead']
		.filter(part => document.querySelector(part).checkVisibility()
			&& document.fullscreenElement?.contains(document.querySelector(part))).join()`, "#name,#leaderboard")
	do(t, ctx, visit(p, "/boards/stars"), becomes(listed, "10"),
		fullScreen, visible,
		becomes(`String(`+height+` > 60 && document.querySelector('#board').scrollHeight <= innerHeight)`, "true"),
		click("#full-screen"), becomes(`String(document.fullscreenElement)`, "null"),
		becomes(fullScreenPressed, "false"),
		becomes(`getComputedStyle(document.documentElement).scrollbarGutter`, "stable"),
		visit(p, "/boards/few?top=25"), becomes(listed, "12"), fullScreen,
		becomes(`String(`+height+` > 60 && document.querySelector('#board').scrollHeight <= innerHeight)`, "true"),
		// No room for a scroll bar: it would be a black strip.
		becomes(`getComputedStyle(document.documentElement).scrollbarGutter`, "auto"),
		click("#full-screen"), becomes(`String(document.fullscreenElement)`, "null"),
		visit(p, "/boards/stars"), becomes(listed, "10"),
		// On a wall the page itself fills the height.
		chromedp.EmulateViewport(2560, 1440), becomes(`String(`+height+
			` > 50 && page.board().getBoundingClientRect().bottom <= innerHeight)`, "true"),
	)
}
