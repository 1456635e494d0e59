//go:build !race

package pages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// wire stands in for the server, on a page: sockets that note what is sent, and
// what a watcher is told, in words.
const wire = `
	var sockets = [];
	globalThis.WebSocket = class extends EventTarget {
		static OPEN = 1;
		readyState = 1;
		sent = [];
		constructor() { super(); sockets.push(this); queueMicrotask(() => this.dispatchEvent(new Event('open'))); }
		send(text) { this.sent.push(JSON.parse(text)); }
		close() { this.closed = true; }
		say(...frames) {
			for (const frame of frames) this.dispatchEvent(new MessageEvent('message', {data: JSON.stringify(frame)}));
		}
		lose(code = 1006, reason) { this.dispatchEvent(new CloseEvent('close', {code, reason})); }
	};
	var entries = members => [...members].map((member, i) => ({rank: i + 1, member, score: 100 - i}));
	var snapshot = (seq, members, epoch = 'e') => ({type: 'snapshot', board: 'b', epoch, life: epoch, seq, total: 9, period: '',
		top: entries(members)});
	var delta = (from, seq, place, members, len) =>
		({type: 'delta', board: 'b', from, seq, total: 9, len, rows: [...members]
			.map((member, i) => [place + i, {rank: place + i + 1, member, score: 1}])});
	var me = (seq, rank) => ({type: 'me', board: 'b', seq, rank, score: 5, total: 9});
	var asked = socket => {
		const {type, top, me = '-', around = 0, resume} = socket?.sent.at(-1) ?? {};
		return socket?.closed ? '' : type === 'subscribe' ? [top, me, around, resume ? resume.life + resume.seq : 'anew'].join(' ') : type ?? '';
	};
	var watch = wish => {
		const told = {list: '', own: '', state: '', error: '', problem: null};
		told.leave = connection.subscribe('b', wish, {
			onTop: ({top}) => told.list = top.map(entry => entry.member).join(''),
			onMe: me => told.own = me.rank + '@' + me.seq,
			onState: (state, {problem}) => { told.state = state; told.error = problem?.code ?? ''; told.problem = problem; },
		});
		return told;
	};
	var tell = told => [told.list, told.own, told.state, told.error].join(' ').trim();
	var connection;
	import('/kit/rankcast.js').then(({connect}) => { connection = connect('http://stand-in'); });`

// answer has the server take what was sent last, and go on with these frames.
func answer(frames string) chromedp.Action[chromedp.Void] {
	return script(`sockets.at(-1).say({type: 'ok', id: sockets.at(-1).sent.at(-1).id}, ` + frames + `)`)
}

// asked waits until the newest socket was sent this last.
func asked(want string) chromedp.Action[chromedp.Void] { return becomes(`asked(sockets.at(-1))`, want) }

// told waits until this is what the watcher u knows.
func told(want string) chromedp.Action[chromedp.Void] { return becomes(`tell(u)`, want) }

// The kit chooses the language of a text as the server does: both have the same cases.
func TestKitChoosesTheLanguage(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile("../../../../ranking/definition/testdata/labels.json")
	require.NoError(t, err)
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/healthz"),
		script(fmt.Sprintf(`
			var wrong = 'pending';
			import('/kit/rankcast.js').then(({textIn}) => {
				const cases = %s;
				const failed = cases.filter(({label, tag, want}) => textIn(label, tag) !== want);
				wrong = textIn(undefined) === '' && cases.length > 9 ? JSON.stringify(failed) : 'incomplete';
			});`, cases)),
		becomes(`wrong`, "[]"),
	))
}

// With info, the kit keeps what the board is, and knows the span of the period that follows.
func TestKitKeepsInfo(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	period := func(name, opens, ends string) string {
		return fmt.Sprintf(`{"every":"day","name":%q,"opens":%q,"ends":%q}`, name, opens, ends)
	}
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/healthz"),
		script(wire), becomes(`typeof connection`, "object"),
		script(`
			var known = '';
			connection.subscribe('b', {top: 3, info: true},
				{onTop: ({info}) => known = info?.title + ' ' + JSON.stringify(info?.period, ['every', 'name', 'opens', 'ends'])});
			var day = (seq, name, ends) => ({...snapshot(seq, 'abc'), period: name, ends});`),
		becomes(`String(sockets.at(-1)?.sent.at(-1)?.info)`, "true"),
		answer(`{...day(1, 'mon', 'T1'), info: {title: 'T', kind: 'k', period: {name: 'mon', every: 'day', opens: 'T0', ends: 'T1'}}}`),
		becomes(`known`, "T "+period("mon", "T0", "T1")),
		script(`sockets.at(-1).say(delta(1, 2, 0, 'd', 3))`), becomes(`known`, "T "+period("mon", "T0", "T1")),
		script(`sockets.at(-1).say({...day(2, 'mon', 'T1'), final: true})`), becomes(`known`, "T "+period("mon", "T0", "T1")),
		script(`sockets.at(-1).say(day(3, 'tue', 'T2'))`), becomes(`known`, "T "+period("tue", "T1", "T2")),
	))
}

// What a page asks for, and what it makes of the answers, in each order.
func TestPageResumes(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/healthz"), // a page with no sockets of its own
		script(wire), becomes(`typeof connection`, "object"),
		script(`Math.random = () => 0`), // no wait before it comes back

		script(`var u = watch({top: 3, me: 'u', around: 2}), inTime = u.state`), becomes(`inTime`, ""), asked("3 u 2 anew"), told("connecting"),
		// What comes before the answer was meant for somebody else.
		script(`sockets[0].say(snapshot(3, 'xyz'), me(3, 1))`), told("connecting"),
		answer(`snapshot(5, 'abc'), me(4, 7)`), told("abc 7@4 live"),
		script(`sockets[0].say(delta(5, 6, 1, 'cb', 3), me(6, 8))`), told("acb 8@6 live"),
		script(`sockets[0].say({type: 'status', stale: true, as_of: '2026-11-20T12:00:00Z'})`), told("acb 8@6 stale"),
		script(`sockets[0].say({type: 'status', stale: false})`), told("acb 8@6 live"),

		// Lost: all is kept, and offered. The answer may be what changed since, or nothing.
		becomes(`(sockets.at(-1).lose(), tell(u))`, "acb 8@6 away"), asked("3 u 2 e6"),
		answer(`delta(6, 6, 0, '', 3)`), told("acb 8@6 live"),
		becomes(`(sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 1}), sockets.at(-1).lose(1001), tell(u))`,
			"acb 8@6 away"), asked("3 u 2 e6"),
		answer(`delta(6, 9, 0, 'd', 3), me(9, 9)`), told("dcb 9@9 live"),
		// Or a snapshot, of another epoch and with a lower seq: what was known of the own place is older.
		script(`sockets.at(-1).lose()`), asked("3 u 2 e9"),
		answer(`snapshot(2, 'xyz', 'f')`), told("xyz 9@-1 live"),
		script(`sockets.at(-1).say(me(1, 4))`), told("xyz 4@1 live"),

		// A gap: asked anew, even over another connection; what is still on its way is not believed.
		becomes(`(sockets.at(-1).say(delta(3, 4, 0, 'q', 3), delta(2, 5, 0, 'q', 3), me(5, 5)), tell(u))`, "xyz 4@1 connecting"),
		asked("3 u 2 anew"),
		script(`sockets.at(-1).lose()`), asked("3 u 2 anew"), script(`sockets.at(-1).say(delta(2, 5, 0, 'q', 3))`),
		answer(`delta(2, 5, 0, 'q', 3), snapshot(6, 'qyz', 'f')`), told("qyz 4@-1 live"),
		// What is offered and does not fit the answer is a gap too, and so is what can't be.
		script(`sockets.at(-1).lose()`), asked("3 u 2 f6"), answer(`delta(5, 7, 0, 'p', 3)`), asked("3 u 2 anew"),
		answer(`snapshot(7, 'pyz', 'f')`), told("pyz 4@-1 live"),
		script(`sockets.at(-1).say(delta(7, 8, 1, 'p', 3))`), told("pyz 4@-1 connecting"), asked("3 u 2 anew"),
		answer(`snapshot(8, 'pyz', 'f')`), told("pyz 4@-1 live"),
		script(`sockets.at(-1).say(delta(8, 9, 4, 'q', 5))`), told("pyz 4@-1 connecting"), asked("3 u 2 anew"),
		answer(`snapshot(9, 'pyz', 'f')`), told("pyz 4@-1 live"),
		script(`sockets.at(-1).say('what?')`), asked("3 u 2 f9"), answer(`delta(9, 9, 0, '', 3)`), told("pyz 4@-1 live"),

		// A socket shows a board once: who watches it too has another, as long as it is needed.
		script(`var before = sockets.length, more = watch({top: 5})`), becomes(`sockets.length - before + ''`, "1"), asked("5 - 0 anew"),
		answer(`snapshot(8, 'oyzab', 'f')`), becomes(`tell(more)`, "oyzab  live"), told("pyz 4@-1 live"),
		script(`more.leave(); more.leave()`), becomes(`sockets.at(-1).closed + ''`, "true"), becomes(`tell(more)`, "oyzab  live"),
		script(`var old = sockets.at(-2)`), becomes(`String(old.closed)`, "undefined"),

		// Who leaves is told nothing more, not even what was on its way.
		script(`u.leave(); var gone = u; u = watch({top: 3, me: 'x'})`), becomes(`asked(old)`, "3 x 0 anew"),
		script(`old.say(delta(9, 10, 0, 'n', 3), {type: 'ok', id: old.sent.at(-1).id}, snapshot(10, 'nyz', 'f'))`), told("nyz  live"),
		becomes(`tell(gone)`, "pyz 4@-1 live"),

		// A refusal is final, unless time heals it.
		script(`u.leave(); u = watch({top: 3, me: 'y'}); null`), becomes(`asked(old)`, "3 y 0 anew"),
		script(`old.say({type: 'error', id: old.sent.at(-1).id, code: 'unavailable', message: ''}); var tries = old.sent.length`),
		told("connecting"),
		becomes(`asked(old) + ' ' + (old.sent.length > tries)`, "3 y 0 anew true"),
		script(`old.say({type: 'error', id: old.sent.at(-1).id, code: 'rate_limited', message: ''}); var tries = old.sent.length`),
		told("connecting"),
		becomes(`asked(old) + ' ' + (old.sent.length > tries)`, "3 y 0 anew true"),
		script(`old.say({type: 'error', id: old.sent.at(-1).id, code: 'limit_reached', message: ''}); var tries = old.sent.length`),
		told("connecting"),
		becomes(`asked(old) + ' ' + (old.sent.length > tries)`, "3 y 0 anew true"),
		script(`old.say({type: 'error', id: old.sent.at(-1).id, code: 'overloaded', message: ''}); var tries = old.sent.length`),
		told("connecting"),
		becomes(`asked(old) + ' ' + (old.sent.length > tries)`, "3 y 0 anew true"),
		script(`old.say({type: 'error', id: old.sent.at(-1).id, code: 'invalid_request', message: ''})`), told("stopped invalid_request"),

		// A server that says never to come back is not come back to.
		script(`u.leave(); u = watch({top: 3}); before = sockets.length`), becomes(`asked(old)`, "3 - 0 anew"),
		script(`old.lose(4501)`), told("stopped closed"), becomes(`String(sockets.length - before)`, "0"),
		becomes(`String(u.problem)`, "RankcastError: The server closed the connection (4501)."),
	))
}

// A page that nobody looks at is shown nothing, and then all at once.
func TestPageRestsWhileHidden(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/healthz"),
		script(wire), script(clockwork), becomes(`typeof connection`, "object"),
		script(`var u = watch({top: 3}), items = 0; connection.feed('gift', {onItems: more => items += more.length})`),
		becomes(`sockets[0]?.sent.map(({type, feed}) => type + (feed ?? '')).sort().join()`, "subscribe,subscribegift"),
		script(`sockets[0].say({type: 'ok', id: sockets[0].sent.find(({board}) => board).id}, snapshot(5, 'abc'))`), told("abc  live"),

		// A moment is nothing.
		script(`var visibility = 'hidden', look = now => { visibility = now; document.dispatchEvent(new Event('visibilitychange')); };
			Object.defineProperty(document, 'hidden', {get: () => visibility === 'hidden'});
			look('hidden'); pass(4e3); look('visible'); pass(10e3)`),
		told("abc  live"), becomes(`sockets[0].sent.filter(({type}) => type !== 'ping').length + ''`, "2"),

		script(`sockets[0].say({type: 'pong'}); look('hidden'); pass(5e3)`), told("abc  paused"),
		becomes(`sockets[0].sent.slice(-2).map(({type, board, feed}) => [type, board, feed].join('')).sort().join()`,
			"unsubscribeb,unsubscribegift"),
		script(`sockets[0].say(delta(5, 6, 0, 'd', 3))`), told("abc  paused"),
		// Lost meanwhile, it comes back, and still asks for nothing.
		script(`sockets[0].lose(); pass(1e3)`),
		becomes(`sockets.length + ' ' + sockets.at(-1).sent.filter(({type}) => type !== 'ping').length`, "2 0"), told("abc  paused"),
		script(`look('visible')`), asked("3 - 0 e5"), told("abc  connecting"),
		answer(`delta(5, 9, 0, 'dcb', 3)`), told("dcb  live"),
		becomes(`sockets.at(-1).sent.at(-1).type + sockets.at(-1).sent.filter(({feed}) => feed).length`, "subscribe1"),

		// What is asked for while nobody looks waits too, on whatever socket.
		script(`look('hidden'); pass(5e3); var v = watch({top: 2}), w = watch({top: 1}), before = sockets.length;
			connection.feed('periods', {onItems: () => {}})`),
		becomes(`tell(v) + ', ' + tell(w)`, "paused, paused"),
		becomes(`sockets.slice(-2).flatMap(({sent}) => sent.slice(-1)).filter(({type}) => type === 'subscribe').length + ''`, "0"),
		script(`look('visible')`), becomes(`sockets.slice(-2).map(socket => asked(socket)).join()`, "2 - 0 anew,1 - 0 anew"),
	))
}

// An event that is sent counts once, whatever becomes of connections and answers.
func TestPageSendsAnEventUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	sent := func(want string) chromedp.Action[chromedp.Void] {
		return becomes(`sockets.map(({sent}) => sent.filter(({type}) => type === 'event')
			.map(({event, data: {id, n}}) => event + n + (id === ids[n] ? '' : id)).join()).join(' ')`, want)
	}
	reply := func(frame string) chromedp.Action[chromedp.Void] {
		return script(`sockets.at(-1).say({id: sockets.at(-1).sent.findLast(({type}) => type === 'event').id, ` + frame + `})`)
	}
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/healthz"),
		script(wire), script(clockwork), becomes(`typeof connection`, "object"),
		script(`var ids = [, 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'], results = {};
			var send = n => connection.send('gift', {n, id: ids[n]})
				.then(all => results[n] = JSON.stringify(all), problem => results[n] = problem.code);
			send(1)`),
		sent("gift1"),
		script(`sockets[0].lose(); pass(1e3)`), sent("gift1 gift1"),
		reply(`type: 'error', code: 'unavailable', message: ''`), script(`pass(1e3)`), sent("gift1 gift1,gift1"),
		// Half of it was done.
		reply(`type: 'result', results: [{score: 1}, {error: {code: 'unavailable'}}]`), script(`pass(2e3)`), sent("gift1 gift1,gift1,gift1"),
		becomes(`String(results[1])`, "undefined"),
		reply(`type: 'result', results: [{score: 1}, {score: 2}]`), becomes(`String(results[1])`, `[{"score":1},{"score":2}]`),
		script(`pass(60e3)`), sent("gift1 gift1,gift1,gift1"), becomes(`String(sockets.at(-1).closed)`, "true"),

		// One without an id is given one, and refusals are final.
		script(`connection.send('gift', {n: 12}).catch(error => results[12] = [error, error instanceof Error, error.name,
			error.message, error.code, error.field].join(', '))`), becomes(`sockets.length + ''`, "3"),
		becomes(`String(/^[0-9a-f]{32}$/.test(sockets[2].sent.at(-1)?.data.id))`, "true"),
		reply(`type: 'error', code: 'invalid_request', field: 'flowers', message: 'flowers is missing'`),
		becomes(`String(results[12])`, "RankcastError: flowers is missing, true, RankcastError, flowers is missing, invalid_request, flowers"),

		// After nine minutes the server may have forgotten the id, and it would count twice: also
		// when nothing is answered, or there is no server, or the machine has slept meanwhile.
		script(`var latest = () => sockets.at(-1).sent.findLast(({type}) => type === 'event')?.data?.n + '', total = n => sockets
			.flatMap(({sent}) => sent).filter(({type, data}) => type === 'event' && data.n === n).length + '';
			WebSocket.prototype.send = (send => function (text) {
				send.call(this, text);
				const {type, id} = JSON.parse(text);
				if (type === 'ping') this.say({type: 'pong', id});
			})(WebSocket.prototype.send);
			send(2)`), becomes(`latest()`, "2"),
		script(`pass(539e3)`), becomes(`String(results[2])`, "undefined"), script(`pass(2e3)`),
		becomes(`String(results[2])`, "unavailable"), becomes(`total(2)`, "1"),
		script(`send(3)`), becomes(`latest()`, "3"),
		script(`sockets.at(-1).lose(); for (let i = 0; i < 60; i++) { pass(10e3); sockets.at(-1).lose(); }`),
		becomes(`String(results[3])`, "unavailable"),
		script(`send(5)`), becomes(`(pass(1e3), latest())`, "5"), script(`asleep += 30 * 60e3; sockets.at(-1).lose(); pass(1e3)`),
		becomes(`(pass(1e3), String(results[5]))`, "unavailable"), becomes(`total(5)`, "1"),
		script(`asleep -= 60 * 60e3; send(6)`), becomes(`latest()`, "6"),
		script(`asleep -= 30 * 60e3; sockets.at(-1).lose(); pass(1e3)`), becomes(`(pass(1e3), String(results[6]))`, "unavailable"),

		// Over however many connections, it is on its way once, and not at all when it was answered.
		script(`send(7)`), becomes(`latest()`, "7"),
		reply(`type: 'error', code: 'unavailable', message: ''`), script(`sockets.at(-1).lose(); pass(250)`),
		becomes(`(pass(100), total(7))`, "2"),
		reply(`type: 'error', code: 'unavailable', message: ''`), script(`sockets.at(-1).lose(); pass(500)`),
		becomes(`(pass(100), total(7))`, "3"),
		reply(`type: 'result', results: [{score: 7}]`), becomes(`String(results[7])`, `[{"score":7}]`), script(`pass(100e3)`),
		becomes(`total(7)`, "3"),

		// A server that wants nobody back.
		script(`send(8)`), becomes(`(pass(100), latest())`, "8"), script(`sockets.at(-1).lose(4500)`), becomes(`String(results[8])`, "closed"),
		script(`send(9)`), becomes(`String(results[9])`, "closed"),
	))
}

// How far away the server is can be asked as long as it is there. Where it is not, that is
// noticed, and it is tried again: after growing and random waits, or when it said itself.
func TestPagePings(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/healthz"),
		script(wire), script(clockwork), becomes(`typeof connection`, "object"),
		script(`var lags = [], ping = () => connection.ping().then(ms => lags.push(ms)); ping()`), becomes(`String(lags)`, ""),
		becomes(`JSON.stringify(lags)`, "[null]"),
		script(`var u = watch({top: 1}), v = watch({top: 2})`), asked("2 - 0 anew"),
		// The first socket is not needed any more.
		script(`u.leave(); pass(1e3)`), becomes(`String(sockets[0].closed)`, "true"),
		script(`ping(); pass(30); sockets[1].say({type: 'pong', id: sockets[1].sent.at(-1).id})`), becomes(`JSON.stringify(lags)`, "[null,30]"),
		script(`ping(); sockets[1].lose()`), becomes(`JSON.stringify(lags)`, "[null,30,null]"),

		// Each wait is up to twice as long as the one before, and is drawn by lot.
		script(`var luck = 0.5, tried; Math.random = () => luck;
			var wait = () => { const before = sockets.length, from = now;
				while (sockets.length === before && now - from < 80e3) pass(1); return now - from; };
			var waits = codes => codes.map(code => (sockets.at(-1).lose(code), wait())).join()`),
		script(`pass(250)`), asked("2 - 0 anew"), script(`pass(5e3)`), // that was a good connection
		script(`tried = waits(Array(8).fill(1006))`), becomes(`tried`, "125,250,500,1000,2000,4000,7500,7500"),
		script(`luck = 0.1; tried = waits([1006, 1006])`), becomes(`tried`, "1500,1500"),
		asked("2 - 0 anew"), script(`luck = 0.5; pass(4999)`), script(`tried = waits([1006])`), becomes(`tried`, "7500"),
		asked("2 - 0 anew"), script(`pass(5e3)`), script(`tried = waits([1006])`), becomes(`tried`, "125"),
		// A server that is overloaded, or that got too much, is not tried again so soon.
		asked("2 - 0 anew"), script(`pass(5e3)`), script(`tried = waits([1008, 1006])`), becomes(`tried`, "2000,4000"),
		asked("2 - 0 anew"), script(`pass(5e3)`), script(`tried = waits([1013, 1006])`), becomes(`tried`, "2000,4000"),
		// One that is about to go says when to come, at the earliest, unless that is too long.
		asked("2 - 0 anew"), script(`sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 4e3})`),
		script(`tried = waits([1001])`), becomes(`tried`, "5000"),
		asked("2 - 0 anew"), script(`sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 1e9})`),
		script(`tried = waits([1001])`), becomes(`tried`, "75000"),
		asked("2 - 0 anew"), script(`sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 4e3}); sockets.at(-1).lose(1001);
			var count = sockets.length, dialed = [], online = ms => { pass(ms); dispatchEvent(new Event('online'));
				dialed.push(sockets.length - count); };
			online(3999); online(1)`), becomes(`dialed.join()`, "0,1"),
		// A network that is there again is used at once.
		asked("2 - 0 anew"), script(`sockets.at(-1).lose(); online(0)`), becomes(`dialed.join()`, "0,1,2"),

		// One that never opens, and one that is silent even when it is asked, are given up.
		asked("2 - 0 anew"),
		script(`sockets.at(-1).lose(); online(0); var stuck = sockets.at(-1), given = [9999, 1].map(ms => (pass(ms), stuck.closed ?? false))`),
		becomes(`given.join()`, "false,true"),
		script(`wait()`), asked("2 - 0 anew"), script(`stuck = sockets.at(-1); pass(20e3)`), becomes(`stuck.sent.at(-1).type`, "ping"),
		script(`stuck.say({type: 'pong', id: stuck.sent.at(-1).id}); pass(5e3)`), becomes(`String(stuck.closed)`, "undefined"),
		script(`pass(15e3)`), becomes(`stuck.sent.at(-2).type + stuck.sent.at(-1).type`, "pingping"), script(`pass(4999)`),
		becomes(`String(stuck.closed)`, "undefined"),
		script(`pass(1)`), becomes(`String(stuck.closed)`, "true"), script(`wait()`), asked("2 - 0 anew"),
		// Also where the clock is set back meanwhile.
		script(`stuck = sockets.at(-1); Date.now = (real => () => real() - 3600e3)(Date.now); pass(20e3)`),
		becomes(`stuck.sent.at(-1).type`, "ping"),
		script(`pass(5e3)`), becomes(`String(stuck.closed)`, "true"), script(`wait()`), asked("2 - 0 anew"),

		// More boards than a server takes over one socket go over another.
		script(`count = sockets.length; for (let i = 0; i < 101; i++) connection.subscribe('more' + i, {}, {})`),
		becomes(`sockets.length - count + ''`, "1"),
		becomes(`sockets.slice(-2).map(({sent}) => new Set(sent.map(({board}) => board).filter(board => board)).size).join()`, "2,100"),
	))
}

// A server may be anywhere, also below a path, and nowhere.
func TestPageFindsItsServer(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	healthz := chromedp.Navigate("http://" + p.Addr + "/healthz")
	noServers := script(`var urls = []; globalThis.WebSocket = class extends EventTarget { static OPEN = 1; constructor(url) ` +
		`{ super(); urls.push(url); if (url.startsWith('ftp')) throw new SyntaxError('no such scheme'); } close() {} }`)
	require.NoError(t, chromedp.Do(ctx,
		healthz, noServers,
		script(`var kit, states = []; import('/kit/rankcast.js').then(all => kit = all)`), becomes(`typeof kit`, "object"),
		script(`for (const server of ['https://a.example/boards', 'https://b.example/boards/', '/below', undefined]) `+
			`kit.connect(server).subscribe('b', {}, {})`),
		becomes(`urls.join(' ').replaceAll(location.host, 'HERE')`,
			"wss://a.example/boards/v1/live wss://b.example/boards/v1/live ws://HERE/below/v1/live ws://HERE/v1/live"),
		script(`var inTime; kit.connect('ftp://c.example').subscribe('b', {},
			{onState: (state, {problem}) => states.push(state + ' ' + problem?.code)}); inTime = states.length`),
		becomes(`inTime + states.join()`, "0stopped cannot_connect"),
		script(`var board = document.createElement('live-leaderboard'); board.setAttribute('board', 'b');
			board.setAttribute('server', 'http://'); document.body.append(board)`),
		becomes(`board.dataset.state`, "stopped"),
		becomes(`String(/Invalid URL/.test(board.shadowRoot.querySelector('[part=note]').textContent))`, "true"),

		// The server of a copy from another address, as in a bundle, is the page's own.
		healthz, noServers,
		script(`fetch('/kit/rankcast.js').then(answer => answer.blob()).then(blob => import(URL.createObjectURL(blob)))
			.then(({subscribe}) => subscribe('b', {}, {}))`),
		becomes(`urls.join(' ').replaceAll(location.host, 'HERE')`, "ws://HERE/v1/live"),
	))
}

// A page may load the kit from both of its addresses: the element works once, and each copy finds the server.
func TestPageLoadsTheKitTwice(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--origins", "*")
	p.Post("stars", `{"updates":[{"member":"ann","score":40},{"member":"bob","score":30}]}`)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>site</title><script>var faults = [];
			addEventListener('error', ({message}) => faults.push(message))</script>
			<script type="module" src="http://%[1]s/kit/v1/rankcast.js"></script><script type="module" src="http://%[1]s/kit/rankcast.js"></script>
			<live-leaderboard board="stars"></live-leaderboard>`, p.Addr)
	}))
	defer site.Close()
	require.NoError(t, chromedp.Do(window(t, 800, 600), chromedp.Navigate(site.URL), shows("ann", "bob"),
		script(`var lists = []; for (const path of ['kit/rankcast.js', 'kit/v1/rankcast.js', 'kit/v1/rankcast.js?2', 'kit/v1/format.js']) {
			import('http://`+p.Addr+`/' + path).then(({subscribe}) => subscribe('stars', {},
				{onTop: ({top}) => lists.push(top.map(({member}) => member).join(' '))}));
		}`),
		becomes(`lists.join()`, "ann bob,ann bob,ann bob,ann bob"), becomes(`faults.join()`, "")))
}

// A page of another site is told what keeps it from watching, and from sending.
func TestKitTellsAPageOfAnotherSite(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>site</title><live-leaderboard board="stars"></live-leaderboard>`)
	}))
	defer site.Close()
	ctx := window(t, 800, 600)
	for _, c := range []struct {
		origins         []string
		watching        string
		sending, feed   string
		sockets, refuse string
		note            string // below the element
	}{
		{nil, "stopped ", "closed , RankcastError: REASON", "closed , RankcastError: REASON", "2", "REASON", "REASON"},
		{[]string{"--origins", site.URL}, "live ",
			"forbidden type, RankcastError: type: update and event need a token from a page of another site; send auth first, or " +
				"send them from your own server, by HTTP", "none", "2", "", "No scores yet"},
	} {
		p := e2etest.Launch(t, c.origins...)
		reason := "origin not allowed: add " + site.URL + " to the server's --origins"
		with := strings.NewReplacer("REASON", reason).Replace
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site.URL),
			script(`var count = 0, result, refused = 'none', watching;
				globalThis.WebSocket = class extends WebSocket { constructor(...args) { super(...args); count++; } };
				import('http://`+p.Addr+`/kit/rankcast.js').then(({connect, subscribe}) => {
					subscribe('stars', {}, {onState: (state, {problem}) => watching = state + ' ' + (problem?.message ?? '')});
					connect().feed('periods', {onItems: () => {},
						onError: error => refused = [error.code + ' ' + (error.field ?? ''), String(error)].join(', ')});
					connect().send('gift', {star: 's17', user: 'mochi', flowers: 3})
						.catch(error => result = [error.code + ' ' + (error.field ?? ''), String(error)].join(', '));
				})`),
			becomes(`result`, with(c.sending)), becomes(`watching`, c.watching+with(c.refuse)), becomes(`refused`, with(c.feed)),
			becomes(`document.querySelector('live-leaderboard').dataset.state`, strings.TrimSpace(c.watching)),
			becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=note]').textContent`, with(c.note)),
			becomes(`count + ''`, c.sockets),
		))
	}
}
