//go:build !race

package pages

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// alone is a page with one board, whose server is the test, and what it tells of it.
const alone = `
	var board, root, told = [];
	var make = attributes => import('/kit/rankcast.js').then(() => {
		board?.remove();
		board = document.createElement('live-leaderboard');
		for (const [name, value] of Object.entries({server: 'http://stand-in', board: 'b', ...attributes})) board.setAttribute(name, value);
		for (const type of ['rank-up', 'overtaken', 'enter-top', 'new-leader']) {
			board.addEventListener(type, ({detail: {entry, member = entry.member, before, rank, by}}) =>
				told.push([type, member, before?.member ?? before, rank, by?.member].filter(word => word !== undefined).join(' ')));
		}
		document.body.replaceChildren(board);
		root = board.shadowRoot;
	});
	var list = (seq, members, more) => ({type: 'snapshot', board: 'b', epoch: 'e', seq, total: 9, period: '', ends: null, ...more,
		top: members.map(([member, score, rank], i) => ({rank: rank ?? i + 1, member, score}))});
	var own = (seq, rank, score, more) => ({type: 'me', board: 'b', seq, rank, score, total: 9, ...more});
	var say = (...frames) => sockets.at(-1).say({type: 'ok',
		id: sockets.at(-1).sent.findLast(({type}) => type === 'subscribe').id}, ...frames);
	var text = () => [...root.querySelectorAll('[data-member]')]
		.map(row => ('below' in row.dataset ? 'below ' : row.hasAttribute('aria-current') ? 'me ' : '') + row.textContent
			.replace(/\s+/g, ' ').trim()).join(', ');`

// page opens a page that has nothing but that board, once the server was asked for it.
func page(t *testing.T, attributes string) (do func(actions ...chromedp.Action[chromedp.Void]), ctx context.Context) {
	p := e2etest.Launch(t)
	ctx = ownWindow(t, 800, 600)
	do = func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(ctx, actions...))
	}
	do(chromedp.Navigate("http://"+p.Addr+"/healthz"), script(wire), script(alone), script(`make(`+attributes+`)`),
		becomes(`sockets.at(-1)?.sent.at(-1)?.type`, "subscribe"))
	return do, ctx
}

// The list and the own place come on their own ways: which to trust.
func TestElementTrustsTheNewer(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{me: 'u'}`)
	const members = `[['a', 30], ['b', 20], ['c', 20, 3]]`
	const shown = "1 a 30, 2 b 20, 3 c 20"
	for _, c := range []struct{ me, want string }{
		{``, shown},
		{`own(10, null, null)`, shown + ", below u has no score yet"},
		{`own(10, 9, 1, {to_next: 2, around: []})`, shown + ", below 9 u 2 to next 1"},
		{`own(10, 9, 1, {to_next: 2, around: [{rank: 9, member: 'u', score: 1, name: 'Uma'}]})`, shown + ", below 9 Uma 2 to next 1"},
		{`own(10, 9, 1)`, shown + ", below 9 u 1"},
		// On its way into the list.
		{`own(21, 2, 25, {to_next: 5})`, shown + ", below 2 u 5 to next 25"},
		// It was there, and the list says that it is no longer.
		{`own(19, 3, 19, {to_next: 1})`, shown + ", below … u 19"},
		{`own(19, 2, 20, {to_next: 0})`, shown + ", below … u 20"},
		// Level with the last shown, on a board where they share the rank.
		{`own(19, 3, 20, {to_next: 0})`, shown + ", below 3 u level with the next 20"},
	} {
		do(script(`board.setAttribute('board', 'x'); board.setAttribute('board', 'b')`),
			becomes(`text() + sockets.at(-1).sent.at(-1).board`, "b"),
			script(`say(list(20, `+members+`)`+map[bool]string{true: ", ", false: ""}[c.me != ""]+c.me+`)`), becomes(`text()`, c.want))
	}
	// In the list: its own entry counts, whatever else was said.
	for _, me := range []string{`own(19, null, null)`, `own(21, 9, 1)`} {
		do(script(`say(list(20, [['a', 30], ['u', 20], ['c', 20]]), `+me+`)`), becomes(`text()`, "1 a 30, me 2 u 10 to next 20, 3 c 20"))
	}
	do(script(`say(list(20, [['u', 30], ['a', 20]]))`), becomes(`text()`, "me 1 u 30, 2 a 20"))
	// The unit is said once in a row, beside the score.
	do(script(`board.setAttribute('unit', 'hearts'); say(list(21, [['a', 30], ['u', 20]]))`),
		becomes(`text()`, "1 a 30 hearts, me 2 u 10 to next 20 hearts"))
}

// With around, neighbours stand beside the followed member, and nobody twice.
func TestElementShowsNeighbours(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{me: 'u', top: 3, around: 2, format: 'time_ms'}`)
	const neighbours = `{to_next: 500, around: [['c', 3], ['d', 4], ['u', 5], ['e', 6], ['f', 7]]
		.map(([member, rank]) => ({member, rank, score: rank * 1000}))}`
	do(becomes(`JSON.stringify(sockets.at(-1).sent.at(-1))`,
		`{"type":"subscribe","board":"b","top":3,"me":"u","around":2,"info":true,"id":1}`),
		script(`say(list(20, [['a', 1000], ['b', 2000], ['c', 3000]]), own(20, 5, 5000, `+neighbours+`))`),
		becomes(`text()`, "1 a 0:01.000, 2 b 0:02.000, 3 c 0:03.000, below 4 d 0:04.000, below 5 u 0.500 to next 0:05.000, below "+
			"6 e 0:06.000, below 7 f 0:07.000"),
		becomes(`[...root.querySelectorAll('[aria-current]')].map(row => row.dataset.member).join()`, "u"),
		// Its own place may be newer than what is known of those beside it, and they are in order.
		script(`say(own(21, 8, 7500))`), becomes(`text()`,
			"1 a 0:01.000, 2 b 0:02.000, 3 c 0:03.000, below 4 d 0:04.000, below 6 e 0:06.000, below 7 f 0:07.000, below 8 u 0:07.500"),
		// None are shown where none are wanted.
		script(`board.setAttribute('around', '0')`), becomes(`text()`, "1 a 0:01.000, 2 b 0:02.000, 3 c 0:03.000, below 8 u 0:07.500"))
}

// A page makes its rows of what it likes; what is filled in is text.
func TestElementMakesRowsOfATemplate(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{}`)
	do(
		// The page may be in a language that is none, and have this twice.
		script(`var again = ''; document.documentElement.lang = 'en-GB-oed'; import('/kit/rankcast.js?2')
			.then(({connect}) => again = typeof connect, error => again = String(error))`), becomes(`again`, "function"),
		// Words are in the order in which they are written, whatever is in names; and numbers are exact.
		script(`var words = ''; import('/kit/format.js')
			.then(({fill, scoreFormat}) => words = [fill('{a} of {n}, {b}', {a: '\u202efi\u2028rst\u2069', n: 1234, b: 'אב'}),
				scoreFormat({decimals: 2})(Number.MAX_SAFE_INTEGER)].join(' '))`),
		becomes(`words`, "first of 1,234, \u2068אב\u2069 90,071,992,547,409.91"))
	do(script(`
		var template = document.createElement('template');
		template.slot = 'row';
		template.innerHTML = '<b part="place" data-field="rank"></b>/<i data-field="name"></i>/<i data-field="member"></i>' +
			'/<i data-field="score"></i>/<i data-field="data.car.team"></i>/<img data-field="avatar">';
		board.append(template);
		document.body.append(board)`),
		becomes(`sockets.at(-1).sent.filter(({type}) => type === 'subscribe').length + ''`, "2"),
		script(`say({...list(1, []), top: [
			{rank: 1, member: 'a', score: 1234, name: '<b>Ann</b>', avatar: '/assets/shared/favicon.svg', data: {car: {team: '<i>Red</i>'}}},
			{rank: 2, member: '<img src=x onerror=alert(1)>', score: 5, data: {car: {team: {toString: 0}}}}]})`),
		becomes(`text()`, "1/<b>Ann</b>/a/1,234/<i>Red</i>/, 2/<img src=x onerror=alert(1)>/<img src=x onerror=alert(1)>/5//"),
		becomes(`[...root.querySelectorAll('img')].map(image => new URL(image.src, location).pathname + image.hidden).join()`,
			"/assets/shared/favicon.svgfalse,/healthztrue"),
		becomes(`root.querySelectorAll('b').length + ' ' + root.querySelector('[part=place]').textContent`, "2 1"),
		// How scores are shown may change at any time, and takes no server.
		script(`sockets.at(-1).lose(); board.setAttribute('unit', 'pt')`),
		becomes(`text()`, "1/<b>Ann</b>/a/1,234 pt/<i>Red</i>/, 2/<img src=x onerror=alert(1)>/<img src=x onerror=alert(1)>/5 pt//"),
		// Another template is that of all rows.
		script(`template.remove(); template = document.createElement('template'); template.slot = 'row';
			template.innerHTML = '<u data-field="score"></u>'; board.append(template); document.body.append(board)`),
		becomes(`text()`, "1,234 pt, 5 pt"),
		// One element has all of the row; several stand beside each other, also where they come after the element.
		becomes(`(row => String(row.firstElementChild.offsetWidth > row.clientWidth / 2))(root.querySelector('[data-member]'))`, "true"),
		script(`make({me: 'u'})`), becomes(`sockets.at(-1).sent.at(-1)?.me + ''`, "u"),
		script(`board.insertAdjacentHTML('beforeend',
			'<template slot="row"><b data-field="rank"></b><b data-field="name"></b>' +
			'<b data-field="data.team"></b><b data-field="score"></b></template>');
			say(list(1, [['u', 3], ['b', 2]]))`), becomes(`text()`, "me 1u3, 2b2"),
		becomes(`(middles => String(Math.max(...middles) - Math.min(...middles) < 3))([...root
			.querySelectorAll('[data-member=u] b')].map(field => field.getBoundingClientRect()).map(({top, bottom}) => (top + bottom) / 2))`,
			"true"),
		// No row is over what the page has over the element.
		script(`var menu = document.createElement('div'); menu.style = 'position: absolute; inset: 0; z-index: 1'; document.body.append(menu)`),
		becomes(`(({left, top}) => String(document.elementFromPoint(left + 5,
			top + 5) === menu))(root.querySelector('[data-member=u]').getBoundingClientRect())`, "true"),
	)
}

// What is not known for a moment is shown as it was, and nothing comes and goes.
func TestElementKeepsWhatFollows(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{me: 'u', top: 1, around: 1}`)
	const neighbours = `{to_next: 5, around: [{rank: 4, member: 'd', score: 10}, {rank: 5, member: 'u', score: 5, name: ` +
		`'Uma'}, {rank: 6, member: 'e', score: 4}]}`
	do(script(`say(list(1, [['a', 50]]), own(1, 5, 5, `+neighbours+`))`),
		becomes(`text()`, "1 a 50, below 4 d 10, below 5 Uma 5 to next 5, below 6 e 4"),
		script(`say(own(2, 6, 5))`), becomes(`text()`, "1 a 50, below 4 d 10, below 6 Uma 5 to next 5, below 6 e 4"),
		script(`say(own(3, 5, 6))`), becomes(`text()`, "1 a 50, below 4 d 10, below 5 Uma 6, below 6 e 4"), // what it lacks is another now
		script(`say(own(4, null, null))`), becomes(`text()`, "1 a 50, below u has no score yet"),
		script(`say(own(5, 9, 1))`), becomes(`text()`, "1 a 50, below 9 u 1"),
	)
}

// What happens on a board is told to its page, and what was so when it came is not.
func TestElementTellsWhatHappens(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{me: 'u', top: 3}`)
	tells := func(want string) chromedp.Action[chromedp.Void] {
		return becomes(`told.splice(0).join(', ') || 'nothing'`, want)
	}
	shows := func(want string) chromedp.Action[chromedp.Void] { return becomes(`text()`, want) }
	do(
		script(`say(list(1, [['a', 30], ['b', 20], ['c', 10]]), own(1, 9, 2))`), shows("1 a 30, 2 b 20, 3 c 10, below 9 u 2"), tells("nothing"),
		script(`say(list(2, [['a', 30], ['b', 20], ['c', 10]]), own(2, 7, 4))`), shows("1 a 30, 2 b 20, 3 c 10, below 7 u 4"),
		tells("rank-up u 9 7"),
		script(`say(own(3, 8, 4, {around: [{rank: 7, member: 'x', score: 5}, {rank: 8, member: 'u', score: 4}]}))`),
		shows("1 a 30, 2 b 20, 3 c 10, below 8 u 4"), tells("overtaken u 7 8 x"),
		script(`say(list(4, [['b', 40], ['a', 30], ['u', 12]]), own(4, 3, 12))`), shows("1 b 40, 2 a 30, me 3 u 18 to next 12"),
		tells("enter-top u, new-leader b a, rank-up u 8 3"),
		script(`say(list(5, [['b', 40], ['u', 33], ['a', 30]]))`), shows("1 b 40, me 2 u 7 to next 33, 3 a 30"), tells("rank-up u 3 2"),
		script(`say(list(6, [['a', 50], ['b', 40], ['u', 33]]))`), shows("1 a 50, 2 b 40, me 3 u 7 to next 33"),
		tells("new-leader a b, overtaken u 2 3 b"),

		// Out of the list: the list tells it first, and its rank follows.
		script(`say(list(7, [['a', 50], ['b', 40], ['c', 35]]))`), shows("1 a 50, 2 b 40, 3 c 35, below … u 12"), tells("enter-top c"),
		script(`say(own(7, 4, 33, {to_next: 2}))`), shows("1 a 50, 2 b 40, 3 c 35, below 4 u 2 to next 33"), tells("overtaken u 3 4 c"),
		// By whom is told only where that is known: neighbours that are from before say nothing of it.
		script(`say(own(7, 5, 33, {around: [{rank: 4, member: 'x', score: 34}, {rank: 5, member: 'u', score: 33},
			{rank: 6, member: 'y', score: 3}]}))`), tells("overtaken u 4 5 x"),
		script(`say(own(7, 9, 1))`), tells("overtaken u 5 9"),
		becomes(`String(/no score/.test(root.querySelector('[part=announcer]').textContent))`, "false"),
		// Off the board, and on it again.
		script(`say(own(8, null, null))`), shows("1 a 50, 2 b 40, 3 c 35, below u has no score yet"), script(`say(own(9, 6, 1))`),
		shows("1 a 50, 2 b 40, 3 c 35, below 6 u 1"), tells("nothing"),

		// Another board, and another period, begin anew.
		script(`say(list(7, [['x', 1]], {period: '1'}))`), shows("1 x 1"),
		script(`told.length = 0; say(list(1, [['y', 1]], {period: '2'}))`), shows("1 y 1"), tells("nothing"),
		script(`board.setAttribute('board', 'x'); board.setAttribute('board', 'b')`), shows(""), script(`say(list(1, [['z', 1]]))`),
		shows("1 z 1"), tells("nothing"),
	)
}

// However fast a board changes, what is shown changes once in a frame, or in a pace.
func TestElementRendersOnceAFrame(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{top: 200}`)
	do(script(`
		var entries = Array.from({length: 200}, (_, i) => ['m' + i, 1000 - i]), seq = 1, renders = 0, frames = 0;
		board.addEventListener('update', () => renders++);
		say(list(seq, entries))`),
		becomes(`root.querySelectorAll('[data-member]').length + ''`, "200"),
		script(`
		var changes = 0, done = 0, count = () => { frames++; requestAnimationFrame(count); };
		renders = 0;
		requestAnimationFrame(count);
		var burst = () => {
			for (let i = 0; i < 20; i++, changes++) {
				const from = Math.floor(Math.random() * 200), [moved] = entries.splice(from, 1);
				entries.splice(Math.floor(Math.random() * 200), 0, moved);
				entries.forEach((entry, place) => entry[1] = 1000 - place);
				sockets.at(-1).say(list(++seq, entries));
			}
			if (changes < 400) setTimeout(burst); else done = 1;
		};
		burst()`),
		becomes(`String(done && text() === entries
			.map(([member, score], i) => i + 1 + ' ' + member + ' ' + score.toLocaleString('en')).join(', '))`, "true"),
		becomes(`String(renders > 0 && renders <= frames + 1)`, "true"),
		becomes(`text() && String([...root.querySelectorAll('[data-member]')].length)`, "200"),

		// With a pace, what comes within it is one change. Time stands still.
		script(clockwork), script(`make({top: 3, pace: 1000})`), becomes(`sockets.at(-1).sent.at(-1)?.top + ''`, "3"),
		script(`board.addEventListener('update', () => renders++); say(list(1, [['a', 3], ['b', 2]]))`), becomes(`text()`, "1 a 3, 2 b 2"),
		script(`renders = 0; sockets.at(-1).say(list(2, [['b', 5], ['a', 3]]))`), becomes(`timers.size > 1 ? text() : ''`, "1 a 3, 2 b 2"),
		script(`sockets.at(-1).say(list(3, [['b', 6], ['a', 3]])); pass(1000)`), becomes(`text()`, "1 b 6, 2 a 3"), becomes(`renders + ''`, "1"),
		// But that the server is gone is no score.
		script(`sockets.at(-1).lose()`), becomes(`board.dataset.state`, "away"),
	)
}

// A page that shows a busy board for hours keeps what it needs, and no more.
func TestElementLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	elementLeavesNothingBehind(t, 10, 5, 30) // 860 rows go meanwhile: left behind, they would be 14,000 nodes
}

// elementLeavesNothingBehind compares what a page keeps after so many rounds to begin with and
// some more, and after later ones.
func elementLeavesNothingBehind(t *testing.T, first, second, later int) {
	do, ctx := page(t, `{top: 200, me: 'm3'}`)
	// Members come and go, all that stay change places and scores, and one is followed.
	do(script(`
		var seq = 0, round = 0, done = 0, busy = rounds => {
			round++;
			const names = Array.from({length: 200}, (_, i) => i % 7 === round % 7 ? 'new' + round + '.' + i : 'm' + (i * 7 + round * 3) % 200);
			const entries = names.map((name, i) => [name, 1000 - i + round]);
			say(list(++seq, entries), own(seq, 300 + round % 5, round, {to_next: 1}));
			if (rounds > 1) requestAnimationFrame(() => busy(rounds - 1));
			else requestAnimationFrame(() => setTimeout(() => { for (const animation of root.getAnimations()) animation.finish(); done = round; }));
		}`))
	sum := 0
	run := func(rounds int) kept {
		sum += rounds
		do(script(fmt.Sprintf(`busy(%d)`, rounds)), becomes(`done + ''`, fmt.Sprint(sum)))
		return keeps(t, ctx)
	}
	run(first)
	before := run(second)
	run(later).atMost(t, before, 1<<20)
}

// An element without a board says so until it gets one.
func TestElementWithoutABoard(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	const missing = `board is missing: <live-leaderboard board="stars">`
	const note = `[board.dataset.state, root.querySelector('[part=note]').textContent].join(': ')`
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/healthz"), script(wire), script(alone),
		script(`document.body.textContent = '';
			import('/kit/rankcast.js').then(() => { board = document.createElement('live-leaderboard');
				board.setAttribute('server', 'http://stand-in'); root = board.shadowRoot; document.body.append(board); })`),
		becomes(`typeof board`, "object"), becomes(note, "stopped: "+missing),
		script(`board.setAttribute('top', '3')`), becomes(note, "stopped: "+missing), becomes(`sockets.length + ''`, "0"),
		// One that there is not is named.
		script(`board.setAttribute('board', 'ponits{n}')`), becomes(`asked(sockets.at(-1))`, "3 - 0 anew"),
		script(`sockets.at(-1).say({type: 'error', id: sockets.at(-1).sent.at(-1).id, code: 'unknown_board',
			message: 'board: there is no board'})`),
		becomes(note, "stopped: There is no board “ponits{n}”."),
		script(`board.setAttribute('board', 'b')`), becomes(`asked(sockets.at(-1))`, "3 - 0 anew"), becomes(note, "connecting: "),
		script(`say(list(1, [['a', 3]]))`), becomes(`text()`, "1 a 3"), becomes(note, "live: "),
		script(`board.removeAttribute('board')`), becomes(note, "stopped: "+missing), becomes(`text()`, ""),

		// The element says nothing if a script sets the board in time.
		script(`board.remove(); board = document.createElement('live-leaderboard');
			board.setAttribute('server', 'http://stand-in'); root = board.shadowRoot;
			document.body.append(board); board.setAttribute('board', 'c')`), becomes(note, "connecting: "),
		script(`board.setAttribute('board', '')`), becomes(`sockets.at(-1).sent.at(-1).type`, "unsubscribe"), becomes(note, "connecting: "),
	))
}
