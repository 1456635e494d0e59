// A frozen board on the element, and what is revealed there.

var frozen = {since: '2026-11-20T11:50:00Z', reveals: 'host'};
var before = [
	['a', 140],
	['b', 120],
	['c', 110],
	['d', 90],
	['e', 80],
];
var now5 = [
	['a', 140],
	['e', 130],
	['b', 120],
	['c', 110],
	['d', 90],
];
var state = () => root.querySelector('[part=state]').textContent.replace(/\s/g, ' ');
var said = () => root.querySelector('[part=announcer]').textContent;
var banner = () => {
	const shown = root.querySelector('[part=reveal]');
	return shown.checkVisibility() ? shown.textContent.replace(/\s+/g, ' ').trim() : '';
};
var lit = () => [...root.querySelectorAll('[data-revealed]')].map(row => row.dataset.member + row.dataset.revealed).join();
var scene = () => text() + ' | ' + lit() + ' | ' + banner();
var result = () => (board.hasAttribute('data-finish') ? root.querySelector('[part=result]').textContent : '');

// openFrozen makes an element that shows the frozen list, with what shows reveals.
var openFrozen = async attributes => {
	answerPings();
	await openBoard({top: 5, ...attributes});
	say(list(1, before, {frozen}));
	await becomes(text, '1 a 140, 2 b 120, 3 c 110, 4 d 90, 5 e 80');
	await becomes(() => root.querySelector('[part=reveal]') !== null, true);
};

// The element says since when a board stands still, as soon as it does and for as long.
test('ElementShowsTheFreeze', async () => {
	await openBoard({top: 5});
	var events = [];
	board.addEventListener('freeze', ({detail}) => events.push(detail.frozen?.reveals ?? 'over'));
	say(list(1, before));
	await becomes(state, 'Live');
	const since = new Date(Date.now() - 60_000);
	sockets.at(-1).say({type: 'board', board: 'b', frozen: {since: since.toISOString(), reveals: 'auto'}});
	const time = new Intl.DateTimeFormat('en', {timeStyle: 'short'}).format(since).replace(/\s/g, ' ');
	if (since.getDate() === new Date().getDate()) await becomes(state, `Standings are frozen since ${time}`);
	else await becomes(() => state().startsWith('Standings are frozen since'), true);
	await becomes(() => board.hasAttribute('data-frozen'), true);
	await becomes(said, root.querySelector('[part=state]').textContent);
	await becomes(() => events.join(), 'auto');
	// A list of later is not frozen by itself: a change is.
	sockets.at(-1).say({type: 'delta', board: 'b', from: 1, seq: 2, total: 9, len: 5, rows: [[4, {rank: 5, member: 'e', score: 81}]]});
	await becomes(() => board.hasAttribute('data-frozen'), true);
	sockets.at(-1).say({type: 'board', board: 'b', frozen: null});
	await becomes(state, 'Live');
	await becomes(() => board.hasAttribute('data-frozen'), false);
	await becomes(() => events.join(), 'auto,over');
	// The standings of a closed period that is not settled are not final, and nothing is counted down.
	say(list(3, before, {frozen, ends: '2026-11-20T12:00:00Z'}));
	await becomes(() => root.querySelector('[part=ends]').textContent, 'ended Nov 20, 2026');
});

// The member that is revealed stands out, shows its old and its new score, and passes one place after the other.
test('ElementRevealsPlaceByPlace', async () => {
	stopClock();
	await openFrozen();
	await becomes(lit, '');
	var reveals = [];
	board.addEventListener('reveal', ({detail: {entry, before}}) => reveals.push(`${entry.member} ${before?.score} ${entry.score}`));
	say(list(2, now5, {frozen}));
	await becomes(scene, '1 a 140, 2 b 120, 3 c 110, 4 d 90, 5 e 80 | e | e 80 5');
	await becomes(() => reveals.join(), '');
	pass(1200);
	await becomes(scene, '1 a 140, 2 b 120, 3 c 110, 4 d 90, 5 e 80 → 130 130 | e | e 80 → 130 5');
	await becomes(() => reveals.join(), 'e 80 130');
	pass(1100);
	await becomes(scene, '1 a 140, 2 b 120, 3 c 110, 4 e 80 → 130 130, 5 d 90 | e | e 80 → 130 5');
	pass(520);
	await becomes(scene, '1 a 140, 2 b 120, 3 e 80 → 130 130, 4 c 110, 5 d 90 | e | e 80 → 130 5');
	await becomes(() => said().includes('130'), false);
	pass(849);
	await page.drawn();
	await becomes(scene, '1 a 140, 2 b 120, 3 e 80 → 130 130, 4 c 110, 5 d 90 | e | e 80 → 130 5');
	pass(1);
	await becomes(scene, '1 a 140, 2 e 80 → 130 130, 3 b 120, 4 c 110, 5 d 90 | ethere | e 80 → 130 5 → 2');
	await becomes(said, 'e had 80 and has 130: from No. 5 to No. 2.');
	pass(6000);
	await becomes(scene, '1 a 140, 2 e 130, 3 b 120, 4 c 110, 5 d 90 |  | ');
	// A member that the list did not have has only a new score.
	say(
		list(
			3,
			[
				['a', 140],
				['e', 130],
				['b', 120],
				['z', 115],
				['c', 110],
			],
			{frozen, total: 10},
		),
	);
	await becomes(scene, '1 a 140, 2 e 130, 3 b 120, 4 c 110, 5 z | z | z new');
	pass(1200);
	await becomes(scene, '1 a 140, 2 e 130, 3 b 120, 4 c 110, 5 z 115 | z | z 115 new');
	await becomes(() => reveals.join(), 'e 80 130,z undefined 115');
	pass(1100);
	await becomes(scene, '1 a 140, 2 e 130, 3 b 120, 4 z 115, 5 c 110 | zthere | z 115 new → 4');
	await becomes(said, 'z has 115: No. 4.');
});

// The next reveal waits until the one before was seen, also the last one, which comes just after the end of the freeze. Too many do
// not wait, and several at once are no step.
test('ElementKeepsUpWithReveals', async () => {
	stopClock();
	await openFrozen();
	const third = [['c', 150], ['a', 140], ['e', 130], ['b', 120], ['d', 90]];
	const fourth = [['c', 150], ['d', 145], ['a', 140], ['e', 130], ['b', 120]];
	say(list(2, now5, {frozen}));
	await becomes(lit, 'e');
	say(list(3, third, {frozen}));
	for (const ms of [1200, 1100, 520, 850]) {
		await tick();
		pass(ms);
	}
	await becomes(lit, 'ethere');
	pass(1199);
	await page.drawn();
	await becomes(scene, '1 a 140, 2 e 80 → 130 130, 3 b 120, 4 c 110, 5 d 90 | ethere | e 80 → 130 5 → 2');
	pass(1);
	await becomes(scene, '1 a 140, 2 e 130, 3 b 120, 4 c 110, 5 d 90 | c | c 110 4');
	sockets.at(-1).say({type: 'board', board: 'b', frozen: null});
	say(list(4, fourth));
	for (const ms of [1200, 1100, 850, 850, 1200]) {
		await tick();
		pass(ms);
	}
	await becomes(scene, '1 c 150, 2 a 140, 3 e 130, 4 b 120, 5 d 90 | d | d 90 5');
	board.remove();
	document.body.append(board);
	await becomes(scene, '1 c 150, 2 d 145, 3 a 140, 4 e 130, 5 b 120 |  | ');
	say(list(5, before, {frozen}));
	for (const score of [81, 82, 83, 84, 85]) say(list(score, [...before.slice(0, 4), ['e', score]], {frozen}));
	await becomes(banner, 'e 84 5');
	say(
		list(
			100,
			[
				['d', 170],
				['b', 160],
				['c', 150],
				['a', 140],
				['e', 130],
			],
			{frozen},
		),
	);
	await becomes(scene, '1 d 170, 2 b 160, 3 c 150, 4 a 140, 5 e 130 |  | ');
	// Who is hidden leaves, and who follows was not revealed.
	say(
		list(
			101,
			[
				['d', 170],
				['c', 150],
				['a', 140],
				['e', 130],
				['y', 10],
			],
			{frozen, total: 8},
		),
	);
	await becomes(scene, '1 d 170, 2 c 150, 3 a 140, 4 e 130, 5 y 10 |  | ');
	// An element that leaves the page comes back with what it was about to show.
	say(list(102, [['y', 200], ...[['d', 170], ['c', 150], ['a', 140], ['e', 130]]], {frozen, total: 8}));
	await becomes(lit, 'y');
	board.remove();
	document.body.append(board);
	await becomes(scene, '1 y 200, 2 d 170, 3 c 150, 4 a 140, 5 e 130 |  | ');
});

// Once all is revealed, the winner is named.
test('ElementNamesTheWinner', async () => {
	stopClock();
	await openFrozen();
	var finished = [];
	board.addEventListener('finish', ({detail: {ends, top}}) => finished.push(ends + top[0].member));
	const last = [['e', 150], ...before.slice(0, 4)];
	say(list(2, last, {frozen}));
	await becomes(lit, 'e');
	// The freeze is over, and the result final, before the step is.
	sockets.at(-1).say({type: 'board', board: 'b', frozen: null});
	say(list(3, last, {final: true}));
	for (const ms of [1200, 1100, 520, 850, 850]) {
		await becomes(() => board.hasAttribute('data-frozen'), true);
		await becomes(() => text().match(/\be\b/g).length, 1);
		pass(ms);
		await tick();
	}
	await becomes(scene, '1 e 80 → 150 150, 2 a 140, 3 b 120, 4 c 110, 5 d 90 | ethere | e 80 → 150 5 → 1');
	await becomes(state, 'Final');
	await becomes(result, '');
	pass(2800);
	await becomes(result, 'e wins with 150');
	await becomes(said, 'e wins with 150');
	await becomes(() => finished.join(), 'nulle');
	await becomes(() => root.querySelectorAll('[part=podium] > [part~=step]').length, 3);
	await becomes(text, '1 e 150, 2 a 140, 3 b 120, 4 c 110, 5 d 90');
	pass(15_000);
	await becomes(result, '');
	// What changes later is no reveal.
	say(list(4, [['a', 160], ['e', 150], ...before.slice(1, 4)]));
	await becomes(scene, '1 a 160, 2 e 150, 3 b 120, 4 c 110, 5 d 90 |  | ');
});

// The freeze may be over before the last change comes, also of a board that goes on; and all may be revealed at once.
test('ElementKnowsTheLastReveal', async () => {
	stopClock();
	await openFrozen();
	const ends = '2999-01-01T00:00:00Z';
	say(list(1, before, {frozen, ends}));
	sockets.at(-1).say({type: 'board', board: 'b', frozen: null});
	pass(499);
	say(list(2, now5, {ends}));
	await becomes(lit, 'e');
	for (const ms of [1200, 1100, 520, 850]) {
		await becomes(() => board.hasAttribute('data-frozen'), true);
		pass(ms);
		await tick();
	}
	await becomes(lit, 'ethere');
	pass(2800);
	await becomes(result, 'a leads with 140.');
	pass(15_000);
	await becomes(result, '');
	const past = '2026-11-20T11:00:00Z';
	say(list(3, now5, {frozen, ends: past}));
	await becomes(() => board.hasAttribute('data-frozen'), true);
	say(list(4, [['b', 150], ['d', 150, 1], ['a', 140], ['e', 130], ['c', 110]], {ends: past}));
	await becomes(scene, '1 b 150, 1 d 150, 3 a 140, 4 e 130, 5 c 110 |  | ');
	pass(2800);
	await becomes(result, 'All is revealed');
	pass(15_000);
	// A mistaken freeze ends, and nothing has changed.
	say(list(5, before, {frozen}));
	await becomes(() => board.hasAttribute('data-frozen'), true);
	sockets.at(-1).say({type: 'board', board: 'b', frozen: null});
	pass(500);
	await becomes(state, 'Live');
	pass(2800);
	await page.drawn();
	await becomes(result, '');
});

// Where nothing moves, the place of the member is there at once, and it stands out all the same.
test('CalmElementReveals', async () => {
	stopClock();
	await openFrozen({calm: ''});
	say(list(2, now5, {frozen}));
	await becomes(scene, '1 a 140, 2 e 80 → 130 130, 3 b 120, 4 c 110, 5 d 90 | ethere | e 80 → 130 5 → 2');
	await becomes(said, 'e had 80 and has 130: from No. 5 to No. 2.');
	await becomes(() => root.getAnimations?.().length ?? document.getAnimations().length, 0);
});
