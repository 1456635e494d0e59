//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostile is an id that would be markup, has a letter of each direction, and is longer than a phone is wide.
const hostile = `<img src=x onerror=alert(1)>אב/?#%` + "x_x_x_x_x_x_x_x_x_x_x_x_x_x_x_x_x_x_x_x_x_x_x_x"

// cheerEvent is an event whose fields have rules and stand in data, and 120 others.
func cheerEvent() string {
	var b strings.Builder
	b.WriteString("  cheer: {sender: user, fields: {n: {min: 1, max: 9, choices: [1, 9]}, star: {kind: star}}, " +
		"show: {board: stars, title: {en: Cheers}}, updates: [" +
		"{board: stars, member: '{star}', score: '{n}', data: {by: '{user}', note: '{note}'}}," +
		"{board: 'fans:{star}', member: '{user}', score: '{n}', if: exists}]}\n")
	for i := range 120 {
		fmt.Fprintf(&b, "  many-%03d: [{board: stars, member: '{star}', score: 1}]\n", i)
	}
	return b.String()
}

const (
	rows     = `page.texts('.paged tbody tr', ' ')`
	feedRows = `page.all('.feed tbody tr').map(row => page.words(row.cells[1])).join(' | ')`
	answers  = `page.all('.answer tbody tr').map(row => [...row.cells].map(page.words).join('; ')).join(' | ')`
	// noSideways is whether the page fits into the width of the window.
	noSideways = `document.documentElement.scrollWidth <= innerWidth`
)

// An administrator finds an event, sends one, sees it count and come by the feed, takes it back, and deletes the definition.
func TestConsoleEvents(t *testing.T) {
	t.Parallel()
	p := startConsole(t, cheerEvent())
	p.may(201, "PUT", "/v1/members/star/s17", `{"name":"<b>Sora</b>"}`)
	ctx := ownWindow(t, 390, 900)
	do(t, ctx,
		p.signIn(p.ops, "events"),
		becomes(`page.count('.paged tbody tr')`, "100"),
		becomes(textOf(".view [role=status]"), "122 of 122"),
		press("Show more"),
		becomes(`page.count('.paged tbody tr')`, "122"),
		enter("[name=filter]", "FANS3H"),
		becomes(rows, "giftstars, fans:{star}, fans3h:{star}"),
		enter("[name=filter]", "cheer"),
		becomes(rows, "cheerstars, fans:{star}user"),
		holds(noSideways),
		script(`document.querySelector('.paged tbody a').click()`),
		becomes(textOf(".view h1"), "cheer"),
		becomes(`document.title`, "cheer · Rankcast console"),
		becomes(`page.texts('.facts dd')`,
			"the field user | 10m at least | from 1 to 9; pages offer 1, 9 | a member with a profile of the kind star | stars"),
		becomes(textOf(".feed-state .badge"), "live"),

		// The form says where the event will count; what the server refuses stands at its field.
		enter(".event-form [name=star]", "s99"),
		enter(".event-form [name=user]", hostile),
		enter(".event-form [name=n]", "7"),
		enter(".event-form [name=note]", "<b>hi</b>"),
		becomes(`page.texts('.event-form tbody tr')`, "starss997 | fans:s99"+hostile+"7 if the member is on the board"),
		enter(".event-send [name=id]", hostile),
		press("Send"),
		becomes(`page.focus() === document.querySelector('.event-form [name=star]').id && page.texts('.event-form .problem')`,
			`star: is "s99", which has no profile of the kind star`),
		becomes(`document.querySelector('.event-send [name=id]').value`, hostile),
		enter(".event-form [name=star]", "s17"),
		press("Send"),
		becomes(`page.texts('.answer > p')`, "The event is sent. Id: "+hostile),
		becomes(answers+".replace(/ 20[^;]*/g, '')", "stars; s17; –; 7; 1;  | fans:s17; "+hostile+"; –; –; –; "),
		becomes(feedRows, "n 7 note <b>hi</b> star s17 user "+hostile),
		holds(noSideways),
		holds(`document.querySelector('.event-send [name=id]').value !== `+fmt.Sprintf("%q", hostile)),

		// The same id counts once.
		enter(".event-send [name=id]", hostile),
		press("Send"),
		becomes(`page.texts('.answer > p')`, "This id was there before. The event has counted once. Id: "+hostile),

		press("Take it back …"),
		becomes(`page.texts('dialog .name')`, "cheer | "+hostile),
		enter("dialog [name=reason]", "a test"),
		press("Take back"),
		becomes(`page.texts('.answer > p')`, "The event is taken back."),
		becomes(answers+".replace(/ 20[^;]*/g, '')", "stars; s17; 7; –; –; taken back | fans:s17; "+hostile+"; –; –; –; taken back"),
		holds(`document.activeElement.matches('.answer')`),
		holds(`!document.querySelector('img[src=x]')`),
	)
	var audit struct {
		Audit []struct{ Action, Event, ID, By, Reason string }
	}
	p.may(200, "GET", "/v1/audit?limit=1", "").Into(&audit)
	require.Equal(t, []any{"take_back", "cheer", hostile, "ops", "a test"}, []any{audit.Audit[0].Action, audit.Audit[0].Event,
		audit.Audit[0].ID, audit.Audit[0].By, audit.Audit[0].Reason})
	do(t, ctx,
		press("Edit"),
		becomes(textOf(".view h1"), "Edit cheer"),
		script(`history.back()`),
		press("Delete …"),
		enter("dialog [name=typed]", "cheers"),
		holds(`document.querySelector('dialog .danger').disabled`),
		enter("dialog [name=typed]", "cheer"),
		press("Delete"),
		becomes(textOf(".view h1"), "Events"),
		becomes(textOf(".view [role=status]"), "121 of 121"),
		press("New event"),
		becomes(textOf(".view h1"), "New event"),
	)
	p.may(404, "GET", "/v1/events/cheer", "")
}

// An administrator adds a total to an event in one step: its board, which counts over the time of the show, the update, and the name
// of its member. A board that is there stays as it is.
func TestConsoleAddsATotal(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "  cheer: [{board: stars, member: '{star}', score: '{n}'}, {board: stars, member: '{star}', score: 1}]\n")
	ctx := ownWindow(t, 390, 900)
	const changes = `page.all('dialog .checked').map(page.words).join()`
	do(t, ownWindow(t, 390, 900),
		p.signIn(p.mod, "events/gift"),
		becomes(textOf(".view h1"), "gift"),
		holds(`page.words(document.querySelector('.view')).includes('The whole definition')`),
		holds(`!page.words(document.querySelector('.view')).includes('Add a total')`),
	)
	do(t, ctx,
		p.signIn(p.ops, "events/gift"),
		press("Add a total …"),
		becomes(changes, "This defines the board total, which counts over the same time as stars:FieldValuekindtotalperiodweek"+
			"timezoneAsia/Shanghaiweek_startsmondayday_starts_at00:00And it adds update 4 to the event:BoardMemberScoretotalall{flowers}"),
		enter("dialog [name=member]", "{all}"),
		press("Add"),
		holds(`document.querySelector('dialog') !== null && !document.querySelector('dialog [name=member]').validity.valid`),
		enter("dialog [name=board]", "sum/of"),
		enter("dialog [name=member]", hostile),
		press("Add"),
		holds(`page.texts('dialog .problem').includes('sum/of')`),
		enter("dialog [name=board]", "sum"),
		enter("dialog [name=name]", "<b>All of you</b>"),
		holds(changes+`.includes('board sum,')`),
		holds(noSideways),
		press("Add"),
		becomes(`page.texts('#done')`, "The event gift counts on sum too."),
		becomes(`page.words(page.all('.view .panel tbody tr').at(3))`, "sum"+hostile+"{flowers}"),
		holds(noSideways),
	)
	p.may(200, "POST", "/v1/events/gift", `{"star":"s17","user":"mochi","flowers":7}`)
	top := p.may(200, "GET", "/v1/boards/sum/top", "")
	require.Contains(t, top.Body, `"score":7,"name":"<b>All of you</b>"`)
	do(t, ctx,
		script(`location.hash = '#/events/cheer'`),
		becomes(textOf(".view h1"), "cheer"),
		press("Add a total …"),
		enter("dialog [name=board]", "sum"),
		enter("dialog [name=score]", "1"),
		becomes(changes, "The board sum is there, and stays as it is.And it adds update 3 to the event:BoardMemberScoresumall1"),
		press("Add"),
		becomes(`page.texts('#done')`, "The event cheer counts on sum too."),
	)
	do(t, ctx,
		becomes(`page.count('.view .panel tbody tr td:nth-child(2)')`, "6"),
		press("Add a total …"),
		enter("dialog [name=board]", "sum"),
		press("Add"),
		becomes(`page.texts('dialog .field .problem')`, "The event adds to all on sum already."),
	)
	var cheer struct{ Updates []struct{ Score any } }
	p.may(200, "GET", "/v1/events/cheer", "").Into(&cheer)
	require.Len(t, cheer.Updates, 3)
	require.EqualValues(t, 1, cheer.Updates[2].Score)
}

// The feed shows the newest first, keeps what comes during a pause, and says when the connection is lost. One that the key may
// no longer read is refused, and the operator signs in again.
func TestConsoleFeed(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "")
	ctx := ownWindow(t, 1280, 900)
	gift := func(user string) {
		p.may(200, "POST", "/v1/events/gift", fmt.Sprintf(`{"star":"s1","user":%q,"flowers":1}`, user))
	}
	const users = `page.all('.feed tbody tr').map(row => row.querySelector('.feed-field:last-child bdi').textContent).join(' ')`
	const state = `page.texts('.feed-state .badge')`
	do(t, ctx, p.signIn(p.mod, "events/gift"), becomes(state, "live"))
	gift("ana")
	gift("eli")
	do(t, ctx, becomes(users, "eli ana"), press("Pause"), becomes(state, "paused"))
	gift("kim")
	do(t, ctx,
		becomes(`page.texts('.view-head button')`, "Go on (1 new)"),
		becomes(users, "eli ana"),
		press("Go on (1 new)"),
		becomes(users, "kim eli ana"),
		script(`document.querySelector('#console-nav a[href="#/audit"]').click()`),
		becomes(textOf(".view h1"), "Audit"),
		script(`history.back()`),
		becomes(state, "live"),
		becomes(users, ""),
	)
	p.allow(t, p.opsLine())
	do(t, ctx,
		becomes(`page.visible('#sign-in')`, "true"),
		becomes(state, "refused"),
		typeInto("#key", p.ops),
		click("#sign-in .primary"),
		becomes(state, "live"),
	)
	p.Kill()
	do(t, ctx, becomes(state, "away"))
}

// A moderator sees the events of the key alone, changes no definition and sends nothing, and takes an event back by its id.
func TestConsoleEventsOfModerator(t *testing.T) {
	t.Parallel()
	p := startConsole(t, cheerEvent())
	p.may(200, "POST", "/v1/events/gift", fmt.Sprintf(`{"id":%q,"star":"s1","user":%q,"flowers":3}`, hostile, hostile))
	ctx := ownWindow(t, 390, 900)
	do(t, ctx,
		p.signIn(p.mod, "events"),
		becomes(rows, "giftstars, fans:{star}, fans3h:{star}"),
		holds(`!page.texts('.view .button').includes('New')`),
		script(`location.hash = '#/events/gift'`),
		becomes(`page.texts('.view h2')`, "Definition | Take an event back | Live"),
		becomes(`page.texts('.view .button')`, "Take back … | Pause"),
		enter(".event-send [name=id]", "unknown"),
		press("Take back …"),
		press("Take back"),
		holds(`page.texts('dialog .problem').startsWith('id: is not the id of an event "gift"')`),
		press("Cancel"),
		enter(".event-send [name=id]", hostile),
		enter("[name=sender]", "viewer"),
		enter("[name=sub]", "u1"),
		press("Take back …"),
		press("Take back"),
		holds(`page.texts('dialog .problem') !== ''`),
		enter("[name=sender]", "key"),
		// One question is over before the next begins, also within one task of the page.
		script(`const pressed = text => page.all('button').filter(b => page.words(b) === text).at(-1).click();
			pressed('Cancel'), pressed('Take back …')`),
		press("Take back"),
		becomes(`page.texts('.answer > p')`, "The event is taken back."),
		holds(answers+`.includes('fans:s1')`),
		holds(noSideways),
		script(`location.hash = '#/events/cheer'`),
		holds(`page.texts('.view .problem').includes('cheer')`),
		holds(`!document.querySelector('.event-columns, img[src=x]')`),
	)
	require.Contains(t, p.may(200, "GET", "/v1/boards/stars/top", "").Body, `"total":0`)
}
