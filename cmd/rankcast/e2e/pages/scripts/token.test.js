// The kit with tokens: a page whose connection has a token function, and a server that answers pings. next is what the
// function does; given are the tokens that it gave, whose numbers stand for them in what frames shows.
globalThis.WebSocket = (Base =>
	class extends Base {
		constructor(url) {
			super();
			this.url = url;
		}
		send(text) {
			super.send(text);
			const {type, id} = JSON.parse(text);
			if (type === 'ping') this.say({type: 'pong', id, now: new Date(now).toISOString()});
		}
	})(WebSocket);
let u,
	kit,
	given = [],
	calls = 0,
	items = 0,
	refusals = [],
	outcome = '';
const jwt = seconds =>
	['e30', btoa(JSON.stringify({exp: now / 1e3 + seconds, made: given.length})).replace(/=+$/, ''), 'sig'].join('.');
let next = () => jwt(600);
const token = () => {
	calls++;
	const one = next();
	given.push(one);
	return one;
};
// after lets seconds pass, one by one, so that promises settle in between.
const after = async seconds => {
	for (; seconds > 0; seconds--) {
		pass(1e3);
		for (let i = 0; i < 30; i++) await null;
	}
};
const last = () => sockets.at(-1);
const frames = socket =>
	socket.sent
		.filter(({type}) => type !== 'ping')
		.map(({type, token, board = '', feed = '', event = '', resume}) =>
			[type, token ? given.indexOf(token) : '', board, feed, event, resume ? resume.life + resume.seq : '']
				.filter(word => word !== '')
				.join(' '),
		)
		.join(', ');
const reply = frame =>
	last().say({now: new Date(now).toISOString(), ...frame, id: last().sent.findLast(({type}) => type !== 'ping').id});
const ok = () => reply({type: 'ok'}),
	refuse = code => reply({type: 'error', code, message: 'no'});
const show = (...frames) => last().say({type: 'ok', id: last().sent.findLast(({board}) => board === 'b').id}, ...frames);
// guard opens the page.
const guard = async () => {
	kit = await import('/kit/rankcast.js');
	stopClock();
	connection = kit.connect('http://stand-in', {token});
	Math.random = () => 0.5;
};
const told = want => becomes(() => tell(u), want);

// sent waits until the newest socket was sent this, and no more.
const sent = want => becomes(() => frames(last()), want);

// A page's token goes before all else, and is renewed over the same connection.
test('KitSendsATokenFirstAndRenewsIt', async () => {
	await guard();
	u = watch({top: 3});
	connection.feed('gift', {onItems: more => (items += more.length), onError: ({code}) => refusals.push(code)});
	connection.send('gift', {n: 1}).then(
		all => (outcome = JSON.stringify(all)),
		({code}) => (outcome = code),
	);
	await sent('auth 0');
	await told('connecting');
	await after(5);
	await sent('auth 0');
	ok();
	await sent('auth 0, subscribe b, subscribe gift, event gift');
	show(snapshot(5, 'abc'));
	await told('abc  live');
	last().say({type: 'result', id: last().sent.find(({type}) => type === 'event').id, results: [{score: 1}]});
	await becomes(() => outcome, '[{"score":1}]');
	// The loss of a right ends one subscription. For a board without a subscription it does nothing.
	last().say(
		{type: 'error', board: 'b', code: 'forbidden', message: 'no'},
		{type: 'error', board: 'c', code: 'forbidden', message: 'no'},
		{type: 'feed', feed: 'gift', items: [{at: '', data: {}}], skipped: 0},
	);
	await told('abc  stopped forbidden');
	await becomes(() => items + refusals.join(), '1');
	last().say(delta(5, 6, 0, 'x', 3));
	await told('abc  stopped forbidden');
	last().say({type: 'error', feed: 'gift', code: 'unauthorized', message: 'no'});
	await becomes(() => refusals.join(), 'unauthorized');
	// 600 s of life: a renewal 30 to 60 s before the end, and by the server's clock, which says that 5 s are over.
	await after(540);
	await sent('auth 0, subscribe b, subscribe gift, event gift');
	await becomes(() => calls, 1);
	await after(15);
	await sent('auth 0, subscribe b, subscribe gift, event gift, auth 1');
	await told('abc  stopped forbidden');
	ok();
	await sent('auth 0, subscribe b, subscribe gift, event gift, auth 1, subscribe b e5, subscribe gift');
	show(delta(5, 9, 0, 'd', 3));
	await told('dbc  live');
	// No token: the page's function is called again and again, and nothing else happens.
	next = () => {
		throw new Error('no network');
	};
	last().sent.length = 0;
	await after(540);
	await sent('');
	await becomes(() => calls, 2);
	await after(40);
	await sent('');
	await becomes(() => calls > 3, true);
	await told('dbc  live');
	next = () => jwt(50);
	await after(20);
	await becomes(() => frames(last()).replace(/\d/g, ''), 'auth ');
	refuse('unavailable');
	await after(10);
	await becomes(() => frames(last()).replace(/\d/g, ''), 'auth , auth '); // the same, later
	await becomes(() => given.indexOf(last().sent.at(-1).token) === given.length - 1, true);
	await told('dbc  live');
	await becomes(() => sockets.length, 1);
	// A token of less than 60 s is renewed halfway, and never more often than every 5 s.
	ok();
	const before = calls;
	next = () => jwt(6);
	await after(10);
	await becomes(() => calls - before, 0);
	await after(15);
	await becomes(() => calls - before, 1);
	ok();
	await tick();
	pass(4999);
	await becomes(() => calls - before, 1);
	pass(1);
	await becomes(() => calls - before, 2);
});

// A token that has expired, or that the server does not accept, is replaced by another one.
test('KitReplacesARefusedToken', async () => {
	await guard();
	u = watch({top: 3});
	await sent('auth 0');
	ok();
	await sent('auth 0, subscribe b');
	show(snapshot(5, 'abc'));
	await told('abc  live');
	// A lost connection says nothing about the token.
	last().lose();
	await told('abc  away');
	await after(5);
	await sent('auth 0');
	ok();
	await sent('auth 0, subscribe b e5');
	show(delta(5, 5, 0, '', 3));
	await told('abc  live');
	last().lose(4401);
	await told('abc  away');
	await after(5);
	await sent('auth 1');
	ok();
	await sent('auth 1, subscribe b e5');
	show(delta(5, 6, 0, 'x', 3));
	await told('xbc  live');
	await becomes(() => calls + ' ' + sockets.length, '2 3');
	// One that expired while there was no connection is not even tried.
	u.leave();
	await after(600);
	u = watch({top: 3});
	await sent('auth 2');
	// Two refusals are one too many.
	refuse('unauthorized');
	await sent('auth 2, auth 3');
	await told('connecting');
	ok();
	await sent('auth 2, auth 3, subscribe b');
	show(snapshot(7, 'ybc'));
	await told('ybc  live');
	last().lose(4401);
	connection.send('gift', {n: 1}).catch(({code}) => (outcome = code));
	await after(5);
	await sent('auth 4');
	refuse('unauthorized');
	await sent('auth 4, auth 5');
	await becomes(() => outcome, '');
	refuse('unauthorized');
	await told('ybc  stopped unauthorized');
	await becomes(() => outcome + ' ' + last().closed, 'unauthorized true');
	let before = sockets.length;
	await after(60);
	await becomes(() => sockets.length - before + ' ' + calls, '0 6');
	// Nothing else helps against some refusals, and time against others.
	u.leave();
	await after(5);
	u = watch({top: 3});
	await becomes(() => sockets.length - before, 1);
	await sent('auth 6');
	refuse('overloaded');
	await told('away');
	await after(5);
	await sent('auth 6');
	refuse('invalid_request');
	await told('stopped invalid_request');
	await becomes(() => calls, 7);
	// A socket that the server closed for good.
	u.leave();
	await after(5);
	u = watch({top: 3});
	await sent('auth 7');
	last().lose(4503, 'no rights');
	await told('stopped closed');
	before = calls;
	await after(60);
	await becomes(() => calls - before, 0);
});

// A page's function that fails is called again, and the page is told.
test('KitCallsATokenFunctionThatFails', async () => {
	await guard();
	next = () => {
		throw new Error('logged out');
	};
	u = watch({top: 3});
	await told('away no_token');
	await becomes(() => u.problem.message + ' ' + sockets.length, "The page's function gave no token: Error: logged out 0");
	await after(5);
	await becomes(() => calls > 2, true);
	await becomes(() => sockets.length, 0);
	next = () => undefined;
	await after(15);
	await becomes(() => u.problem.message, "The page's function gave no token: TypeError: it returned neither a text nor null");
	next = () => new Promise(() => {});
	await after(15);
	let before = calls;
	await after(5);
	pass(10e3);
	await becomes(() => u.problem.message, "The page's function gave no token: Error: no answer within 10 s");
	// A viewer may have none. The next connection asks again.
	next = () => Promise.resolve(null);
	await after(20);
	await becomes(() => sockets.length, 1);
	await sent('subscribe b');
	await told('connecting');
	await after(5);
	next = () => Promise.resolve(jwt(600));
	last().lose();
	await told('away');
	await after(5);
	await becomes(() => frames(last()).split(' ')[0] + sockets.length, 'auth2');
});

// A ticket opens one socket.
test('KitGetsATicketForEachSocket', async () => {
	await guard();
	next = () => 'rct_' + (given.length + 1) + '&x';
	u = watch({top: 3});
	watch({top: 5});
	await becomes(
		() => sockets.map(({url}) => url).join(' '),
		'ws://stand-in/v1/live?ticket=rct_1%26x ws://stand-in/v1/live?ticket=rct_2%26x',
	);
	await sent('subscribe b');
	show(snapshot(5, 'abc'));
	await tick();
	last().lose(4401);
	await after(5);
	await becomes(() => last().url + ' ' + frames(last()), 'ws://stand-in/v1/live?ticket=rct_3%26x subscribe b e5');
	await becomes(() => sockets.length + ' ' + calls, '3 3');
	// A page may change from tickets to tokens.
	next = () => jwt(600);
	last().lose();
	await after(5);
	await becomes(() => last().url + ' ' + frames(last()), 'ws://stand-in/v1/live auth 3');
});

// Nothing but the same function gives a token to a connection.
test('KitSharesAConnectionByTokenFunction', async () => {
	await guard();
	await becomes(
		() =>
			[
				kit.connect('http://stand-in', {token}),
				kit.connect('http://stand-in'),
				kit.connect('http://stand-in', {token: () => 'another'}),
				kit.connect('http://elsewhere', {token}),
			]
				.map(one => one === connection)
				.join(),
		'true,false,false,false',
	);
	await becomes(() => kit.connect('http://stand-in') === kit.connect('http://stand-in', {}), true);
	watch({top: 3});
	connection = kit.connect('http://stand-in');
	watch({top: 5});
	await becomes(() => sockets.map(frames).sort().join(' | '), 'auth 0 | subscribe b');
});

// An element gets its token from a URL of the page's site, or from its page.
test('ElementGetsItsToken', async () => {
	await guard();
	var asked = [],
		answer = () => Response.json({token: (given[0] ??= jwt(600))});
	globalThis.fetch = async (url, {cache, credentials, method = 'GET'}) => (
		asked.push([method, url, cache, credentials].join(' ')),
		answer()
	);
	var add = attributes => {
		const board = Object.assign(document.createElement('live-leaderboard'), attributes);
		for (const [name, value] of Object.entries({server: 'http://stand-in', ...attributes}))
			if (name !== 'token') board.setAttribute(name, value);
		document.body.append(board);
		return board;
	};
	var note = board => board.dataset.state + ': ' + board.shadowRoot.querySelector('[part=note]').textContent;
	document.body.replaceChildren();
	var one = add({board: 'b', 'token-url': '/rankcast-token'}),
		other = add({board: 'c', 'token-url': 'rankcast-token'}),
		open = add({board: 'd'});
	await becomes(() => sockets.map(frames).sort().join(' | '), 'auth 0 | subscribe d');
	await becomes(() => asked.join().replace(location.origin, ''), 'GET /rankcast-token no-store same-origin');
	var socket = sockets.find(({sent}) => sent[0].type === 'auth');
	socket.say({type: 'ok', id: 1});
	await becomes(() => frames(socket), 'auth 0, subscribe b, subscribe c');
	socket.say(
		{type: 'error', id: 2, code: 'forbidden', message: 'no'},
		{type: 'error', id: 3, code: 'unauthorized', message: 'no'},
	);
	await becomes(() => note(one), 'stopped: Your token is not for this board.');
	await becomes(() => note(other), 'stopped: You need a valid token to see this board.');
	// What the URL may answer.
	other.remove();
	open.remove();
	let tries = 0,
		dialed;
	const replace = attributes => {
		one.remove();
		dialed = sockets.length;
		one = add({board: 'b', ...attributes});
	};
	const attempt = (type, body, status = 200) => {
		answer = () => new Response(body, {status, headers: {'content-type': type}});
		replace({'token-url': '/token' + ++tries});
	};
	const outcome = () =>
		one.dataset.state === 'away'
			? note(one)
			: sockets.length > dialed
				? last().url + ' ' + (last().sent[0]?.token ?? last().sent[0]?.type)
				: 'no socket yet';
	attempt('application/json; charset=utf-8', '{"ticket":"rct_7"}');
	await becomes(() => outcome(), 'ws://stand-in/v1/live?ticket=rct_7 subscribe');
	attempt('text/plain;charset=utf-8', ' abc\n');
	await becomes(() => outcome(), 'ws://stand-in/v1/live abc');
	attempt('application/json', '{"token":null}');
	await becomes(() => outcome(), 'ws://stand-in/v1/live subscribe');
	attempt('text/html', '<p>Log in');
	await becomes(() => outcome(), 'away: There is no token yet. Trying again…');
	attempt('application/json', '{"token":"x"}', 401);
	await becomes(() => outcome(), 'away: There is no token yet. Trying again…');
	attempt('application/json', '[]');
	await becomes(() => outcome(), 'ws://stand-in/v1/live subscribe');
	// A script gives the function itself, also before or after the element stands on the page.
	replace({token: () => 'mine'});
	await becomes(() => outcome(), 'ws://stand-in/v1/live mine');
	dialed = sockets.length;
	one.token = () => 'yours';
	await becomes(() => outcome(), 'ws://stand-in/v1/live yours');
});

// A search takes the token of its connection, gets another one for a token that the server does not accept, and goes
// without a ticket, which opens a socket only.
test('KitSearches', async () => {
	await guard();
	const found = want => becomes(() => outcome, want);
	const search = call => {
		outcome = '';
		asked = [];
		call().then(
			answer => (outcome = JSON.stringify(answer)),
			error => (outcome = [error.name, error.code, error.message, error.field].join(' | ')),
		);
	};
	var asked = [],
		answers = [];
	globalThis.fetch = async (url, {headers, signal, credentials}) => {
		signal?.throwIfAborted();
		asked.push(
			[
				url.href,
				given.includes(headers.authorization?.slice(7))
					? 'token ' + given.indexOf(headers.authorization.slice(7))
					: headers.authorization,
				credentials,
			].join(' '),
		);
		const [status, body] = answers.shift() ?? [200, {entries: []}];
		if (status === 0) throw new TypeError('network');
		return new Response(typeof body === 'string' ? body : JSON.stringify(body), {status});
	};
	await tick();
	answers = [[200, {entries: [{member: '<b>'}]}]];
	search(() => connection.search('fans:s/1', 'añ&b', {limit: 3}));
	await found('{"entries":[{"member":"<b>"}]}');
	await becomes(() => asked.join(), 'http://stand-in/v1/boards/fans%3As%2F1/search?limit=3&q=a%C3%B1%26b token 0 omit');
	await becomes(() => sockets.length, 0);
	search(() => connection.search('b', 'x'));
	await found('{"entries":[]}');
	await becomes(() => asked.join(), 'http://stand-in/v1/boards/b/search?limit=10&q=x token 0 omit');
	answers = [[401, {code: 'unauthorized'}]];
	search(() => connection.search('b', 'x'));
	await found('{"entries":[]}');
	await becomes(() => asked.map(one => one.split(' ')[2]).join(), '0,1');
	answers = [
		[401, {code: 'unauthorized'}],
		[401, {code: 'unauthorized', detail: 'no'}],
	];
	search(() => connection.search('b', 'x'));
	await found('RankcastError | unauthorized | no | ');
	answers = [[400, {code: 'invalid_request', detail: 'q: is empty', field: 'q'}]];
	search(() => connection.search('b', ''));
	await found('RankcastError | invalid_request | q: is empty | q');
	answers = [[502, '<h1>']];
	search(() => connection.search('b', 'x'));
	await found('RankcastError | unavailable | No answer. | ');
	answers = [[0]];
	search(() => connection.search('b', 'x'));
	await found('RankcastError | unavailable | No answer. | ');
	search(() => connection.search('b', 'x', {signal: AbortSignal.abort()}));
	await becomes(() => outcome.split(' | ')[0], 'AbortError');
	search(() => kit.connect('http://stand-in/sub').search('b', 'x'));
	await found('{"entries":[]}');
	await becomes(() => asked.join(), 'http://stand-in/sub/v1/boards/b/search?limit=10&q=x  omit');
	search(() => kit.connect('http://stand-in', {token: () => 'rct_1'}).search('b', 'x'));
	await found('{"entries":[]}');
	await becomes(() => asked.join(), 'http://stand-in/v1/boards/b/search?limit=10&q=x  omit');
	search(() =>
		kit
			.connect('http://stand-in', {
				token: () => {
					throw new Error('logged out');
				},
			})
			.search('b', 'x'),
	);
	await found("RankcastError | no_token | The page's function gave no token: Error: logged out | ");
});
