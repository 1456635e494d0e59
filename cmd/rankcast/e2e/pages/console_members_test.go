//go:build !race

package pages

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/server/access"
)

// defineMatch defines an event that counts for players and for their teams, and its boards.
func defineMatch(p *consoleProcess) {
	p.may(201, "PUT", "/v1/boards/players", `{"kind":"player","history":"10s"}`)
	p.may(201, "PUT", "/v1/boards/teams", `{"kind":"team"}`)
	p.may(201, "PUT", "/v1/events/match", `{"updates":[{"board":"players","member":"{player}","score":"{points}"},
		{"board":"teams","member":"{team}","score":"{points}"}]}`)
}

// dialogText is what a dialog says.
const dialogText = `page.texts('dialog p, dialog li').replace(/[\u2068\u2069]/g, '')`

// listIn is what the list of a section says: its rows, or that there are none.
func listIn(section string) string {
	return fmt.Sprintf(`page.all('.view section').filter(s => s.querySelector('h2')?.textContent === %q)
		.flatMap(s => page.all('tbody tr, .empty', s)).filter(part => part.checkVisibility()).map(page.words).join(' | ')`, section)
}

var standings, places = listIn("Boards"), listIn("Hidden")

// An administrator finds a member, sets a score, hides the member and shows it again, corrects it on all boards of an event, and
// erases it. Each dialog says what will happen.
func TestConsoleMember(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "")
	defineMatch(p)
	p.may(201, "PUT", "/v1/members/player/"+url.PathEscape(hostile), `{"name":"<b>Ana</b>"}`)
	for id, points := range map[string]int{"m1": 50, "m2": 30} {
		p.may(200, "POST", "/v1/events/match", fmt.Sprintf(`{"id":%q,"player":%q,"team":"red","points":%d}`, id, hostile, points))
	}
	p.may(200, "POST", "/v1/events/match", `{"player":"eli","team":"red","points":7}`)
	ctx := ownWindow(t, 390, 900)
	do(t, ctx,
		p.signIn(p.ops, "members"),
		enter("[name=kind]", "player"),
		enter("[name=q]", "ana"),
		press("Search"),
		becomes(`page.texts('.panel tbody tr')`, "<b>Ana</b>"+hostile),
		holds(noSideways),
		script(`document.querySelector('.panel tbody a').click()`),
		becomes(textOf(".view h1"), "<b>Ana</b>"),
		becomes(standings, "players1 of 280Set the scoreHide"),
		becomes(places, "The member is not hidden."),
		holds(noSideways),

		press("Set the score"),
		becomes(`document.querySelector('dialog [name=score]').value`, "80"),
		enter("dialog [name=score]", "81"),
		enter("dialog [name=reason]", "lost result"),
		press("Set the score"),
		becomes(standings, "players1 of 281Set the scoreHide"),

		press("Hide on all boards"),
		holds(dialogText+`.includes('stays in their sums: by the event “match” on “teams”')`),
		enter("dialog [name=reason]", "bot"),
		press("Hide"),
		becomes(places, "All boards of the kindShow again"),
		becomes(standings, "The member stands on no board. It may be hidden, or have no score."),
		press("Show again"),
		press("Show again"),
		becomes(places, "The member is not hidden."),
		becomes(standings, "players1 of 281Set the scoreHide"),

		press("Hide"),
		press("Hide"),
		becomes(places, "playersShow again"),
		becomes(standings, "The member stands on no board. It may be hidden, or have no score."),
	)
	require.Contains(t, p.may(200, "GET", "/v1/boards/players/hidden", "").Body, `"score":81`)
	do(t, ctx,
		// The difference corrects the team too. A hidden member takes it.
		enter(".difference [name=team]", "red"),
		enter(".difference [name=points]", "-31"),
		becomes(`page.texts('.difference tbody tr')`, "players"+hostile+"-31 | teamsred-31"),
		press("Send the difference …"),
		press("Send"),
		becomes(`page.texts('.answer tbody td:nth-child(4)')`, "50 | 56"),
		enter(".take-back [name=id]", "m1"),
		press("Take back …"),
		press("Take back"),
		becomes(`page.texts('.take-back .answer tbody td:nth-child(4)')`, "– | 6"),

		press("Erase"),
		holds(dialogText+`.includes('It stands on no board now.')`),
		enter("dialog [name=reason]", "asked for it"),
		enter("dialog [name=typed]", hostile),
		press("Erase for ever"),
		holds(textOf(".erasure")+`.startsWith('Erased')`),
		becomes(textOf(".view h1"), hostile),
		holds(noSideways),
		holds(`!document.querySelector('img[src=x]')`),
		script(`[...document.querySelectorAll('a')].find(a => page.words(a) === 'Audit of this member').click()`),
		becomes(`document.querySelector('[name=kind]').value + document.querySelector('[name=member]').value`, "player"+hostile),
	)
	p.may(404, "GET", "/v1/members/player/"+url.PathEscape(hostile), "")
}

// A moderator sees the kinds of its key alone, and only those acts that the key allows.
func TestConsoleMemberOfModerator(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "")
	p.may(200, "POST", "/v1/events/gift", `{"id":"g1","star":"s17","user":"u4","flowers":3}`)
	const (
		kinds   = `page.all('[name=kind]').map(page.words).join(' | ')`
		buttons = `page.texts('.view button')`
	)
	ctx := ownWindow(t, 1280, 900)
	do(t, ctx,
		p.signIn(p.mod, "members"),
		becomes(kinds, "star | star"),
		script(`location.hash = '#/members/star/s17'`),
		becomes(standings+`.replace(/20\d\d-W\d\d/, 'W')`, "starsW1 of 13Set the scoreHide"),
		becomes(buttons, "Hide on all boards | Erase | Hide there | Show again there | Set the score | Hide | Take back …"),
		enter(".take-back [name=id]", "g1"),
		press("Take back …"),
		press("Take back"),
		becomes(standings, "The member stands on no board. It may be hidden, or have no score."),

		// The key may moderate the boards of fans, and not their kind.
		script(`location.hash = '#/members/user/u4'`),
		becomes(standings, "The member stands on no board. It may be hidden, or have no score."),
	)
	p.may(200, "POST", "/v1/events/gift", `{"star":"s17","user":"u4","flowers":3}`)
	do(t, ctx,
		chromedp.Reload(),
		becomes(standings+`.replace(/20\d\d-\d\d-\d\d/, 'D')`, "fans:s17D1 of 13Set the scoreHide"),
		becomes(buttons, "Hide there | Show again there | Set the score | Hide | Take back …"),
		script(`page.all('.view button').find(button => page.words(button) === 'Hide').focus()`),
		press("Hide"),
		press("Hide"),
		becomes(standings, "The member stands on no board. It may be hidden, or have no score."),
	)
	require.Contains(t, p.may(200, "GET", "/v1/boards/fans:s17/hidden", "").Body, `"member":"u4"`)
	do(t, ctx,
		holds(`document.activeElement === document.querySelector('.view h1')`), // the button has gone with its row
		enter("[name=board]", "fans:s17"),
		press("Show again there"),
		press("Show again"),
		becomes(standings+`.replace(/20\d\d-\d\d-\d\d/, 'D')`, "fans:s17D1 of 13Set the scoreHide"),
	)
}

// Many members are hidden one after the other. Each is named that the server refuses; what it asks to wait for waits.
func TestConsoleManyMembers(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "")
	defineMatch(p)
	slow := access.NewKey()
	p.allow(t, p.opsLine(), fmt.Sprintf("  - {name: slow, hash: %q, scopes: [moderate], kinds: [player], rate: 4/s}\n", access.HashKey(slow)))
	require.Eventually(t, func() bool { return p.Request("GET", "/v1/session", "", "Authorization", "Bearer "+slow).Status == 200 },
		10*time.Second, 50*time.Millisecond, "the server reads the access file")
	ids := make([]string, 40)
	for i := range ids {
		ids[i] = fmt.Sprint("u", i)
	}
	tooLong := strings.Repeat("x", 300)
	ctx := ownWindow(t, 390, 900)
	do(t, ctx,
		p.signIn(slow, "members"),
		enter("[name=ids]", strings.Join(ids, "\n")+", u7 u8\t<i>,"+tooLong),
		becomes(`page.texts('.bulk > .quiet-text')`, "42 members; 2 given again."),
		holds(noSideways),
		press("Look at what it will do …"),
		becomes(textOf("dialog h2")+`.replace(/[\u2068\u2069]/g, '')`, "Hide 42 members on all boards of the kind “player”"),
		becomes(`page.texts('dialog li')`, strings.Join(ids[:10], " | ")),
		enter("dialog [name=reason]", "bots"),
		press("Hide"),
		holds(`page.texts('[role=status]').includes('41 members done, 1 failed, 0 left.')`),
		becomes(`page.texts('.section-content tbody td:first-child')`, tooLong),
		holds(noSideways),
		press("Try 1 member again"),
		holds(`page.texts('[role=status]').includes('0 members done, 1 failed, 0 left.')`),
	)
	require.Contains(t, p.may(200, "GET", "/v1/hidden/player", "").Body, `"total":41`)
}
