//go:build !race

package pages

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/server/access"
)

// finale is a board that is frozen by hand.
const finale = `{"kind":"act","mode":"last","title":"Talent show","display":{"unit":"pts"}}`

// hostNext is what the page of a host says of the member that is next.
const hostNext = `page.texts('.host-name, .host-before dd, .host-after dd').replace(/ \| $/, '')`

// hostState is the state that the page of a host shows, without the time.
const hostState = `page.text('.host-state').replace(/since .*?M\./, 'since then.')`

// startFinale starts a server with a frozen board of five acts, of which three have pending scores: e, which is not on the board, c
// and a. It returns the key of a host.
func startFinale(t *testing.T) (p *consoleProcess, host string) {
	p = startConsole(t, "")
	p.may(201, "PUT", "/v1/boards/finale", finale)
	host = access.NewKey()
	p.allow(t, p.opsLine(), p.modLine(),
		fmt.Sprintf("  - {name: host, hash: %q, scopes: [read, moderate], boards: [finale]}\n", access.HashKey(host)))
	require.Eventually(t, func() bool { return p.Request("GET", "/v1/session", "", "Authorization", "Bearer "+host).Status == 200 },
		10*time.Second, 50*time.Millisecond, "the server reads the access file")
	p.may(201, "PUT", "/v1/members/act/e", `{"name":"Eva"}`)
	p.send("a", 10, "b", 40, "c", 30, "d", 20)
	p.may(200, "POST", "/v1/boards/finale/freeze", `{"reason":"the last votes"}`)
	p.send("e", 35, "c", 50, "a", 60)
	return p, host
}

// send sends pairs of a member and a score to the board.
func (p *consoleProcess) send(pairs ...any) {
	var updates []string
	for i := 0; i < len(pairs); i += 2 {
		updates = append(updates, fmt.Sprintf(`{"member":%q,"score":%d}`, pairs[i], pairs[i+1]))
	}
	p.may(200, "POST", "/v1/boards/finale/scores", `{"updates":[`+strings.Join(updates, ",")+`]}`)
}

// signInAsHost opens the page of a host, and signs in with a key.
func (p *consoleProcess) signInAsHost(key string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(
		visit(p.Process, "/boards/finale/reveal"),
		typeInto("#key", key),
		click("#sign-in .primary"),
		becomes(`page.visible('#sign-in')`, "false"),
	)
}

// A host reveals one member after the other: by the button, by keys and by a remote, each press once, also after a reload. Whoever
// has not signed in, or may not moderate the board, sees nothing of it.
func TestHostRevealsTheResults(t *testing.T) {
	t.Parallel()
	p, host := startFinale(t)
	ctx := ownWindow(t, 1280, 900)
	do(t, ctx,
		visit(p.Process, "/boards/finale/reveal"),
		becomes(`page.visible('#sign-in', '#next')`, "true,false"),
		becomes(`page.focus()`, "key"),
		typeInto("#key", p.mod),
		click("#sign-in .primary"),
		becomes(textOf("#view"), "Your key may not reveal results of this board: that takes the scope moderate."),
		click("#sign-out"),
		p.signInAsHost(host),
		becomes(textOf(".host-title"), "Talent show"),
		becomes(hostState, "Standings are frozen since then. 3 left to reveal."),
		becomes(hostNext, "Eva | – | not on the board yet | in the end No. 4 | 35 pts"),
		becomes(`page.texts('.host-list li')`, "a10 pts → 60 pts | c30 pts → 50 pts"),
		holds(noSideways),

		script(`var next = document.querySelector('#next'); next.click(); next.click()`),
		becomes(hostNext, "a | No. 5 | 10 pts | in the end No. 1 | 60 pts"),
		becomes(textOf(".host-note"), "Revealed: Eva is No. 2 with 35 pts."),
		script(`next.dispatchEvent(new MouseEvent('click', {bubbles: true, detail: 2}))`),

		chromedp.Reload(),
		becomes(hostNext, "a | No. 5 | 10 pts | in the end No. 1 | 60 pts"),
		becomes(hostState, "Standings are frozen since then. 2 left to reveal."),
		script(`var key = repeat =>
			document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'PageDown', bubbles: true, repeat}))`),
		script(`key(true); document.querySelector('#pace').focus(); key(false); document.querySelector('#next').focus()`),
		becomes(hostState, "Standings are frozen since then. 2 left to reveal."),
		script(`key(false); key(true); key(true)`),
		becomes(hostNext, "c | No. 4 | 30 pts | in the end No. 2 | 50 pts"),
		becomes(textOf("#next"), "Reveal the last one"),
		becomes(`page.rows().join('')`, "abecd"),
		// A step that was not answered is taken again with the same member.
		script(`var sent = [], send = fetch;
			fetch = async (url, init) => {
				const answer = await send(url, init);
				if (init.method !== 'POST') return answer;
				sent.push(init.body);
				throw new TypeError('lost');
			}`),
		becomes(`(document.querySelector('#next').click(), page.text('.host-problem').slice(0, 27))`, "The server does not answer."),
		becomes(hostState, "All is revealed."),
		becomes(`[...new Set(sent)].join()`, `{"members":["c"]}`),
		becomes(`page.visible('#next')`, "false"),
		becomes(`page.rows().join('')`, "acbed"),
	)
	require.Equal(t, 3, strings.Count(p.may(200, "GET", "/v1/audit?action=reveal", "").Body, `"reveal"`))
}

// Autoplay reveals until it is paused, and all that is left becomes public at once.
func TestHostPlaysAndRevealsAll(t *testing.T) {
	t.Parallel()
	p, host := startFinale(t)
	p.send("d", 70)
	ctx := ownWindow(t, 390, 844)
	do(t, ctx,
		p.signInAsHost(host),
		becomes(hostState, "Standings are frozen since then. 4 left to reveal."),
		holds(noSideways),
		script(`document.querySelector('#pace').value = 3`),
		press("Play"),
		becomes(hostState, "Standings are frozen since then. 3 left to reveal."),
		becomes(`document.querySelector('#next').hasAttribute('data-waits') + ' ' + page.text('#play')`, "true Pause"),
		press("Pause"),
		press("Reveal all …"),
		enter("dialog [name=reason]", "the show is over"),
		press("Reveal all"),
		becomes(hostState, "All is revealed."),
	)
	require.Contains(t, p.may(200, "GET", "/v1/audit?action=reveal&limit=1", "").Body, "the show is over")
}

// A board that freezes says so on its page, its card, the overlay and in a frame, and has the row of a revealed member climb.
func TestPagesShowAFreeze(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, "boards: {finale: "+finale+"}")
	p.Post("finale", e2etest.Scores("a", 10, "b", 40, "c", 30, "d", 20))
	const (
		frozen = `(page.part('state').textContent.startsWith('Standings are frozen since') && page.part('state').checkVisibility())`
		watch  = `var places = [];
			page.board().addEventListener('update', () => {
				const at = page.rows().join('') + (page.root().querySelector('[data-revealed]') ? '*' : '');
				if (places.at(-1) !== at) places.push(at);
			})`
		climb = `places.filter(place => place.endsWith('*')).join(' ')`
	)
	board, overlay, front := ownWindow(t, 1280, 900), ownWindow(t, 400, 300), ownWindow(t, 390, 844)
	do(t, board, visit(p, "/boards/finale?lang=en"), isLive)
	do(t, overlay, visit(p, "/overlay/finale?lang=en&pace=0"), isLive)
	do(t, front, visit(p, "/?lang=en"), becomes(`page.count('.card[data-frozen]')`, "0"))
	p.Answers(200, "POST", "/v1/boards/finale/freeze", `{"reason":"the last votes"}`)
	p.Post("finale", e2etest.Scores("a", 60))
	for _, ctx := range []context.Context{board, overlay} {
		do(t, ctx, holds(frozen), shows("b", "c", "d", "a"), script(watch))
	}
	do(t, front,
		becomes(`page.text('.card[data-frozen] .card-rate').replace(/since .*/, 'since')`, "Standings are frozen since"),
		holds(noSideways),
	)
	do(t, front, visit(p, "/embed/finale?lang=zh"), holds(`/^自 .* 起封榜$/.test(page.part('state').textContent)`))
	p.Answers(200, "POST", "/v1/boards/finale/reveal", `{"members":["a"]}`)
	for _, ctx := range []context.Context{board, overlay} {
		do(t, ctx, becomes(climb, "bcda* bcad* bacd* abcd*"), becomes(`page.part('result')?.textContent`, "a wins with 60 pts"))
	}
	do(t, board, holds(`!page.board().hasAttribute('data-frozen')`))
}

// An operator freezes a board in the console, sees what is pending, and ends the freeze. The audit has both acts, in words.
func TestConsoleFreezesABoard(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "")
	p.may(201, "PUT", "/v1/boards/finale", finale)
	p.send("a", 10, "b", 40)
	const (
		panel = `page.all('.view section').find(s => s.querySelector('h2')?.textContent === 'Freeze')`
		state = `page.words(` + panel + `.querySelector('p')).replace(/since .*?(?=\.)/, 'since then')`
	)
	ctx := ownWindow(t, 390, 900)
	do(t, ctx,
		p.signIn(p.ops, "boards/finale"),
		becomes(state, "The standings are public as they change."),
		press("Freeze …"),
		holds(dialogText+`.startsWith('From now on the standings stand still for everybody')`),
		enter("dialog [name=reason]", "the last votes"),
		press("Freeze"),
		becomes(state, "Frozen since then. Members with a pending score: 0. A host reveals the results one by one."),
	)
	p.send("a", 50)
	do(t, ctx,
		becomes(state, "Frozen since then. Members with a pending score: 1. A host reveals the results one by one."),
		holds(`page.text('.facts').includes('frozen: scores count unseen')`),
		becomes(panel+`.querySelector('a').pathname`, "/boards/finale/reveal"),
		holds(noSideways),
		press("Unfreeze …"),
		holds(dialogText+`.includes('This cannot be undone.')`),
		enter("dialog [name=reason]", "too early"),
		press("Unfreeze"),
		becomes(state, "The standings are public as they change."),
		script(`location.hash = '#/audit/action/unfreeze'`),
		becomes(`page.texts('tbody td:nth-child(3), tbody td:last-child')`, "unfreeze | too early"),
		enter("[name=action]", "freeze"),
		becomes(`page.texts('tbody td:nth-child(3), tbody td:last-child')`, "freeze | the last votes"),
	)
}
