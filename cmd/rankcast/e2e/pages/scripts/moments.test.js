// What the element tells its page: events, and moments in sentences.

// The element tells its page what changes on a board, and nothing about the first list.
test('ElementTellsWhatHappens', async () => {
	await openBoard({me: 'u', top: 3});
	const tells = want => becomes(() => told.splice(0).join(', '), want);
	const tellsNothing = async () => {
		await page.drawn();
		equal(told.join(', '), '', 'what was told');
	};
	const shows = want => becomes(text, want);
	say(
		list(1, [
			['a', 30],
			['b', 20],
			['c', 10],
		]),
		own(1, 9, 2),
	);
	await shows('1 a 30, 2 b 20, 3 c 10, below 9 u 2');
	await tellsNothing();
	say(
		list(2, [
			['a', 30],
			['b', 20],
			['c', 10],
		]),
		own(2, 7, 4),
	);
	await shows('1 a 30, 2 b 20, 3 c 10, below 7 u 4');
	await tells('rank-up u 9 7');
	say(
		own(3, 8, 4, {
			around: [
				{rank: 7, member: 'x', score: 5},
				{rank: 8, member: 'u', score: 4},
			],
		}),
	);
	await shows('1 a 30, 2 b 20, 3 c 10, below 8 u 4');
	await tells('overtaken u 7 8 x');
	say(
		list(4, [
			['b', 40],
			['a', 30],
			['u', 12],
		]),
		own(4, 3, 12),
	);
	await shows('1 b 40, 2 a 30, me 3 u 18 to next 12');
	await tells('enter-top u, new-leader b a, rank-up u 8 3');
	say(
		list(5, [
			['b', 40],
			['u', 33],
			['a', 30],
		]),
	);
	await shows('1 b 40, me 2 u 7 to next 33, 3 a 30');
	await tells('rank-up u 3 2');
	say(
		list(6, [
			['a', 50],
			['b', 40],
			['u', 33],
		]),
	);
	await shows('1 a 50, 2 b 40, me 3 u 7 to next 33');
	await tells('new-leader a b, overtaken u 2 3 b');
	// Out of the list: the list tells it first, and its rank follows.
	say(
		list(7, [
			['a', 50],
			['b', 40],
			['c', 35],
		]),
	);
	await shows('1 a 50, 2 b 40, 3 c 35, below … u 12');
	await tells('enter-top c');
	say(own(7, 4, 33, {to_next: 2}));
	await shows('1 a 50, 2 b 40, 3 c 35, below 4 u 2 to next 33');
	await tells('overtaken u 3 4 c');
	// The event names the member that passed only if the neighbours are as new as the rank.
	say(
		own(7, 5, 33, {
			around: [
				{rank: 4, member: 'x', score: 34},
				{rank: 5, member: 'u', score: 33},
				{rank: 6, member: 'y', score: 3},
			],
		}),
	);
	await tells('overtaken u 4 5 x');
	say(own(7, 9, 1));
	await tells('overtaken u 5 9');
	await page.drawn();
	await becomes(() => /no score/.test(root.querySelector('[part=announcer]').textContent), false);
	// The member leaves the board, and joins it again.
	say(own(8, null, null));
	await shows('1 a 50, 2 b 40, 3 c 35, below u has no score yet');
	say(own(9, 6, 1));
	await shows('1 a 50, 2 b 40, 3 c 35, below 6 u 1');
	await tellsNothing();
	// Another board, and another period, begin anew.
	say(list(7, [['x', 1]], {period: '1'}));
	await shows('1 x 1');
	told.length = 0;
	say(list(1, [['y', 1]], {period: '2'}));
	await shows('1 y 1');
	await tellsNothing();
	board.setAttribute('board', 'x');
	board.setAttribute('board', 'b');
	await shows('');
	say(list(1, [['z', 1]]));
	await shows('1 z 1');
	await tellsNothing();
});

// The element tells the most important change in a sentence, and the row of a new leader shines.
test('ElementTellsMoments', async () => {
	stopClock();
	await openBoard({top: 5, moments: ''});
	var moments = [];
	board.addEventListener('moment', ({detail: {kind, rank, entry, other, text}}) =>
		moments.push([kind, rank, entry.member, other.member].join(' ')),
	);
	var line = () => root.querySelector('[part=moment]').textContent;
	var named = (seq, ...entries) =>
		say({
			...list(seq, []),
			top: entries.map(([member, score], i) => ({
				rank: i + 1,
				member,
				score,
				name: {a: 'Ana', e: 'Eli', m: 'Mochi'}[member],
			})),
		});
	await tick();
	named(1, ['a', 1000], ['e', 900], ['m', 500], ['x', 400]);
	await becomes(text, '1 Ana 1,000, 2 Eli 900, 3 Mochi 500, 4 x 400');
	await becomes(() => root.adoptedStyleSheets.length, 2); // what tells moments is there
	named(2, ['e', 1050], ['a', 1000], ['x', 600], ['m', 500]);
	await becomes(text, '1 Eli 1,050, 2 Ana 1,000, 3 x 600, 4 Mochi 500');
	pass(0);
	await becomes(() => line() + '; ' + moments.splice(0), 'Eli passed Ana for No. 1; passed 1 e a');
	await becomes(() => root.querySelector('[data-leads]')?.dataset.member, 'e');
	// Of the passes within 2.5 s, the element tells the one for the highest place, when that time is over.
	named(3, ['e', 1050], ['x', 1010], ['a', 1000], ['m', 500]);
	await becomes(text, '1 Eli 1,050, 2 x 1,010, 3 Ana 1,000, 4 Mochi 500');
	named(4, ['e', 1050], ['x', 1010], ['m', 1001], ['a', 1000]);
	await becomes(text, '1 Eli 1,050, 2 x 1,010, 3 Mochi 1,001, 4 Ana 1,000');
	pass(2499);
	await page.drawn();
	await becomes(() => moments.length, 0);
	pass(1);
	await becomes(() => line() + '; ' + moments.splice(0), 'x passed Ana for No. 2; passed 2 x a');
	// The gap to the leader is small, and shrinks fast.
	pass(3000);
	named(5, ['e', 1060], ['x', 1010], ['m', 1001], ['a', 1000]);
	await becomes(text, '1 Eli 1,060, 2 x 1,010, 3 Mochi 1,001, 4 Ana 1,000');
	pass(3000);
	named(6, ['e', 1060], ['x', 1052], ['m', 1001], ['a', 1000]);
	await becomes(text, '1 Eli 1,060, 2 x 1,052, 3 Mochi 1,001, 4 Ana 1,000');
	pass(0);
	await becomes(() => line() + '; ' + moments.splice(0), 'x is 8 behind Eli, closing; closing 2 x e');
	pass(12000);
	await becomes(() => line(), '');
	// A new period begins with nothing to tell.
	named(7, ['x', 1070], ['e', 1060], ['m', 1001]);
	await becomes(text, '1 x 1,070, 2 Eli 1,060, 3 Mochi 1,001');
	pass(0);
	await becomes(() => line(), 'x passed Eli for No. 1');
	moments = [];
	say(
		list(
			1,
			[
				['m', 1],
				['e', 1],
			],
			{period: '2'},
		),
	);
	await becomes(() => text() + line(), '1 m 1, 2 e 1');
	pass(9000);
	await page.drawn();
	await becomes(() => line() + moments, '');
});

// A rise tells whom the member passed if the list or its neighbours have all of them, and else how many places it has gained.
test('RiseTellsWhoWasPassed', async () => {
	await openBoard({me: 'u', top: 4});
	const passed = [];
	board.addEventListener('rank-up', ({detail}) =>
		passed.push(
			typeof detail.passed === 'number'
				? String(detail.passed)
				: detail.passed.map(({rank, member, score}) => rank + member + score).join(' ') || 'nobody',
		),
	);
	const tells = want => becomes(() => passed.splice(0).join(' | '), want);
	const rows = (seq, members) => list(seq, [...members].map((member, i) => [member, 90 - 10 * i]));
	const near = (seq, rank, members) =>
		own(seq, rank, 5, {
			around: [...members].map((member, i) => ({rank: rank + i - members.indexOf('u'), member, score: 5})),
		});
	say(rows(1, 'abcd'), near(1, 9, 'xuy'));
	await becomes(() => text().includes('below 9 u'), true);
	// Past x, which the neighbours have before and after.
	say(near(2, 8, 'wux'));
	await tells('9x5');
	// The neighbours of a rise by two do not have both.
	say(near(3, 6, 'vuw'));
	await tells('2');
	// Nor do those of before tell anything of a rank that comes alone.
	say(own(4, 5, 6));
	await tells('1');
	// From its neighbours into the list: d is there no more.
	say(rows(5, 'abuc'));
	await tells('2');
	say(rows(6, 'aubc'));
	await tells('3b70');
	say(rows(7, 'abcu'));
	await becomes(() => told.splice(0).at(-1), 'overtaken u 2 4 c');
	say(rows(8, 'uabc'));
	await tells('2a80 3b70 4c60');
	// Another member comes in between. u passed c, which has left the list, and not that member.
	say(rows(9, 'abcu'));
	await becomes(() => told.splice(0).at(-1), 'overtaken u 1 4 c');
	say(rows(10, 'abuz'));
	await tells('1');
	// The leader is gone, so u rose and passed nobody. Only a list of all members shows that.
	say(rows(11, 'abu'));
	await becomes(() => text().includes('3 u'), true);
	say(rows(12, 'bu'));
	await tells('1');
	say({...rows(13, 'bxu'), total: 3});
	await becomes(() => told.splice(0).at(-1), 'overtaken u 2 3 x');
	say({...rows(14, 'xu'), total: 2});
	await tells('nobody');
	say({...rows(15, 'xau'), total: 3});
	await becomes(() => told.splice(0).at(-1), 'overtaken u 2 3 a');
	// Two that were above change places with the member, and one that was below with them: the list has more than it has gained.
	say(rows(16, 'xauz'));
	await becomes(() => text().includes('4 z'), true);
	say(rows(17, 'zuxa'));
	await tells('3x70 4a60');
});
