// Rows that change: their moves, their gains, and their order in the document.

// A row shows for ten seconds the change of its rank and the gain of its score. Its text is right at once.
test('RowsShowWhatHasChanged', async () => {
	stopClock();
	await openBoard({me: 'c', top: 3});
	watchMarks();
	await tick();
	say(
		list(1, [
			['a', 1230],
			['b', 1000],
			['c', 900],
		]),
	);
	await becomes(text, '1 a 1,230, 2 b 1,000, me 3 c 100 to next 900');
	await becomes(() => moves() + ' | ' + gains(), 'a b c | a b c');
	say(
		list(2, [
			['c', 1235],
			['a', 1230],
			['b', 1000],
		]),
	);
	await becomes(text, 'me 1 c 1,235, 2 a 1,230, 3 b 1,000');
	await becomes(() => moves() + ' | ' + gains() + ' | ' + rolled, 'c▲2 a▼1 b▼1 | c+335 a b | 900>1,235');
	// A rising row passes over all others, also over the followed member.
	for (const animation of root.getAnimations()) animation.finish(); // each row is at its place
	await tick();
	pass(2000);
	say(
		list(3, [
			['a', 1240],
			['c', 1235],
			['b', 1000],
		]),
	);
	await becomes(() => moves(), 'a c▲1 b▼1');
	await becomes(
		() =>
			(z => (z('a') > z('c') ? 'over' : z('a') + ' ' + z('c')))(member =>
				Number(getComputedStyle(root.querySelector('[data-member=' + member + ']')).zIndex),
			),
		'over',
	);
	await becomes(() => gains() + ' | ' + rolled.split(' ')[0], 'a+10 c+335 b | 3>4');
	await becomes(() => rolls() + text(), '1 a 1,240, me 2 c 5 to next 1,235, 3 b 1,000');
	// The marks go ten seconds after the last change of each row.
	pass(7999);
	await page.drawn();
	await becomes(() => moves(), 'a c▲1 b▼1');
	pass(1);
	await becomes(() => moves(), 'a c▲1 b');
	pass(2000);
	await becomes(() => moves(), 'a c b');
	// A score that changes again within 100 ms is written without a gain.
	say(
		list(4, [
			['a', 1241],
			['c', 1235],
			['b', 1000],
		]),
	);
	await becomes(() => gains(), 'a+1 c+335 b');
	pass(100);
	say(
		list(5, [
			['a', 1242],
			['c', 1235],
			['b', 1000],
		]),
	);
	await becomes(() => text() + gains(), '1 a 1,242, me 2 c 7 to next 1,235, 3 b 1,000a c+335 b');
	// Another epoch means another store. Its list differs, but nobody has passed anybody or lost points.
	pass(10000);
	say(
		list(
			1,
			[
				['b', 40],
				['c', 30],
				['a', 20],
			],
			{epoch: 'other'},
		),
	);
	await becomes(text, '1 b 40, me 2 c 10 to next 30, 3 a 20');
	await becomes(() => moves() + ' | ' + gains() + rolls(), 'b c a | b c a');
	pass(2000);
	say(
		list(
			2,
			[
				['b', 41],
				['c', 30],
				['a', 20],
			],
			{epoch: 'other'},
		),
	);
	await becomes(() => gains(), 'b+1 c a');
	// In a burst of changes no score rolls, and each row has the right score.
	board.setAttribute('top', '40');
	await becomes(() => sockets.at(-1).sent.at(-1).top, 40);
	var many = (seq, from) =>
		say(
			list(
				seq,
				Array.from({length: 40}, (_, i) => ['m' + i, from - i]),
			),
		);
	many(6, 5000);
	await becomes(() => root.querySelectorAll('[data-member]').length, 40);
	pass(5000);
	many(7, 7000);
	await becomes(() => root.querySelector('[data-member=m39] [part=score]').textContent, '6,961');
	await becomes(() => rolled + root.querySelectorAll('[data-gain]').length, '0');
});

// A gain has the color of a rise if the change is good, and that of a fall if it is bad. On a board where less is better, a gain
// is bad.
test('GainsHaveTheColorOfWhatTheyMean', async () => {
	stopClock();
	await openBoard({top: 3});
	watchMarks();
	board.style.cssText = '--rankcast-accent: pink; --rankcast-up: rgb(1, 2, 3); --rankcast-down: rgb(4, 5, 6)';
	var look = field =>
		[...root.querySelectorAll('[data-' + field + ']')]
			.map(
				marked =>
					marked.dataset[field] +
					({'rgb(1, 2, 3)': ' good', 'rgb(4, 5, 6)': ' bad'}[getComputedStyle(marked, '::after').color] ?? ' neither'),
			)
			.join(', ');
	await tick();
	say(
		list(1, [
			['a', 30],
			['b', 20],
			['c', 10],
		]),
	);
	await becomes(text, '1 a 30, 2 b 20, 3 c 10');
	pass(2000);
	say(
		list(2, [
			['b', 28],
			['a', 25],
			['c', 10],
		]),
	);
	await becomes(() => look('gain'), '+8 good, -5 bad');
	await becomes(() => look('move'), '▲1 good, ▼1 bad');
	var laps = {epoch: 'laps', info: {kind: 'member', order: 'asc', period: null}};
	pass(20000);
	say(
		list(
			1,
			[
				['a', 80000],
				['b', 90000],
				['c', 95000],
			],
			laps,
		),
	);
	await becomes(text, '1 a 80,000, 2 b 90,000, 3 c 95,000');
	pass(2000);
	say(
		list(
			2,
			[
				['b', 70000],
				['a', 81000],
				['c', 95000],
			],
			{epoch: 'laps'},
		),
	);
	await becomes(() => look('gain'), '-20,000 good, +1,000 bad');
	await becomes(() => look('move'), '▲1 good, ▼1 bad');
	// The order of the list tells nothing where it has one member, or equal scores.
	pass(2000);
	say(list(3, [['b', 60000]], {epoch: 'laps'}));
	await becomes(() => look('gain'), '-10,000 good');
	pass(2000);
	say(list(4, [['b', 61000]], {epoch: 'laps'}));
	await becomes(() => look('gain'), '+1,000 bad');
	pass(20000);
	say(
		list(
			1,
			[
				['a', 7],
				['b', 9],
			],
			laps,
		),
	);
	await becomes(text, '1 a 7, 2 b 9');
	pass(2000);
	say(
		list(
			2,
			[
				['a', 7],
				['b', 7],
			],
			{epoch: 'laps'},
		),
	);
	await becomes(() => look('gain'), '-2 good');
});

// When one row passes others, or falls behind several, it alone moves in the document. The others keep their focus and their
// animations.
test('RowMovesAlone', async () => {
	await openBoard({top: 40});
	const show = members => {
		moved = [];
		say(
			list(
				++seq,
				members.map((member, i) => [member, 1000 - i]),
			),
		);
	};
	var seq = 0,
		moved = [],
		all = Array.from({length: 40}, (_, i) => 'm' + i);
	new MutationObserver(records =>
		moved.push(
			...records
				.flatMap(({addedNodes}) => [...addedNodes])
				.map(({dataset}) => dataset?.member)
				.filter(Boolean),
		),
	).observe(root.querySelector('[part=list]'), {childList: true});
	var shown = () => [...root.querySelectorAll('[data-member]')].map(row => row.dataset.member).join();
	show(all);
	await becomes(() => shown() === all.join(), true);
	show(all.with(4, 'm5').with(5, 'm4'));
	await becomes(() => shown().slice(0, 20) + ' ' + moved, 'm0,m1,m2,m3,m5,m4,m6 m5');
	show(all);
	await becomes(() => shown().slice(0, 20) + ' ' + moved, 'm0,m1,m2,m3,m4,m5,m6 m4');
	show(['m30', ...all.toSpliced(30, 1)]);
	await becomes(() => shown().slice(0, 9) + ' ' + moved, 'm30,m0,m1 m30');
	show(all);
	await becomes(() => String(shown() === all.join()) + ' ' + moved, 'true m30');
});
