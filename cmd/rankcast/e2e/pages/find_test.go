//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/server/servertest"
)

// named gives members of a kind names.
func named(t *testing.T, p *e2etest.Process, kind string, names map[string]string) {
	t.Helper()
	for member, name := range names {
		a := servertest.Request(t, "PUT", "http://"+p.Addr+"/v1/members/"+kind+"/"+member, fmt.Sprintf(`{"name":%q}`, name))
		require.Equal(t, 2, a.Status/100, a.Body)
	}
}

const (
	findBox = `document.querySelector('#find-input')`
	found   = `[...document.querySelectorAll('#find-list [role=option]')]
		.map(option => option.textContent.replace(/\s+/g, ' ').trim()).join(' | ')`
	urlMe     = `new URLSearchParams(location.search).get('me') ?? 'none'`
	following = `[...document.querySelectorAll('#following, #following-hint, #me-problem:not(:empty)')]
		.filter(part => part.checkVisibility()).map(part => part.innerText.replace(/\s+/g, ' ').trim()).join(' | ')`
	// pickRow is a script that picks the row of a member, as a tap on it does.
	pickRow = `board.dispatchEvent(new CustomEvent('pick', {detail: {member: %[1]q, entry: {member: %[1]q, name: %[2]q}}}))`
)

// A reader finds a member by its name, chooses it with the arrows or a tap, and follows it. What only an id finds, or no
// score has yet, Enter follows too.
func TestSearchOfABoardFindsMembersByName(t *testing.T) {
	t.Parallel()
	const name = "<img src=x onerror=alert(1)>"
	p := e2etest.LaunchBoards(t,
		`boards: {stars: {kind: star, display: {unit: pts}}, quick: {kind: star, period: 1s, keep: 1000, base: "2026-01-01T00:00:00Z"}}`)
	named(t, p, "star", map[string]string{"s17": "Solveig Harte", "s18": "Sol Reyes", "s1": name})
	require.Equal(t, 200,
		p.Post("stars", `{"updates":[{"member":"ann","score":70},{"member":"bob","score":60},{"member":"cid","score":50},`+
			`{"member":"dan","score":40},{"member":"eve","score":30},{"member":"s17","score":20},{"member":"s18","score":10},`+
			`{"member":"s1","score":5}]}`).Status)
	type_ := func(text string) chromedp.Action[chromedp.Void] {
		return typeInto("#find-input", text)
	}
	ctx := window(t, 390, 844)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/boards/stars?top=5"),
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
		type_("s"), becomes(`String(document.querySelectorAll('#find-list [role=option]').length)`, "4"), type_(kb.ArrowUp+kb.Enter),
		becomes(urlMe, "s"),
		// What can be no id is said, and changes nothing.
		type_(strings.Repeat("é", 64)+"x"+kb.Enter), becomes(following, "You follow s Stop | A member id has at most 128 bytes."),
		becomes(urlMe, "s"),
		type_(kb.Escape), becomes(`String(document.activeElement === document.body)`, "true"),

		click("#unfollow"), follows(""), becomes(urlMe, "none"), becomes(following, "Tap a row to follow its member."),
	))

	// On a closed period too.
	var counted struct{ Period string }
	p.Post("quick", `{"member":"s17","score":20}`).Into(&counted)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/boards/quick@"+counted.Period), shows("s17"),
		becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=state]').textContent`, "Final"),
		type_("har"), becomes(found, "S Solveig Harte 20 No. 1 | Follow the id “har”"), type_(kb.Enter), follows("listed: 1 Solveig Harte 20")))
}

// The last answer wins: the page drops one that comes after the reader has typed on.
func TestSearchOfABoardShowsTheLastAnswer(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	require.Equal(t, 200, p.Post("stars", `{"updates":[{"member":"ann","score":70},{"member":"bob","score":60}]}`).Status)
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/boards/stars"), shows("ann", "bob"),
		// The answers of the test come when the test says so.
		script(`var asked = [], answer = (i, member, complete) =>
			asked[i].resolve(Response.json({entries: [{rank: 1, member, score: 70}], complete}));
			globalThis.fetch = (url, {signal}) => new Promise((resolve, reject) => {
				signal.addEventListener('abort', () => reject(signal.reason));
				asked.push({q: new URL(url).searchParams.get('q'), resolve, signal});
			});`),
		typeInto("#find-input", "a"), becomes(`asked.map(({q}) => q).join()`, "a"),
		typeInto("#find-input", "n"), becomes(`asked.map(({q, signal}) => q + signal.aborted).join()`, "atrue,anfalse"),
		script(`answer(1, 'ann', false); answer(0, 'bob', true)`),
		becomes(found, "A ann 70 No. 1 | Follow the id “an”"), becomes(textOf("#find-note"), "There are more. Type on to find them."),
		// Without an answer an id still works, once the reader says that the text is one.
		typeInto("#find-input", "n"+kb.Enter), becomes(`asked.at(-1).q`, "ann"), script(`asked.at(-1).resolve(new Response('', {status: 500}))`),
		becomes(textOf("#find-note"), "The search gets no answer now. Type again to retry."), becomes(found, "Follow the id “ann”"),
		becomes(urlMe, "none"),
		typeInto("#find-input", kb.Enter), becomes(urlMe, "ann"),
	))
}

// A tap on a row follows its member. The device remembers the member for boards of its kind, until the reader stops.
func TestPageFollowsWhoIsTappedAndRemembersIt(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {stars: {kind: star}, month: {kind: star}, laps: {kind: driver}}`)
	named(t, p, "star", map[string]string{"bob": "Bob Stone"})
	for _, board := range []string{"stars", "month", "laps"} {
		require.Equal(t, 200, p.Post(board, `{"updates":[{"member":"ann","score":70},{"member":"bob","score":60}]}`).Status)
	}
	ctx := ownWindow(t, 1280, 900)
	at := func(path string) chromedp.Action[chromedp.Void] { return chromedp.Navigate("http://" + p.Addr + path) }
	picks := func(member, name string) chromedp.Action[chromedp.Void] {
		return script(`var board = document.querySelector('live-leaderboard'); ` + fmt.Sprintf(pickRow, member, name))
	}
	require.NoError(t, chromedp.Do(ctx,
		at("/boards/stars"), shows("ann", "bob"), becomes(`document.querySelector('live-leaderboard').getAttribute('pickable')`, ""),
		picks("bob", "Bob Stone"), follows("listed: 2 Bob Stone 10 to next 60"), becomes(urlMe, "bob"),
		becomes(following, "You follow Bob Stone Stop"),
		// On another board of the kind, and no other one.
		at("/boards/month"), follows("listed: 2 Bob Stone 10 to next 60"), becomes(urlMe, "bob"),
		at("/boards/laps"), shows("ann", "bob"), becomes(urlMe, "none"), becomes(following, "Tap a row to follow its member."),
		// Links go along with it as far as it is one of their members.
		at("/boards/stars"), becomes(urlMe, "bob"),
		becomes(`[...document.querySelectorAll('#boards a')].map(a => a.getAttribute('href').replace(location.origin, '')).join()`,
			"/boards/laps,/boards/month?me=bob,/boards/stars?me=bob"),
		// An address names another one for now.
		at("/boards/stars?me=ann"), becomes(following, "You follow ann Stop"), at("/boards/stars"), becomes(urlMe, "bob"),
		click("#unfollow"), becomes(urlMe, "none"), at("/boards/stars"), shows("ann", "bob"),
		becomes(following, "Tap a row to follow its member."), becomes(urlMe, "none"),
		// A device that stores nothing follows without it.
		script(`Storage.prototype.setItem = Storage.prototype.removeItem = Storage.prototype.getItem =
			() => { throw new DOMException('', 'SecurityError'); }`),
		picks("ann", ""), becomes(urlMe, "ann"), click("#unfollow"), becomes(urlMe, "none"),
	))
}
