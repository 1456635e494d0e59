// The element, on a page whose server is the test.

// The list and the own place come in separate frames. The element shows the newer one.
test('ElementTrustsTheNewer', async () => {
	await openBoard({me: 'u'});
	const members = [
			['a', 30],
			['b', 20],
			['c', 20, 3],
		],
		shown = '1 a 30, 2 b 20, 3 c 20';
	for (const [me, want] of [
		[[], ''],
		[[own(10, null, null)], ', below u has no score yet'],
		[[own(10, 9, 1, {to_next: 2, around: []})], ', below 9 u 2 to next 1'],
		[[own(10, 9, 1, {to_next: 2, around: [{rank: 9, member: 'u', score: 1, name: 'Uma'}]})], ', below 9 Uma 2 to next 1'],
		[[own(10, 9, 1)], ', below 9 u 1'],
		// On its way into the list.
		[[own(21, 2, 25, {to_next: 5})], ', below 2 u 5 to next 25'],
		// The member was in the list, and has left it.
		[[own(19, 3, 19, {to_next: 1})], ', below … u 19'],
		[[own(19, 2, 20, {to_next: 0})], ', below … u 20'],
		// Level with the last shown, on a board where they share the rank.
		[[own(19, 3, 20, {to_next: 0})], ', below 3 u level with the next 20'],
	]) {
		board.setAttribute('board', 'x');
		board.setAttribute('board', 'b');
		await becomes(() => text() + sockets.at(-1).sent.at(-1).board, 'b');
		say(list(20, members), ...me);
		await becomes(text, shown + want);
	}
	// The entry in the list counts, whatever the frame of the own place says.
	for (const me of [own(19, null, null), own(21, 9, 1)]) {
		say(
			list(20, [
				['a', 30],
				['u', 20],
				['c', 20],
			]),
			me,
		);
		await becomes(text, '1 a 30, me 2 u 10 to next 20, 3 c 20');
	}
	say(
		list(20, [
			['u', 30],
			['a', 20],
		]),
	);
	await becomes(text, 'me 1 u 30, 2 a 20');
	// The unit is said once in a row, beside the score.
	board.setAttribute('unit', 'hearts');
	say(
		list(21, [
			['a', 30],
			['u', 20],
		]),
	);
	await becomes(text, '1 a 30 hearts, me 2 u 10 to next 20 hearts');
});

// With around, neighbours stand beside the followed member, and nobody twice.
test('ElementShowsNeighbours', async () => {
	await openBoard({me: 'u', top: 3, around: 2, format: 'time_ms'});
	const neighbours = {
		to_next: 500,
		around: [
			['c', 3],
			['d', 4],
			['u', 5],
			['e', 6],
			['f', 7],
		].map(([member, rank]) => ({member, rank, score: rank * 1000})),
	};
	await becomes(
		() => JSON.stringify(sockets.at(-1).sent.at(-1)),
		'{"type":"subscribe","board":"b","top":3,"me":"u","around":2,"info":true,"id":1}',
	);
	say(
		list(20, [
			['a', 1000],
			['b', 2000],
			['c', 3000],
		]),
		own(20, 5, 5000, neighbours),
	);
	await becomes(
		text,
		'1 a 0:01.000, 2 b 0:02.000, 3 c 0:03.000, below 4 d 0:04.000, below 5 u 0.500 to next 0:05.000, below 6 e 0:06.000, below 7 f 0:07.000',
	);
	await becomes(() => [...root.querySelectorAll('[aria-current]')].map(row => row.dataset.member).join(), 'u');
	// Its own place may be newer than what is known of those beside it, and they are in order.
	say(own(21, 8, 7500));
	await becomes(
		text,
		'1 a 0:01.000, 2 b 0:02.000, 3 c 0:03.000, below 4 d 0:04.000, below 6 e 0:06.000, below 7 f 0:07.000, below 8 u 0:07.500',
	);
	// None are shown where none are wanted.
	board.setAttribute('around', '0');
	await becomes(text, '1 a 0:01.000, 2 b 0:02.000, 3 c 0:03.000, below 8 u 0:07.500');
});

// The element keeps a value that is unknown for a moment, so that nothing flickers.
test('ElementKeepsWhatFollows', async () => {
	await openBoard({me: 'u', top: 1, around: 1});
	const neighbours = {
		to_next: 5,
		around: [
			{rank: 4, member: 'd', score: 10},
			{rank: 5, member: 'u', score: 5, name: 'Uma'},
			{rank: 6, member: 'e', score: 4},
		],
	};
	say(list(1, [['a', 50]]), own(1, 5, 5, neighbours));
	await becomes(text, '1 a 50, below 4 d 10, below 5 Uma 5 to next 5, below 6 e 4');
	say(own(2, 6, 5));
	await becomes(text, '1 a 50, below 4 d 10, below 6 Uma 5 to next 5, below 6 e 4');
	say(own(3, 5, 6));
	await becomes(text, '1 a 50, below 4 d 10, below 5 Uma 6, below 6 e 4'); // what it lacks is another now
	say(own(4, null, null));
	await becomes(text, '1 a 50, below u has no score yet');
	say(own(5, 9, 1));
	await becomes(text, '1 a 50, below 9 u 1');
});

// However fast a board changes, the element renders once in a frame.
test('ElementRendersOnceAFrame', async () => {
	await openBoard({top: 200});
	var entries = Array.from({length: 200}, (_, i) => ['m' + i, 1000 - i]),
		seq = 1,
		renders = 0,
		frames = 0;
	board.addEventListener('update', () => renders++);
	say(list(seq, entries));
	await becomes(() => root.querySelectorAll('[data-member]').length, 200);
	var changes = 0,
		done = 0,
		count = () => {
			frames++;
			requestAnimationFrame(count);
		};
	renders = 0;
	requestAnimationFrame(count);
	var burst = () => {
		for (let i = 0; i < 20; i++, changes++) {
			const from = Math.floor(Math.random() * 200),
				[moved] = entries.splice(from, 1);
			entries.splice(Math.floor(Math.random() * 200), 0, moved);
			entries.forEach((entry, place) => (entry[1] = 1000 - place));
			sockets.at(-1).say(list(++seq, entries));
		}
		if (changes < 400) setTimeout(burst);
		else done = 1;
	};
	burst();
	await becomes(
		() =>
			String(
				done &&
					text() ===
						entries.map(([member, score], i) => i + 1 + ' ' + member + ' ' + score.toLocaleString('en')).join(', '),
			),
		'true',
	);
	await becomes(() => renders > 0 && renders <= frames + 1, true);
	await becomes(() => text() && String([...root.querySelectorAll('[data-member]')].length), '200');
});

// With a pace, the element renders once for all changes within it.
test('ElementRendersOnceAPace', async () => {
	stopClock();
	await openBoard({top: 3, pace: 1000});
	let renders = 0;
	board.addEventListener('update', () => renders++);
	say(
		list(1, [
			['a', 3],
			['b', 2],
		]),
	);
	await becomes(text, '1 a 3, 2 b 2');
	renders = 0;
	sockets.at(-1).say(
		list(2, [
			['b', 5],
			['a', 3],
		]),
	);
	await becomes(() => (timers.size > 1 ? text() : ''), '1 a 3, 2 b 2');
	sockets.at(-1).say(
		list(3, [
			['b', 6],
			['a', 3],
		]),
	);
	pass(1000);
	await becomes(text, '1 b 6, 2 a 3');
	await becomes(() => renders, 1);
	// The pace holds scores back, and not the state of the connection.
	sockets.at(-1).lose();
	await becomes(() => board.dataset.state, 'away');
});

// An element without a board says so until it gets one.
test('ElementWithoutABoard', async () => {
	const missing = 'board is missing: <live-leaderboard board="stars">';
	const note = () => [board.dataset.state, root.querySelector('[part=note]').textContent].join(': ');
	document.body.textContent = '';
	import('/kit/rankcast.js').then(() => {
		board = document.createElement('live-leaderboard');
		board.setAttribute('server', 'http://stand-in');
		root = board.shadowRoot;
		document.body.append(board);
	});
	await becomes(() => typeof board, 'object');
	await becomes(note, 'stopped: ' + missing);
	board.setAttribute('top', '3');
	await page.drawn();
	await becomes(note, 'stopped: ' + missing);
	await becomes(() => sockets.length, 0);
	// The element names a board that does not exist.
	board.setAttribute('board', 'ponits{n}');
	await becomes(() => asked(sockets.at(-1)), '3 - 0 anew');
	sockets
		.at(-1)
		.say({type: 'error', id: sockets.at(-1).sent.at(-1).id, code: 'unknown_board', message: 'board: there is no board'});
	await becomes(note, 'stopped: There is no board “ponits{n}”.');
	board.setAttribute('board', 'b');
	await becomes(() => asked(sockets.at(-1)), '3 - 0 anew');
	await becomes(note, 'connecting: ');
	say(list(1, [['a', 3]]));
	await becomes(text, '1 a 3');
	await becomes(note, 'live: ');
	board.removeAttribute('board');
	await becomes(note, 'stopped: ' + missing);
	await becomes(text, '');
	// The element says nothing if a script sets the board in time.
	board.remove();
	board = document.createElement('live-leaderboard');
	board.setAttribute('server', 'http://stand-in');
	root = board.shadowRoot;
	document.body.append(board);
	board.setAttribute('board', 'c');
	await becomes(note, 'connecting: ');
	board.setAttribute('board', '');
	await becomes(() => sockets.at(-1).sent.at(-1).type, 'unsubscribe');
	await page.drawn();
	await becomes(note, 'connecting: ');
});

// The element has the title and the display of its board. What an attribute says counts instead, each for itself.
test('ElementTakesDisplayAndTitle', async () => {
	await openBoard({top: 3});
	document.documentElement.lang = 'en';
	const head = () => root.querySelector('[part=title]').textContent;
	const label = () => root.querySelector('[part=list]').ariaLabel;
	const info = {
		title: {en: 'Laps', zh: '圈速'},
		kind: 'player',
		display: {unit: {en: 'points', zh: '分'}, decimals: 2},
		period: null,
	};
	say(list(1, [['a', 12345]], {info}));
	await becomes(text, '1 a 123.45 points');
	equal(head() + ', ' + label(), 'Laps, Top 3 of Laps');
	for (const [name, value, want] of [
		['unit', 'pts', '1 a 123.45 pts'],
		['decimals', '1', '1 a 1,234.5 pts'],
		['unit', '', '1 a 1,234.5'],
		['decimals', 'x', '1 a 123.45'],
		['format', 'time_ms', '1 a 0:12.345'],
	]) {
		board.setAttribute(name, value);
		await becomes(text, want);
	}
	for (const name of ['unit', 'decimals', 'format']) board.removeAttribute(name);
	await becomes(text, '1 a 123.45 points');
	for (const [heading, want] of [
		['Round 2', 'Round 2'],
		['', ''],
	]) {
		board.setAttribute('heading', heading);
		await becomes(head, want);
		equal(label(), 'Top 3 of Laps');
	}
	board.removeAttribute('heading');
	await becomes(head, 'Laps');
	// Another board has its own, or none.
	board.setAttribute('board', 'x');
	board.setAttribute('board', 'b');
	await becomes(() => text() + sockets.at(-1).sent.at(-1).board, 'b');
	say(list(1, [['a', 12345]], {info: {kind: 'player', period: null}}));
	await becomes(text, '1 a 12,345');
	equal(head() + ', ' + label(), ', Top 3 of b');
});
