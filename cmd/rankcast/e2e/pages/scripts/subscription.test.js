// Subscriptions of the kit, on a page whose server is the test.
let u; // the watcher that told is about
const told = want => becomes(() => tell(u), want);

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

// The kit resumes after a loss, and asks anew after a gap, in whatever order frames come.
test('PageResumes', async () => {
	await connectKit();
	Math.random = () => 0; // no wait before it comes back
	await tick();
	u = watch({top: 3, me: 'u', around: 2});
	const inTime = u.state;
	await becomes(() => inTime, '');
	await asks('3 u 2 anew');
	await told('connecting');
	// The kit ignores frames that come before the answer: they belong to an earlier subscription.
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
	// After a loss the kit keeps the list, and offers its seq. The answer is the changes since, or no change.
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
	// Or the answer is a snapshot of another epoch, with a lower seq. The own place is older than it.
	sockets.at(-1).lose();
	await asks('3 u 2 e9');
	answer(snapshot(2, 'xyz', 'f'));
	await told('xyz 9@-1 live');
	sockets.at(-1).say(me(1, 4));
	await told('xyz 4@1 live');
	// After a gap the kit asks anew, also over another connection. It ignores frames that are still on their way.
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
	// A delta that does not fit the offered seq is a gap too, and so is a delta that no list can have.
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
	// A socket has one subscription of a board. A second watcher gets a socket of its own, while it watches.
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
	// A watcher that has left gets no frame any more, not even one that was on its way.
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
	// The kit does not come back to a server that closes with a final code.
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

// A hidden page gets no frames. When it is visible again, it gets all changes at once.
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
	// A page that is hidden for less than 5 s stays subscribed.
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
	// After a loss the kit connects again, and does not subscribe while the page is hidden.
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
	// Subscriptions that a hidden page adds wait too, on each socket.
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
