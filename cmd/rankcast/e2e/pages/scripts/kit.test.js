// The kit by its functions, on a page whose server is the test.
let u; // the watcher that told is about
const told = want => becomes(() => tell(u), want);
const asks = want => becomes(() => asked(sockets.at(-1)), want); // of the newest socket
const noServers = () => {
	globalThis.urls = [];
	globalThis.WebSocket = class extends EventTarget {
		static OPEN = 1;
		constructor(url) {
			super();
			urls.push(url);
			if (url.startsWith('ftp')) throw new SyntaxError('no such scheme');
		}
		close() {}
	};
};

// With info, the kit keeps what the board is, and knows the span of the period that follows.
test('KitKeepsInfo', async () => {
	const period = (name, opens, ends) => JSON.stringify({every: 'day', name, opens, ends});
	await connectKit();
	var known = '';
	connection.subscribe(
		'b',
		{top: 3, info: true},
		{onTop: ({info}) => (known = info?.title + ' ' + JSON.stringify(info?.period, ['every', 'name', 'opens', 'ends']))},
	);
	var day = (seq, name, ends) => ({...snapshot(seq, 'abc'), period: name, ends});
	await becomes(() => sockets.at(-1)?.sent.at(-1)?.info, true);
	answer({...day(1, 'mon', 'T1'), info: {title: 'T', kind: 'k', period: {name: 'mon', every: 'day', opens: 'T0', ends: 'T1'}}});
	await becomes(() => known, 'T ' + period('mon', 'T0', 'T1'));
	sockets.at(-1).say(delta(1, 2, 0, 'd', 3));
	await becomes(() => known, 'T ' + period('mon', 'T0', 'T1'));
	sockets.at(-1).say({...day(2, 'mon', 'T1'), final: true});
	await becomes(() => known, 'T ' + period('mon', 'T0', 'T1'));
	sockets.at(-1).say(day(3, 'tue', 'T2'));
	await becomes(() => known, 'T ' + period('tue', 'T1', 'T2'));
});

// What a page asks for, and what it makes of the answers, in each order.
test('PageResumes', async () => {
	await connectKit();
	Math.random = () => 0; // no wait before it comes back
	await tick();
	u = watch({top: 3, me: 'u', around: 2});
	const inTime = u.state;
	await becomes(() => inTime, '');
	await asks('3 u 2 anew');
	await told('connecting');
	// What comes before the answer was meant for somebody else.
	sockets[0].say(snapshot(3, 'xyz'), me(3, 1));
	await told('connecting');
	answer(snapshot(5, 'abc'), me(4, 7));
	await told('abc 7@4 live');
	sockets[0].say(delta(5, 6, 1, 'cb', 3), me(6, 8));
	await told('acb 8@6 live');
	sockets[0].say({type: 'status', stale: true, as_of: '2026-11-20T12:00:00Z'});
	await told('acb 8@6 stale');
	sockets[0].say({type: 'status', stale: false});
	await told('acb 8@6 live');
	// Lost: all is kept, and offered. The answer may be what changed since, or nothing.
	await becomes(() => (sockets.at(-1).lose(), tell(u)), 'acb 8@6 away');
	await asks('3 u 2 e6');
	answer(delta(6, 6, 0, '', 3));
	await told('acb 8@6 live');
	await becomes(
		() => (sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 1}), sockets.at(-1).lose(1001), tell(u)),
		'acb 8@6 away',
	);
	await asks('3 u 2 e6');
	answer(delta(6, 9, 0, 'd', 3), me(9, 9));
	await told('dcb 9@9 live');
	// Or a snapshot, of another epoch and with a lower seq: what was known of the own place is older.
	sockets.at(-1).lose();
	await asks('3 u 2 e9');
	answer(snapshot(2, 'xyz', 'f'));
	await told('xyz 9@-1 live');
	sockets.at(-1).say(me(1, 4));
	await told('xyz 4@1 live');
	// A gap: asked anew, even over another connection; what is still on its way is not believed.
	await becomes(
		() => (sockets.at(-1).say(delta(3, 4, 0, 'q', 3), delta(2, 5, 0, 'q', 3), me(5, 5)), tell(u)),
		'xyz 4@1 connecting',
	);
	await asks('3 u 2 anew');
	sockets.at(-1).lose();
	await asks('3 u 2 anew');
	sockets.at(-1).say(delta(2, 5, 0, 'q', 3));
	await tick();
	answer(delta(2, 5, 0, 'q', 3), snapshot(6, 'qyz', 'f'));
	await told('qyz 4@-1 live');
	// What is offered and does not fit the answer is a gap too, and so is what can't be.
	sockets.at(-1).lose();
	await asks('3 u 2 f6');
	answer(delta(5, 7, 0, 'p', 3));
	await asks('3 u 2 anew');
	answer(snapshot(7, 'pyz', 'f'));
	await told('pyz 4@-1 live');
	sockets.at(-1).say(delta(7, 8, 1, 'p', 3));
	await told('pyz 4@-1 connecting');
	await asks('3 u 2 anew');
	answer(snapshot(8, 'pyz', 'f'));
	await told('pyz 4@-1 live');
	sockets.at(-1).say(delta(8, 9, 4, 'q', 5));
	await told('pyz 4@-1 connecting');
	await asks('3 u 2 anew');
	answer(snapshot(9, 'pyz', 'f'));
	await told('pyz 4@-1 live');
	sockets.at(-1).say('what?');
	await asks('3 u 2 f9');
	answer(delta(9, 9, 0, '', 3));
	await told('pyz 4@-1 live');
	// A socket shows a board once: who watches it too has another, as long as it is needed.
	let before = sockets.length;
	const more = watch({top: 5});
	await becomes(() => sockets.length - before, 1);
	await asks('5 - 0 anew');
	answer(snapshot(8, 'oyzab', 'f'));
	await becomes(() => tell(more), 'oyzab  live');
	await told('pyz 4@-1 live');
	more.leave();
	more.leave();
	await becomes(() => sockets.at(-1).closed, true);
	await becomes(() => tell(more), 'oyzab  live');
	var old = sockets.at(-2);
	await becomes(() => old.closed, undefined);
	// Who leaves is told nothing more, not even what was on its way.
	u.leave();
	const gone = u;
	u = watch({top: 3, me: 'x'});
	await becomes(() => asked(old), '3 x 0 anew');
	old.say(delta(9, 10, 0, 'n', 3), {type: 'ok', id: old.sent.at(-1).id}, snapshot(10, 'nyz', 'f'));
	await told('nyz  live');
	await becomes(() => tell(gone), 'pyz 4@-1 live');
	// A refusal is final, unless time heals it.
	u.leave();
	u = watch({top: 3, me: 'y'});
	await becomes(() => asked(old), '3 y 0 anew');
	for (const code of ['unavailable', 'rate_limited', 'limit_reached', 'overloaded']) {
		old.say({type: 'error', id: old.sent.at(-1).id, code, message: ''});
		const tries = old.sent.length;
		await told('connecting');
		await becomes(() => asked(old) + ' ' + (old.sent.length > tries), '3 y 0 anew true');
	}
	old.say({type: 'error', id: old.sent.at(-1).id, code: 'invalid_request', message: ''});
	await told('stopped invalid_request');
	// A server that says never to come back is not come back to.
	u.leave();
	u = watch({top: 3});
	before = sockets.length;
	await becomes(() => asked(old), '3 - 0 anew');
	old.lose(4501);
	await told('stopped closed');
	await page.drawn();
	await becomes(() => sockets.length - before, 0);
	await becomes(() => String(u.problem), 'RankcastError: The server closed the connection (4501).');
});

// A page that nobody looks at is shown nothing, and then all at once.
test('PageRestsWhileHidden', async () => {
	await connectKit();
	stopClock();
	u = watch({top: 3});
	let items = 0;
	connection.feed('gift', {onItems: more => (items += more.length)});
	await becomes(
		() =>
			sockets[0]?.sent
				.map(({type, feed}) => type + (feed ?? ''))
				.sort()
				.join(),
		'subscribe,subscribegift',
	);
	sockets[0].say({type: 'ok', id: sockets[0].sent.find(({board}) => board).id}, snapshot(5, 'abc'));
	await told('abc  live');
	// A moment is nothing.
	var visibility = 'hidden',
		look = now => {
			visibility = now;
			document.dispatchEvent(new Event('visibilitychange'));
		};
	Object.defineProperty(document, 'hidden', {get: () => visibility === 'hidden'});
	look('hidden');
	pass(4e3);
	look('visible');
	pass(10e3);
	await told('abc  live');
	await becomes(() => sockets[0].sent.filter(({type}) => type !== 'ping').length, 2);
	sockets[0].say({type: 'pong'});
	look('hidden');
	pass(5e3);
	await told('abc  paused');
	await becomes(
		() =>
			sockets[0].sent
				.slice(-2)
				.map(({type, board, feed}) => [type, board, feed].join(''))
				.sort()
				.join(),
		'unsubscribeb,unsubscribegift',
	);
	sockets[0].say(delta(5, 6, 0, 'd', 3));
	await told('abc  paused');
	// Lost meanwhile, it comes back, and still asks for nothing.
	sockets[0].lose();
	pass(1e3);
	await becomes(() => sockets.length + ' ' + sockets.at(-1).sent.filter(({type}) => type !== 'ping').length, '2 0');
	await told('abc  paused');
	look('visible');
	await asks('3 - 0 e5');
	await told('abc  connecting');
	answer(delta(5, 9, 0, 'dcb', 3));
	await told('dcb  live');
	await becomes(() => sockets.at(-1).sent.at(-1).type + sockets.at(-1).sent.filter(({feed}) => feed).length, 'subscribe1');
	// What is asked for while nobody looks waits too, on whatever socket.
	look('hidden');
	pass(5e3);
	const v = watch({top: 2}),
		w = watch({top: 1});
	connection.feed('periods', {onItems: () => {}});
	await becomes(() => tell(v) + ', ' + tell(w), 'paused, paused');
	await becomes(
		() =>
			sockets
				.slice(-2)
				.flatMap(({sent}) => sent.slice(-1))
				.filter(({type}) => type === 'subscribe').length,
		0,
	);
	look('visible');
	await becomes(
		() =>
			sockets
				.slice(-2)
				.map(socket => asked(socket))
				.join(),
		'2 - 0 anew,1 - 0 anew',
	);
});

// An event that is sent counts once, whatever becomes of connections and answers.
test('PageSendsAnEventUntilItIsAnswered', async () => {
	const sent = want =>
		becomes(
			() =>
				sockets
					.map(({sent}) =>
						sent
							.filter(({type}) => type === 'event')
							.map(({event, data: {id, n}}) => event + n + (id === ids[n] ? '' : id))
							.join(),
					)
					.join(' '),
			want,
		);
	const reply = frame => sockets.at(-1).say({id: sockets.at(-1).sent.findLast(({type}) => type === 'event').id, ...frame});
	await connectKit();
	stopClock();
	var ids = [, 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'],
		results = {};
	var send = n =>
		connection.send('gift', {n, id: ids[n]}).then(
			all => (results[n] = JSON.stringify(all)),
			problem => (results[n] = problem.code),
		);
	send(1);
	await sent('gift1');
	sockets[0].lose();
	pass(1e3);
	await sent('gift1 gift1');
	reply({type: 'error', code: 'unavailable', message: ''});
	await tick();
	pass(1e3);
	await sent('gift1 gift1,gift1');
	// Half of it was done.
	reply({type: 'result', results: [{score: 1}, {error: {code: 'unavailable'}}]});
	await tick();
	pass(2e3);
	await sent('gift1 gift1,gift1,gift1');
	await becomes(() => results[1], undefined);
	reply({type: 'result', results: [{score: 1}, {score: 2}]});
	await becomes(() => String(results[1]), '[{"score":1},{"score":2}]');
	pass(60e3);
	await sent('gift1 gift1,gift1,gift1');
	await becomes(() => sockets.at(-1).closed, true);
	// One without an id is given one, and refusals are final.
	connection
		.send('gift', {n: 12})
		.catch(
			error =>
				(results[12] = [error, error instanceof Error, error.name, error.message, error.code, error.field].join(', ')),
		);
	await becomes(() => sockets.length, 3);
	await becomes(() => /^[0-9a-f]{32}$/.test(sockets[2].sent.at(-1)?.data.id), true);
	reply({type: 'error', code: 'invalid_request', field: 'flowers', message: 'flowers is missing'});
	await becomes(
		() => String(results[12]),
		'RankcastError: flowers is missing, true, RankcastError, flowers is missing, invalid_request, flowers',
	);
	// After nine minutes the server may have forgotten the id, and it would count twice: also
	// when nothing is answered, or there is no server, or the machine has slept meanwhile.
	var latest = () => sockets.at(-1).sent.findLast(({type}) => type === 'event')?.data?.n + '',
		total = n => sockets.flatMap(({sent}) => sent).filter(({type, data}) => type === 'event' && data.n === n).length + '';
	answerPings();
	send(2);
	await becomes(() => latest(), '2');
	pass(539e3);
	await becomes(() => results[2], undefined);
	pass(2e3);
	await becomes(() => String(results[2]), 'unavailable');
	await becomes(() => total(2), '1');
	send(3);
	await becomes(() => latest(), '3');
	sockets.at(-1).lose();
	for (let i = 0; i < 60; i++) {
		pass(10e3);
		sockets.at(-1).lose();
	}
	await becomes(() => String(results[3]), 'unavailable');
	send(5);
	await becomes(() => (pass(1e3), latest()), '5');
	asleep += 30 * 60e3;
	sockets.at(-1).lose();
	pass(1e3);
	await becomes(() => (pass(1e3), String(results[5])), 'unavailable');
	await becomes(() => total(5), '1');
	asleep -= 60 * 60e3;
	send(6);
	await becomes(() => latest(), '6');
	asleep -= 30 * 60e3;
	sockets.at(-1).lose();
	pass(1e3);
	await becomes(() => (pass(1e3), String(results[6])), 'unavailable');
	// Over however many connections, it is on its way once, and not at all when it was answered.
	send(7);
	await becomes(() => latest(), '7');
	reply({type: 'error', code: 'unavailable', message: ''});
	await tick();
	sockets.at(-1).lose();
	pass(250);
	await becomes(() => (pass(100), total(7)), '2');
	reply({type: 'error', code: 'unavailable', message: ''});
	await tick();
	sockets.at(-1).lose();
	pass(500);
	await becomes(() => (pass(100), total(7)), '3');
	reply({type: 'result', results: [{score: 7}]});
	await becomes(() => String(results[7]), '[{"score":7}]');
	pass(100e3);
	await becomes(() => total(7), '3');
	// A server that wants nobody back.
	send(8);
	await becomes(() => (pass(100), latest()), '8');
	sockets.at(-1).lose(4500);
	await becomes(() => String(results[8]), 'closed');
	send(9);
	await becomes(() => String(results[9]), 'closed');
});

// How far away the server is can be asked as long as it is there. Where it is not, that is
// noticed, and it is tried again: after growing and random waits, or when it said itself.
test('PagePings', async () => {
	await connectKit();
	stopClock();
	const lags = [],
		ping = () => connection.ping().then(ms => lags.push(ms));
	ping();
	await becomes(() => String(lags), '');
	await becomes(() => JSON.stringify(lags), '[null]');
	u = watch({top: 1});
	watch({top: 2});
	await asks('2 - 0 anew');
	// The first socket is not needed any more.
	u.leave();
	pass(1e3);
	await becomes(() => sockets[0].closed, true);
	ping();
	pass(30);
	sockets[1].say({type: 'pong', id: sockets[1].sent.at(-1).id});
	await becomes(() => JSON.stringify(lags), '[null,30]');
	ping();
	sockets[1].lose();
	await becomes(() => JSON.stringify(lags), '[null,30,null]');
	// Each wait is up to twice as long as the one before, and is drawn by lot.
	let luck = 0.5;
	Math.random = () => luck;
	var wait = () => {
		const before = sockets.length,
			from = now;
		while (sockets.length === before && now - from < 80e3) pass(1);
		return now - from;
	};
	var waits = codes => codes.map(code => (sockets.at(-1).lose(code), wait())).join();
	await tick();
	pass(250);
	await asks('2 - 0 anew');
	pass(5e3); // that was a good connection
	await tick();
	equal(waits(Array(8).fill(1006)), '125,250,500,1000,2000,4000,7500,7500');
	luck = 0.1;
	equal(waits([1006, 1006]), '1500,1500');
	await asks('2 - 0 anew');
	luck = 0.5;
	pass(4999);
	await tick();
	equal(waits([1006]), '7500');
	await asks('2 - 0 anew');
	pass(5e3);
	await tick();
	equal(waits([1006]), '125');
	// A server that is overloaded, or that got too much, is not tried again so soon.
	await asks('2 - 0 anew');
	pass(5e3);
	await tick();
	equal(waits([1008, 1006]), '2000,4000');
	await asks('2 - 0 anew');
	pass(5e3);
	await tick();
	equal(waits([1013, 1006]), '2000,4000');
	// One that is about to go says when to come, at the earliest, unless that is too long.
	await asks('2 - 0 anew');
	sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 4e3});
	await tick();
	equal(waits([1001]), '5000');
	await asks('2 - 0 anew');
	sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 1e9});
	await tick();
	equal(waits([1001]), '75000');
	await asks('2 - 0 anew');
	sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 4e3});
	sockets.at(-1).lose(1001);
	var count = sockets.length,
		dialed = [],
		online = ms => {
			pass(ms);
			dispatchEvent(new Event('online'));
			dialed.push(sockets.length - count);
		};
	online(3999);
	online(1);
	await becomes(() => dialed.join(), '0,1');
	// A network that is there again is used at once.
	await asks('2 - 0 anew');
	sockets.at(-1).lose();
	online(0);
	await becomes(() => dialed.join(), '0,1,2');
	// One that never opens, and one that is silent even when it is asked, are given up.
	await asks('2 - 0 anew');
	sockets.at(-1).lose();
	online(0);
	var stuck = sockets.at(-1),
		given = [9999, 1].map(ms => (pass(ms), stuck.closed ?? false));
	await becomes(() => given.join(), 'false,true');
	wait();
	await asks('2 - 0 anew');
	stuck = sockets.at(-1);
	pass(20e3);
	await becomes(() => stuck.sent.at(-1).type, 'ping');
	stuck.say({type: 'pong', id: stuck.sent.at(-1).id});
	pass(5e3);
	await becomes(() => stuck.closed, undefined);
	pass(15e3);
	await becomes(() => stuck.sent.at(-2).type + stuck.sent.at(-1).type, 'pingping');
	pass(4999);
	await becomes(() => stuck.closed, undefined);
	pass(1);
	await becomes(() => stuck.closed, true);
	wait();
	await asks('2 - 0 anew');
	// Also where the clock is set back meanwhile.
	stuck = sockets.at(-1);
	Date.now = (
		real => () =>
			real() - 3600e3
	)(Date.now);
	pass(20e3);
	await becomes(() => stuck.sent.at(-1).type, 'ping');
	pass(5e3);
	await becomes(() => stuck.closed, true);
	wait();
	await asks('2 - 0 anew');
	// More boards than a server takes over one socket go over another.
	count = sockets.length;
	for (let i = 0; i < 101; i++) connection.subscribe('more' + i, {}, {});
	await becomes(() => sockets.length - count, 1);
	await becomes(
		() =>
			sockets
				.slice(-2)
				.map(({sent}) => new Set(sent.map(({board}) => board).filter(board => board)).size)
				.join(),
		'2,100',
	);
});

// A server may be anywhere, also below a path, and nowhere.
test('PageFindsItsServer', async () => {
	noServers();
	var kit,
		states = [];
	import('/kit/rankcast.js').then(all => (kit = all));
	await becomes(() => typeof kit, 'object');
	for (const server of ['https://a.example/boards', 'https://b.example/boards/', '/below', undefined])
		kit.connect(server).subscribe('b', {}, {});
	await becomes(
		() => urls.join(' ').replaceAll(location.host, 'HERE'),
		'wss://a.example/boards/v1/live wss://b.example/boards/v1/live ws://HERE/below/v1/live ws://HERE/v1/live',
	);
	var inTime;
	kit.connect('ftp://c.example').subscribe('b', {}, {onState: (state, {problem}) => states.push(state + ' ' + problem?.code)});
	inTime = states.length;
	await becomes(() => inTime + states.join(), '0stopped cannot_connect');
	var board = document.createElement('live-leaderboard');
	board.setAttribute('board', 'b');
	board.setAttribute('server', 'http://');
	document.body.append(board);
	await becomes(() => board.dataset.state, 'stopped');
	await becomes(() => /Invalid URL/.test(board.shadowRoot.querySelector('[part=note]').textContent), true);
});

// The server of a copy from another address, as in a bundle, is the page's own.
test('CopyOfTheKitFindsItsServer', async () => {
	noServers();
	fetch('/kit/rankcast.js')
		.then(answer => answer.blob())
		.then(blob => import(URL.createObjectURL(blob)))
		.then(({subscribe}) => subscribe('b', {}, {}));
	await becomes(() => urls.join(' ').replaceAll(location.host, 'HERE'), 'ws://HERE/v1/live');
});
