//go:build !race

package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// guarded is a page whose connection has a token function, and a server that answers pings. next is what the
// function does; given are the tokens that it gave, whose numbers stand for them in what frames shows.
const guarded = `
	globalThis.WebSocket = (Base => class extends Base {
		constructor(url) { super(); this.url = url; }
		send(text) {
			super.send(text);
			const {type, id} = JSON.parse(text);
			if (type === 'ping') this.say({type: 'pong', id, now: new Date(now).toISOString()});
		}
	})(WebSocket);
	var kit, given = [], calls = 0, items = 0, refusals = [], outcome = '';
	var jwt = seconds => ['e30', btoa(JSON.stringify({exp: now / 1e3 + seconds, made: given.length})).replace(/=+$/, ''), 'sig'].join('.');
	var next = () => jwt(600);
	var token = () => { calls++; const one = next(); given.push(one); return one; };
	var left = 0, elapse = async seconds => {
		for (left = seconds; left > 0; left--) {
			pass(1e3);
			for (let i = 0; i < 30; i++) await null;
		}
	};
	var last = () => sockets.at(-1);
	var frames = socket => socket.sent.filter(({type}) => type !== 'ping')
		.map(({type, token, board = '', feed = '', event = '', resume}) => [type, token ? given.indexOf(token) : '', board, feed,
			event, resume ? resume.life + resume.seq : ''].filter(word => word !== '').join(' ')).join(', ');
	var reply = frame => last().say({now: new Date(now).toISOString(), ...frame, id: last().sent.findLast(({type}) => type !== 'ping').id});
	var ok = () => reply({type: 'ok'}), refuse = code => reply({type: 'error', code, message: 'no'});
	var show = (...frames) => last().say({type: 'ok', id: last().sent.findLast(({board}) => board === 'b').id}, ...frames);
	import('/kit/rankcast.js').then(all => { kit = all; connection = kit.connect('http://stand-in', {token}); });`

// guardedPage opens that page.
func guardedPage(t *testing.T) func(actions ...chromedp.Action[chromedp.Void]) {
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	do := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(ctx, actions...))
	}
	do(chromedp.Navigate("http://"+p.Addr+"/healthz"), script(wire), becomes(`typeof connection`, "object"), script(clockwork),
		script(guarded), becomes(`typeof kit`, "object"),
		script(`Math.random = () => 0.5`))
	return do
}

// sent waits until the newest socket was sent this, and no more.
func sent(want string) chromedp.Action[chromedp.Void] { return becomes(`frames(last())`, want) }

// after lets seconds pass, one by one, so that promises settle in between.
func after(seconds int) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(script(fmt.Sprintf(`elapse(%d)`, seconds)), becomes(`left + ''`, "0"))
}

// A page's token goes before all else, and is renewed over the same connection.
func TestKitSendsATokenFirstAndRenewsIt(t *testing.T) {
	t.Parallel()
	do := guardedPage(t)
	do(
		script(`var u = watch({top: 3});
			connection.feed('gift', {onItems: more => items += more.length, onError: ({code}) => refusals.push(code)});
			connection.send('gift', {n: 1}).then(all => outcome = JSON.stringify(all), ({code}) => outcome = code)`),
		sent("auth 0"), told("connecting"), after(5), sent("auth 0"),
		script(`ok()`), sent("auth 0, subscribe b, subscribe gift, event gift"),
		script(`show(snapshot(5, 'abc'))`), told("abc  live"),
		script(`last().say({type: 'result', id: last().sent.find(({type}) => type === 'event').id, results: [{score: 1}]})`),
		becomes(`outcome`, `[{"score":1}]`),

		// The loss of a right ends one subscription. For a board without a subscription it does nothing.
		script(`last().say({type: 'error', board: 'b', code: 'forbidden', message: 'no'},
			{type: 'error', board: 'c', code: 'forbidden', message: 'no'},
			{type: 'feed', feed: 'gift', items: [{at: '', data: {}}], skipped: 0})`),
		told("abc  stopped forbidden"), becomes(`items + refusals.join()`, "1"),
		script(`last().say(delta(5, 6, 0, 'x', 3))`), told("abc  stopped forbidden"),
		script(`last().say({type: 'error', feed: 'gift', code: 'unauthorized', message: 'no'})`), becomes(`refusals.join()`, "unauthorized"),

		// 600 s of life: a renewal 30 to 60 s before the end, and by the server's clock, which says that 5 s are over.
		after(540), sent("auth 0, subscribe b, subscribe gift, event gift"), becomes(`calls + ''`, "1"),
		after(15), sent("auth 0, subscribe b, subscribe gift, event gift, auth 1"), told("abc  stopped forbidden"),
		script(`ok()`), sent("auth 0, subscribe b, subscribe gift, event gift, auth 1, subscribe b e5, subscribe gift"),
		script(`show(delta(5, 9, 0, 'd', 3))`), told("dbc  live"),

		// No token: the page's function is called again and again, and nothing else happens.
		script(`next = () => { throw new Error('no network'); }; last().sent.length = 0`),
		after(540), sent(""), becomes(`calls + ''`, "2"), after(40), sent(""), becomes(`String(calls > 3)`, "true"), told("dbc  live"),
		script(`next = () => jwt(50)`), after(20), becomes(`frames(last()).replace(/\d/g, '')`, "auth "),
		script(`refuse('unavailable')`), after(10), becomes(`frames(last()).replace(/\d/g, '')`, "auth , auth "), // the same, later
		becomes(`String(given.indexOf(last().sent.at(-1).token) === given.length - 1)`, "true"), told("dbc  live"),
		becomes(`sockets.length + ''`, "1"),
		// A token of less than 60 s is renewed halfway, and never more often than every 5 s.
		script(`ok(); var before = calls; next = () => jwt(6)`), after(10), becomes(`calls - before + ''`, "0"), after(15),
		becomes(`calls - before + ''`, "1"),
		script(`ok()`), script(`pass(4999)`), becomes(`calls - before + ''`, "1"), script(`pass(1)`), becomes(`calls - before + ''`, "2"),
	)
}

// A token that has expired, or that the server does not accept, is replaced by another one.
func TestKitReplacesARefusedToken(t *testing.T) {
	t.Parallel()
	do := guardedPage(t)
	do(
		script(`var u = watch({top: 3})`), sent("auth 0"), script(`ok()`), sent("auth 0, subscribe b"),
		script(`show(snapshot(5, 'abc'))`), told("abc  live"),
		// A lost connection says nothing about the token.
		script(`last().lose()`), told("abc  away"), after(5), sent("auth 0"), script(`ok()`), sent("auth 0, subscribe b e5"),
		script(`show(delta(5, 5, 0, '', 3))`), told("abc  live"),
		script(`last().lose(4401)`), told("abc  away"), after(5), sent("auth 1"), script(`ok()`), sent("auth 1, subscribe b e5"),
		script(`show(delta(5, 6, 0, 'x', 3))`), told("xbc  live"),
		becomes(`calls + ' ' + sockets.length`, "2 3"),
		// One that expired while there was no connection is not even tried.
		script(`u.leave()`), after(600), script(`u = watch({top: 3})`), sent("auth 2"),

		// Two refusals are one too many.
		script(`refuse('unauthorized')`), sent("auth 2, auth 3"), told("connecting"),
		script(`ok()`), sent("auth 2, auth 3, subscribe b"), script(`show(snapshot(7, 'ybc'))`), told("ybc  live"),
		script(`last().lose(4401); connection.send('gift', {n: 1}).catch(({code}) => outcome = code)`), after(5), sent("auth 4"),
		script(`refuse('unauthorized')`), sent("auth 4, auth 5"), becomes(`outcome`, ""), script(`refuse('unauthorized')`),
		told("ybc  stopped unauthorized"), becomes(`outcome + ' ' + last().closed`, "unauthorized true"),
		script(`before = sockets.length`), after(60), becomes(`sockets.length - before + ' ' + calls`, "0 6"),
		// Nothing else helps against some refusals, and time against others.
		script(`u.leave()`), after(5), script(`u = watch({top: 3})`), becomes(`sockets.length - before + ''`, "1"), sent("auth 6"),
		script(`refuse('overloaded')`), told("away"), after(5), sent("auth 6"), script(`refuse('invalid_request')`),
		told("stopped invalid_request"), becomes(`calls + ''`, "7"),
		// A socket that the server closed for good.
		script(`u.leave()`), after(5), script(`u = watch({top: 3})`), sent("auth 7"), script(`last().lose(4503, 'no rights')`),
		told("stopped closed"),
		script(`before = calls`), after(60), becomes(`calls - before + ''`, "0"),
	)
}

// A page's function that fails is called again, and the page is told.
func TestKitCallsATokenFunctionThatFails(t *testing.T) {
	t.Parallel()
	do := guardedPage(t)
	do(
		script(`next = () => { throw new Error('logged out'); }; var u = watch({top: 3})`), told("away no_token"),
		becomes(`u.problem.message + ' ' + sockets.length`, "The page's function gave no token: Error: logged out 0"),
		after(5), becomes(`String(calls > 2)`, "true"), becomes(`sockets.length + ''`, "0"),
		script(`next = () => undefined`), after(15),
		becomes(`u.problem.message`, "The page's function gave no token: TypeError: it returned neither a text nor null"),
		script(`next = () => new Promise(() => {})`), after(15), script(`before = calls`), after(5), script(`pass(10e3)`),
		becomes(`u.problem.message`, "The page's function gave no token: Error: no answer within 10 s"),
		// A viewer may have none. The next connection asks again.
		script(`next = () => Promise.resolve(null)`), after(20), becomes(`sockets.length + ''`, "1"), sent("subscribe b"), told("connecting"),
		after(5), script(`next = () => Promise.resolve(jwt(600)); last().lose()`), told("away"), after(5),
		becomes(`frames(last()).split(' ')[0] + sockets.length`, "auth2"),
	)
}

// A ticket opens one socket.
func TestKitGetsATicketForEachSocket(t *testing.T) {
	t.Parallel()
	do := guardedPage(t)
	do(
		script(`next = () => 'rct_' + (given.length + 1) + '&x'; var u = watch({top: 3}), v = watch({top: 5})`),
		becomes(`sockets.map(({url}) => url).join(' ')`, "ws://stand-in/v1/live?ticket=rct_1%26x ws://stand-in/v1/live?ticket=rct_2%26x"),
		sent("subscribe b"), script(`show(snapshot(5, 'abc'))`), script(`last().lose(4401)`), after(5),
		becomes(`last().url + ' ' + frames(last())`, "ws://stand-in/v1/live?ticket=rct_3%26x subscribe b e5"),
		becomes(`sockets.length + ' ' + calls`, "3 3"),
		// A page may change from tickets to tokens.
		script(`next = () => jwt(600); last().lose()`), after(5), becomes(`last().url + ' ' + frames(last())`, "ws://stand-in/v1/live auth 3"),
	)
}

// Nothing but the same function gives a token to a connection.
func TestKitSharesAConnectionByTokenFunction(t *testing.T) {
	t.Parallel()
	do := guardedPage(t)
	do(
		becomes(`[kit.connect('http://stand-in', {token}), kit.connect('http://stand-in'),
			kit.connect('http://stand-in', {token: () => 'another'}), kit.connect('http://elsewhere', {token})]
				.map(one => one === connection).join()`, "true,false,false,false"),
		becomes(`String(kit.connect('http://stand-in') === kit.connect('http://stand-in', {}))`, "true"),
		script(`var u = watch({top: 3}), v; { const guarded = connection; connection = kit.connect('http://stand-in'); v = `+
			`watch({top: 5}); connection = guarded; }`),
		becomes(`sockets.map(frames).sort().join(' | ')`, "auth 0 | subscribe b"),
	)
}

// An element gets its token from a URL of the page's site, or from its page.
func TestElementGetsItsToken(t *testing.T) {
	t.Parallel()
	do := guardedPage(t)
	do(
		script(`var asked = [], answer = () => Response.json({token: given[0] ??= jwt(600)});
			globalThis.fetch = async (url, {cache, credentials, method = 'GET'}) => (asked.push([method, url, cache, credentials]
				.join(' ')), answer());
			var add = attributes => {
				const board = Object.assign(document.createElement('live-leaderboard'), attributes);
				for (const [name, value] of Object.entries({server: 'http://stand-in',
					...attributes})) if (name !== 'token') board.setAttribute(name, value);
				document.body.append(board);
				return board;
			};
			var note = board => board.dataset.state + ': ' + board.shadowRoot.querySelector('[part=note]').textContent;
			document.body.replaceChildren();
			var one = add({board: 'b', 'token-url': '/rankcast-token'}), other = add({board: 'c', 'token-url': 'rankcast-token'}),
				open = add({board: 'd'})`),
		becomes(`sockets.map(frames).sort().join(' | ')`, "auth 0 | subscribe d"),
		becomes(`asked.join().replace(location.origin, '')`, "GET /rankcast-token no-store same-origin"),
		script(`var socket = sockets.find(({sent}) => sent[0].type === 'auth'); socket.say({type: 'ok', id: 1})`),
		becomes(`frames(socket)`, "auth 0, subscribe b, subscribe c"),
		script(`socket.say({type: 'error', id: 2, code: 'forbidden', message: 'no'}, {type: 'error', id: 3, code: 'unauthorized',
			message: 'no'})`),
		becomes(`note(one)`, "stopped: Your token is not for this board."),
		becomes(`note(other)`, "stopped: You need a valid token to see this board."),

		// What the URL may answer.
		script(`var tries = 0, tried = ''; var attempt = (type, body, status = 200) => {
				one.remove(); other.remove(); open.remove();
				answer = () => new Response(body, {status, headers: type ? {'content-type': type} : {}});
				one = add({board: 'b', 'token-url': '/token' + ++tries});
			}; var outcome = () => one.dataset.state === 'away' ? note(one) : last().url + ' ' + (last().sent[0]?.token ?? last().sent[0]?.type)`),
		script(`attempt('application/json; charset=utf-8', '{"ticket":"rct_7"}')`),
		becomes(`outcome()`, "ws://stand-in/v1/live?ticket=rct_7 subscribe"),
		script(`attempt('text/plain;charset=utf-8', ' abc\n')`), becomes(`outcome()`, "ws://stand-in/v1/live abc"),
		script(`attempt('application/json', '{"token":null}')`), becomes(`outcome()`, "ws://stand-in/v1/live subscribe"),
		script(`attempt('text/html', '<p>Log in')`), becomes(`outcome()`, "away: There is no token yet. Trying again…"),
		script(`attempt('application/json', '{"token":"x"}', 401)`), becomes(`outcome()`, "away: There is no token yet. Trying again…"),
		script(`attempt('application/json', '[]')`), becomes(`outcome()`, "ws://stand-in/v1/live subscribe"),

		// A script gives the function itself, also before or after the element stands on the page.
		script(`one.remove(); one = add({board: 'b', token: () => 'mine'})`), becomes(`outcome()`, "ws://stand-in/v1/live mine"),
		script(`one.token = () => 'yours'`), becomes(`outcome()`, "ws://stand-in/v1/live yours"),
	)
}

// A search takes the token of its connection, gets another one for a token that the server does not accept, and goes
// without a ticket, which opens a socket only.
func TestKitSearches(t *testing.T) {
	t.Parallel()
	do := guardedPage(t)
	found := func(want string) chromedp.Action[chromedp.Void] { return becomes(`outcome`, want) }
	search := func(call string) chromedp.Action[chromedp.Void] {
		return script(`outcome = ''; asked = []; ` + call +
			`.then(answer => outcome = JSON.stringify(answer), error => outcome = [error.name, error.code, error.message, error.field].join(' | '))`)
	}
	do(
		script(`var asked = [], answers = []; globalThis.fetch = async (url, {headers, signal, credentials}) => {
			signal?.throwIfAborted();
			asked.push([url.href, given.includes(headers.authorization?.slice(7))
				? 'token ' + given.indexOf(headers.authorization.slice(7)) : headers.authorization, credentials].join(' '));
			const [status, body] = answers.shift() ?? [200, {entries: []}];
			if (status === 0) throw new TypeError('network');
			return new Response(typeof body === 'string' ? body : JSON.stringify(body), {status});
		}`),
		script(`answers = [[200, {entries: [{member: '<b>'}]}]]`), search(`connection.search('fans:s/1', 'añ&b', {limit: 3})`),
		found(`{"entries":[{"member":"<b>"}]}`),
		becomes(`asked.join()`, "http://stand-in/v1/boards/fans%3As%2F1/search?limit=3&q=a%C3%B1%26b token 0 omit"),
		becomes(`sockets.length + ''`, "0"),
		search(`connection.search('b', 'x')`), found(`{"entries":[]}`),
		becomes(`asked.join()`, "http://stand-in/v1/boards/b/search?limit=10&q=x token 0 omit"),
		script(`answers = [[401, {code: 'unauthorized'}]]`), search(`connection.search('b', 'x')`), found(`{"entries":[]}`),
		becomes(`asked.map(one => one.split(' ')[2]).join()`, "0,1"),
		script(`answers = [[401, {code: 'unauthorized'}], [401, {code: 'unauthorized', detail: 'no'}]]`),
		search(`connection.search('b', 'x')`), found("RankcastError | unauthorized | no | "),
		script(`answers = [[400, {code: 'invalid_request', detail: 'q: is empty', field: 'q'}]]`),
		search(`connection.search('b', '')`), found("RankcastError | invalid_request | q: is empty | q"),
		script(`answers = [[502, '<h1>']]`), search(`connection.search('b', 'x')`), found("RankcastError | unavailable | No answer. | "),
		script(`answers = [[0]]`), search(`connection.search('b', 'x')`), found("RankcastError | unavailable | No answer. | "),
		search(`connection.search('b', 'x', {signal: AbortSignal.abort()})`), becomes(`outcome.split(' | ')[0]`, "AbortError"),
		search(`kit.connect('http://stand-in/sub').search('b', 'x')`), found(`{"entries":[]}`),
		becomes(`asked.join()`, "http://stand-in/sub/v1/boards/b/search?limit=10&q=x  omit"),
		search(`kit.connect('http://stand-in', {token: () => 'rct_1'}).search('b', 'x')`), found(`{"entries":[]}`),
		becomes(`asked.join()`, "http://stand-in/v1/boards/b/search?limit=10&q=x  omit"),
		search(`kit.connect('http://stand-in', {token: () => { throw new Error('logged out'); }}).search('b', 'x')`),
		found("RankcastError | no_token | The page's function gave no token: Error: logged out | "),
	)
}
