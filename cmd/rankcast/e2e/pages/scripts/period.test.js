// A page that has nothing but a board, and what there is of it: its head, its rows, and what is said and how often.
let said = [],
	ticks = 0;
const part = name => root.querySelector('[part=' + name + ']');
const head = () =>
	['period-name', 'ends', 'state', 'total']
		.map(name => part(name).textContent)
		.filter(text => text)
		.join(' | ');
const list = () =>
	[...root.querySelectorAll('[data-member]:not([data-below])')].map(row => row.dataset.member).join(' ') ||
	part('note').textContent;
const period = (name, ends, members, more) => ({
	...snapshot(5, members, 'e' + name),
	period: name,
	ends,
	total: members.length,
	...more,
});
const subscribe = () => sockets.at(-1)?.sent.findLast(({type}) => type === 'subscribe');
const say = (...frames) => sockets.at(-1).say({type: 'ok', id: subscribe().id}, ...frames);
const openPeriods = async () => {
	answerPings();
	stopClock();
	await make({me: 'bob'});
	const watch = (part, change) =>
		new MutationObserver(change).observe(root.querySelector(part), {childList: true, characterData: true, subtree: true});
	watch('[part=announcer]', () => said.push(root.querySelector('[part=announcer]').textContent));
	watch('[part=ends]', changes => (ticks += changes.length));
	await becomes(() => subscribe()?.board, 'b');
};
const heads = want => becomes(head, want);
const lists = want => becomes(list, want);

// A page shows when its period ends, then the result, and then the next period. A screen reader hears the result once.
test('PageTurnsOver', async () => {
	await openPeriods();
	say(period('2026-W47', '2026-11-22T16:00:00.000Z', 'xyz'));
	await heads('2026-W47 | ends in 2 d 4 h | Live | 3 members');
	await lists('x y z');
	// The text about the end changes only when its words change.
	ticks = 0;
	pass(2 * 3600e3 - 1);
	await heads('2026-W47 | ends in 2 d 2 h | Live | 3 members');
	await becomes(() => ticks, 2);
	pass(49 * 3600e3);
	await heads('2026-W47 | ends in 1 h | Live | 3 members');
	ticks = 0;
	pass(1001);
	await heads('2026-W47 | ends in 59:59 | Live | 3 members');
	await becomes(() => ticks, 1);
	ticks = 0;
	pass(10e3);
	await heads('2026-W47 | ends in 59:49 | Live | 3 members');
	await becomes(() => ticks, 10);
	// A hidden page pauses and changes nothing. When it is visible again, it is right at once.
	var visibility = 'hidden';
	Object.defineProperty(document, 'hidden', {get: () => visibility === 'hidden'});
	document.dispatchEvent(new Event('visibilitychange'));
	ticks = 0;
	pass(60e3);
	await heads('2026-W47 | ends in 58:49 | Paused | 3 members');
	await becomes(() => ticks, 1);
	visibility = 'visible';
	document.dispatchEvent(new Event('visibilitychange'));
	say({...delta(5, 5, 0, '', 3), total: 3});
	await heads('2026-W47 | ends in 58:49 | Live | 3 members');
	pass(3528e3);
	await heads('2026-W47 | ends in 0:01 | Live | 3 members');
	pass(1e3);
	await heads('2026-W47 | ends now | Live | 3 members');
	await page.drawn();
	await becomes(() => said.join(), '');
	// The final list comes, and then the next period.
	say(me(5, 4));
	sockets.at(-1).say(period('2026-W47', '2026-11-22T16:00:00.000Z', 'yx', {final: true}));
	await becomes(() => head().replace(/ended [^|]+/, 'ended … '), '2026-W47 | ended … | Final | 2 members');
	await becomes(() => /^Nov 2[23], 2026, \d+:\d\d.[AP]M /.test(part('ends').title), true);
	await lists('y x');
	await becomes(() => board.hasAttribute('data-final'), true);
	var row = root.querySelector('[data-member=y]');
	sockets.at(-1).say(period('2026-W48', '2026-11-29T16:00:00.000Z', ''));
	await heads('2026-W48 | ends in 7 d | Live | 0 members');
	await lists('2026-W47 is over: y was first with 100. No scores yet');
	await becomes(() => board.hasAttribute('data-final'), false);
	await becomes(page.own, '');
	pass(0);
	await becomes(() => said.join(), '2026-W47 is over: y was first with 100. 2026-W48 has begun.');
	sockets
		.at(-1)
		.say({type: 'me', board: 'b', seq: 0, rank: null, score: null, total: 0}, delta(5, 6, 0, 'y', 1), delta(6, 7, 1, 'z', 2));
	await lists('y z');
	await becomes(page.own, 'below: bob has no score yet');
	pass(120e3);
	await page.drawn();
	await becomes(() => said.length, 1);
	sockets.at(-1).say(delta(7, 8, 0, 'z', 1));
	await lists('z');
	pass(0);
	await becomes(() => said.at(-1), 'z leads with 1.');
	await becomes(() => said.length, 2);
	// A period ends while the connection is lost: afterwards the page knows the new period alone.
	sockets.at(-1).lose();
	pass(1e3);
	await becomes(() => subscribe()?.board, 'b');
	say(period('2026-W49', null, 'ab'));
	await heads('2026-W49 | Live | 2 members');
	await lists('a b');
	pass(20e3);
	await becomes(() => said.at(-1), '2026-W49 has begun.');
	// Off the page: nothing goes on.
	sockets.at(-1).say(period('2026-W50', '2027-01-01T00:00:00Z', 'ab'));
	await heads('2026-W50 | ends in 39 d 7 h | Live | 2 members');
	board.remove();
	ticks = 0;
	pass(9 * 3600e3);
	await page.drawn();
	await becomes(() => ticks, 0);
});

// The end of a period changes the text of the head, and moves no row: the head has as many lines as before, however narrow it is.
test('EndOfAPeriodMovesNothing', async () => {
	await openPeriods();
	say();
	const place = name => part(name).getBoundingClientRect();
	const top = () => place('list').top - board.getBoundingClientRect().top;
	// Midnight, where the viewer is: the last day of the period is the one before.
	const ends = new Date(2026, 10, 23).toISOString(),
		date = 'Nov 22, 2026';
	for (const width of [200, 250, 300, 350, 400]) {
		board.style.width = width + 'px';
		for (const name of ['2026-W47', '2026-11-22', '28648507']) {
			const list = more => period(name, ends, 'xyz', more);
			sockets.at(-1).say(list());
			await becomes(() => head().replace(/ends [^|]+/, 'ends … '), name + ' | ends … | Live | 3 members');
			const before = top();
			sockets.at(-1).say(list({final: true}));
			await heads(name + ' | ended ' + date + ' | Final | 3 members');
			await becomes(() => [width, name, top()].join(), [width, name, before].join());
			await becomes(() => place('ends').right < place('header').right, true);
			if (width >= 300) await becomes(() => part('ends').scrollWidth - part('ends').clientWidth, 0);
		}
	}
});

// A period is named by its days, or by its beginning, where its board is. Its result says when it ended too.
test('PageNamesPeriods', async () => {
	const {periodText} = await import('/kit/rankcast.js');
	const span = (every, opens, ends, isOver) =>
		periodText({every, timezone: 'Asia/Shanghai', opens, ends, isOver}).replace(/\s/g, ' ');
	const today = new Date(Date.now() - 60_000).toISOString().slice(0, 17);
	for (const [got, want] of [
		[span('week', '2020-11-22T16:00:00Z', '2020-11-29T16:00:00Z'), 'Nov 23 – 29, 2020'],
		[span('week', '2020-11-29T21:00:00Z', '2020-12-06T21:00:00Z'), 'Nov 30 – Dec 6, 2020'],
		[span('day', '2020-11-28T16:00:00Z', '2020-11-29T16:00:00Z'), 'Nov 29, 2020'],
		[span('month', '2020-10-31T16:00:00Z', '2020-11-30T16:00:00Z'), 'November 2020'],
		[span('year', '2019-12-31T16:00:00Z', '2020-12-31T16:00:00Z'), '2020'],
		[span('hour', '2020-11-29T15:00:00Z', '2020-11-29T16:00:00Z'), 'Nov 29, 2020, 11:00 PM'],
		[span('40s', '2020-11-29T15:00:40Z', '2020-11-29T15:01:20Z'), 'Nov 29, 2020, 11:00:40 PM'],
		[span('2m', '2020-11-29T15:58:00Z', '2020-11-29T16:00:00Z', true), 'Nov 29, 2020, 11:58 PM – Nov 30, 2020, 12:00 AM'],
		[span('day', '2020-11-28T16:00:00Z', '2020-11-29T15:00:00Z', true), 'Nov 29, 2020'],
		[span('20s', today + '00Z', today + '20Z').replace(/^[\d:]+ [AP]M$/, 'time'), 'time'],
		[span('week', null, '2020-11-29T16:00:00Z'), ''],
		[periodText(null), ''],
	])
		await becomes(() => got, want);
	await openPeriods();
	const about = {name: '2020-W48', every: 'week', timezone: 'Asia/Shanghai', opens: '2020-11-22T16:00:00Z', ends: '2020-11-29T16:00:00Z'};
	say(period('2020-W48', about.ends, 'xy', {info: {kind: 'member', period: about}}));
	await heads('Nov 23 – 29, 2020 | ends now | Live | 2 members');
	await becomes(() => part('period-name').title, '2020-W48');
});

// The page counts by the clock that the server told last, and by its own if the server told none.
test('PageHearsTheClock', async () => {
	await openPeriods();
	say(period('1', '2026-11-20T15:00:00.000Z', 'xy'));
	await heads('1 | ends in 3 h | Live | 2 members');
	// The connection was away, and the server knows better.
	sockets.at(-1).lose();
	pass(1e3);
	await becomes(() => sockets.length, 2);
	await becomes(() => subscribe()?.board, 'b');
	sockets
		.at(-1)
		.say({type: 'ok', id: subscribe().id, now: '2026-11-20T14:58:59.000Z'}, period('1', '2026-11-20T15:00:00.000Z', 'xy'));
	await heads('1 | ends in 1:01 | Live | 2 members');
	pass(1e3);
	await heads('1 | ends in 1:00 | Live | 2 members');
	sockets.at(-1).say({type: 'pong', id: 0, now: '2026-11-20T14:59:30.000Z'});
	pass(1e3);
	await heads('1 | ends in 0:29 | Live | 2 members');
	sockets.at(-1).say({type: 'pong', id: 0, now: 'soon'});
	pass(1e3);
	await heads('1 | ends in 0:28 | Live | 2 members');
});

test('PageKnowsNames', async () => {
	const names = await import('/assets/shared/board-name.js');
	const all = ['stars', 'fans:{star}', 'hot:{genre}:{device}', 'hot'].map(board => ({board}));
	for (const [board, want] of Object.entries({'hot:{genre}:{device_2}': 'genre,device_2', 'fans:s17': ''})) {
		equal(names.placeholders(board).join(), want);
	}
	equal(names.instance('hot:{genre}:{device}', ['moba', 'x']), 'hot:moba:x');
	for (const [board, want] of Object.entries({
		stars: 'stars',
		'stars@2026-W46': 'stars',
		'fans:s17@-1': 'fans:{star}',
		'hot:a:b': 'hot:{genre}:{device}',
		'hot@2026-11-20T06:30Z': 'hot',
		'fans:{star}': 'fans:{star}',
	})) {
		equal(names.findDefinition(all, board)?.board, want);
	}
	for (const board of ['fans', 'stars:x']) equal(names.findDefinition(all, board), undefined);
	for (const [part, want] of Object.entries({
		'': 'part_missing',
		'a:b': 'part_signs',
		'a\x85': 'part_control',
		['é'.repeat(32)]: '',
		['é'.repeat(32) + 'x']: 'part_long',
	})) {
		equal(names.partProblem(part), want);
	}
});

// The text of the time left is as exact as its room allows, and changes when it no longer holds.
test('PageCountsDown', async () => {
	const {timeLeft} = await import('/kit/format.js');
	const second = 1e3,
		minute = 60e3,
		hour = 3600e3,
		day = 86400e3;
	for (const [ms, want, changesIn] of [
		[0, '', null],
		[-5, '', null],
		[1, '0:01', 1],
		[second, '0:01', 1000],
		[second + 1, '0:02', 1],
		[61 * second - 400, '1:01', 600],
		[59 * minute + 59 * second, '59:59', 1000],
		[hour - 1, '1 h', 999],
		[hour, '1 h', 1000],
		[hour + 1, '1 h', 1001],
		[2 * hour - second, '1 h 59 min', 60000],
		[23 * hour + 5 * minute, '23 h 5 min', 1000],
		[day - second, '23 h 59 min', 60000],
		[day, '1 d', 1000],
		[2 * day - second, '1 d 23 h', 3600000],
		[40 * day + 5 * hour + 1, '40 d 5 h', 1001],
	])
		equal(JSON.stringify(timeLeft(ms)), JSON.stringify({text: want, changesIn}));
	// As often as it says, and no more often, it is another text.
	for (let ms = 90 * day; ms > 0;) {
		const {text, changesIn} = timeLeft(ms);
		equal(
			changesIn >= 1 &&
				timeLeft(ms - changesIn).text !== text &&
				(changesIn <= 1 || timeLeft(ms - changesIn + 1).text === text),
			true,
			ms + ' ' + text,
		);
		ms -= changesIn;
	}
});
