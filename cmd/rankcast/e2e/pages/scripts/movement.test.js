// A row shows for ten seconds what its rank has changed, and what its score has gained, and its text is right at once.
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
	// Who rises passes over all others, also over the followed member.
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
	// Ten seconds after the last change of each.
	pass(7999);
	await page.drawn();
	await becomes(() => moves(), 'a c▲1 b▼1');
	pass(1);
	await becomes(() => moves(), 'a c▲1 b');
	pass(2000);
	await becomes(() => moves(), 'a c b');
	// A score that changes again before anybody could read it is only written.
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

// What a score has gained has the color of a rise if the change is good, and that of a fall if it is bad. Where less is better,
// a gain is bad.
test('GainsHaveTheColorOfWhatTheyMean', async () => {
	stopClock();
	await openBoard({top: 3});
	watchMarks();
	board.style.cssText = '--rankcast-accent: rgb(1, 2, 3); --rankcast-warn: rgb(4, 5, 6)';
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

// What matters most is told in a sentence, and the row of a new leader shines.
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
	// Of what happens meanwhile, the highest place is told, and not before 2.5 s have passed.
	named(3, ['e', 1050], ['x', 1010], ['a', 1000], ['m', 500]);
	await becomes(text, '1 Eli 1,050, 2 x 1,010, 3 Ana 1,000, 4 Mochi 500');
	named(4, ['e', 1050], ['x', 1010], ['m', 1001], ['a', 1000]);
	await becomes(text, '1 Eli 1,050, 2 x 1,010, 3 Mochi 1,001, 4 Ana 1,000');
	pass(2499);
	await page.drawn();
	await becomes(() => moments.length, 0);
	pass(1);
	await becomes(() => line() + '; ' + moments.splice(0), 'x passed Ana for No. 2; passed 2 x a');
	// A gap that shrinks fast, and is small.
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

// The end of a period: its last seconds are counted down, and its first three stay for a while, for those who saw it end and
// those who come a little later.
test('ElementShowsTheFinish', async () => {
	stopClock();
	await openBoard({top: 5});
	const shown = want => becomes(finish, want);
	var finished = [];
	var finish = () =>
		!board.hasAttribute('data-finish')
			? root.querySelector('[part=finish]').checkVisibility()
				? 'left behind'
				: ''
			: [...root.querySelectorAll('[part=result], [part=podium] > *')]
					.map(part => part.innerText.replace(/\s+/g, ' ').trim())
					.join(' | ');
	var places = () => finish().split(' | ').slice(1).join(' | ');
	var count = () => (count => (count.checkVisibility() ? count.textContent : ''))(root.querySelector('[part=countdown]'));
	var watch = attributes =>
		make({top: 5, ...attributes}).then(() =>
			board.addEventListener('finish', ({detail: {period, top}}) =>
				finished.push(period + ' ' + top.map(({member}) => member).join('')),
			),
		);
	var of = (name, ends, more) => ({period: name, ends, ...more});
	var first = {timezone: 'Asia/Shanghai', opens: '2026-11-19T12:00:00Z', ends: '2026-11-20T12:00:30Z', name: '1'};
	await watch();
	await becomes(() => sockets.at(-1).sent.at(-1)?.board + timers.size, 'b1');
	say(
		list(
			1,
			[
				['a', 30],
				['b', 20],
				['c', 10],
				['d', 5],
			],
			of('1', first.ends, {info: {kind: 'member', period: first}}),
		),
	);
	await becomes(text, '1 a 30, 2 b 20, 3 c 10, 4 d 5');
	await page.drawn();
	await becomes(() => count() + finish(), '');
	pass(19000);
	await page.drawn();
	await becomes(() => count(), '');
	pass(1000);
	await becomes(() => count(), '10');
	pass(9000);
	await becomes(() => count(), '1');
	pass(1000);
	await becomes(() => count(), '');
	await page.drawn();
	await shown('');
	pass(200);
	say(
		list(
			2,
			[
				['b', 40],
				['a', 30],
				['c', 10],
				['d', 5],
			],
			of('1', first.ends, {final: true, info: {kind: 'member', period: first}}),
		),
	);
	await shown('Final result, Nov 20, 2026, 8:00 PM GMT+8 | 1 b 40 | 2 a 30 | 3 c 10');
	await becomes(() => finished.splice(0).join(), '1 bacd');
	// The next period goes on behind it.
	sockets.at(-1).say(list(1, [], of('2', '2026-11-21T12:00:30Z')));
	await becomes(text, '');
	sockets.at(-1).say(list(2, [['x', 1]], of('2', '2026-11-21T12:00:30Z')));
	await becomes(text, '1 x 1');
	await shown('Final result, Nov 20, 2026, 8:00 PM GMT+8 | 1 b 40 | 2 a 30 | 3 c 10');
	pass(14799);
	await page.drawn();
	await becomes(() => finish() !== '', true);
	pass(1);
	await shown('');
	// Who comes seven seconds late asks for the result of the last period.
	now = Date.parse('2026-11-20T12:00:37Z');
	await watch();
	await becomes(() => sockets.at(-1).sent.at(-1)?.board, 'b');
	say(
		list(
			2,
			[['x', 1]],
			of('2', '2026-11-21T12:00:30Z', {info: {kind: 'member', period: {opens: first.ends, ends: '2026-11-21T12:00:30Z'}}}),
		),
	);
	await becomes(text, '1 x 1');
	await becomes(() => (({board, top}) => board + ' ' + top)(sockets.at(-1).sent.at(-1)), 'b@-1 3');
	await page.drawn();
	await shown('');
	sockets.at(-1).say(
		{type: 'ok', id: sockets.at(-1).sent.at(-1).id},
		{
			...list(
				9,
				[
					['b', 40],
					['a', 30],
				],
				of('1', first.ends, {final: true, info: {kind: 'member', period: first}}),
			),
			board: 'b@-1',
		},
	);
	await shown('Final result, Nov 20, 2026, 8:00 PM GMT+8 | 1 b 40 | 2 a 30');
	await becomes(() => finished.splice(0).join(), '1 ba');
	await becomes(() => sockets.at(-1).sent.at(-1).type, 'unsubscribe');
	pass(7999);
	await page.drawn();
	await becomes(() => finish() !== '', true);
	pass(1);
	await shown('');
	// The followed member's place stands below the first three, of those who saw the end and of those who come late.
	now = Date.parse('2026-11-20T12:00:31Z');
	await watch({top: 2, me: 'q'});
	await becomes(() => sockets.at(-1).sent.at(-1)?.board + text(), 'b');
	say(
		list(
			1,
			[
				['a', 30],
				['b', 20],
			],
			of('1', first.ends),
		),
		own(1, 5, 3, {to_next: 1, around: [{rank: 5, member: 'q', score: 3, name: 'Quin'}]}),
	);
	await becomes(text, '1 a 30, 2 b 20, below 5 Quin 1 to next 3');
	sockets.at(-1).say(
		list(
			2,
			[
				['a', 30],
				['b', 20],
			],
			of('1', first.ends, {final: true}),
		),
	);
	await becomes(() => places(), '1 a 30 | 2 b 20 | 5 Quin 3');
	sockets.at(-1).say(own(2, 4, 5, {to_next: 7, around: [{rank: 4, member: 'q', score: 5, name: 'Quin'}]}));
	await becomes(() => places(), '1 a 30 | 2 b 20 | 4 Quin 5');
	await becomes(() => finished.splice(0).join(), '1 ab');
	await becomes(
		() => [...root.querySelectorAll('[part=podium] > *')].map(row => row.getAttribute('part')).join(),
		'step,step,row me',
	);
	// The list is shorter than the result, which has room all the same.
	await becomes(
		() => root.querySelector('[part=finish]').getBoundingClientRect().bottom <= board.getBoundingClientRect().bottom,
		true,
	);
	await becomes(() => getComputedStyle(root.querySelector('[part=podium] > [part~=me]')).position, 'static');
	now = Date.parse('2026-11-20T12:00:37Z');
	await watch({me: 'q'});
	await becomes(() => sockets.at(-1).sent.at(-1)?.board + text(), 'b');
	say(
		list(
			2,
			[['x', 1]],
			of('2', '2026-11-21T12:00:30Z', {info: {kind: 'member', period: {opens: first.ends, ends: '2026-11-21T12:00:30Z'}}}),
		),
	);
	await becomes(() => (({board, me, around}) => [board, me, around].join(' '))(sockets.at(-1).sent.at(-1)), 'b@-1 q 1');
	sockets.at(-1).say(
		{type: 'ok', id: sockets.at(-1).sent.at(-1).id},
		{
			...list(
				9,
				[
					['b', 40],
					['a', 30],
				],
				of('1', first.ends, {final: true}),
			),
			board: 'b@-1',
		},
		{...own(9, 8, 2), board: 'b@-1'},
	);
	await becomes(() => places(), '1 b 40 | 2 a 30 | 8 q 2');
	await becomes(() => finished.splice(0).join(), '1 ba');
	// The name comes with the neighbours, which may come later.
	sockets.at(-1).say({...own(9, 8, 2, {to_next: 3, around: [{rank: 8, member: 'q', score: 2, name: 'Quin'}]}), board: 'b@-1'});
	await becomes(() => places(), '1 b 40 | 2 a 30 | 8 Quin 2');
	await becomes(() => sockets.at(-1).sent.at(-1).type, 'unsubscribe');
	// It is another member's place once another one is followed.
	board.setAttribute('me', 'zed');
	await shown('');
	// One of the first three is marked, and one without a score has no place.
	await watch({me: 'a'});
	await becomes(() => sockets.at(-1).sent.at(-1)?.board + text(), 'b');
	say(
		list(
			1,
			[
				['a', 30],
				['b', 20],
			],
			of('1', first.ends),
		),
	);
	sockets.at(-1).say(
		list(
			2,
			[
				['a', 30],
				['b', 20],
			],
			of('1', first.ends, {final: true}),
		),
	);
	await becomes(
		() => [...root.querySelectorAll('[part=podium] > *')].map(row => row.getAttribute('part')).join(),
		'step me,step',
	);
	finished = [];
	await watch({me: 'q'});
	await becomes(() => sockets.at(-1).sent.at(-1)?.board + text(), 'b');
	say(list(1, [['a', 30]], of('1', first.ends)));
	sockets.at(-1).say(list(2, [['a', 30]], of('1', first.ends, {final: true})), own(2, null, null));
	await becomes(() => places(), '1 a 30');
	finished = [];
	// Sixteen seconds late is too late, and so is any time for a page that holds nothing.
	await tick();
	now = Date.parse('2026-11-20T12:00:46Z');
	await watch();
	await becomes(() => sockets.at(-1).sent.at(-1)?.board, 'b');
	var late = list(
		2,
		[['x', 1]],
		of('2', '2026-11-21T12:00:30Z', {info: {kind: 'member', period: {opens: first.ends, ends: '2026-11-21T12:00:30Z'}}}),
	);
	say(late);
	await becomes(text, '1 x 1');
	await page.drawn();
	await becomes(() => sockets.at(-1).sent.at(-1).board, 'b');
	now = Date.parse('2026-11-20T12:00:31Z');
	await watch({hold: 0});
	await becomes(() => sockets.at(-1).sent.at(-1)?.board + text(), 'b');
	say(late);
	await becomes(text, '1 x 1');
	await page.drawn();
	await becomes(() => sockets.at(-1).sent.at(-1).board, 'b');
	// The next period ends before the first three have gone: those of the next one take their place.
	now = Date.parse('2026-11-20T12:00:32Z');
	await watch();
	await becomes(() => sockets.at(-1).sent.at(-1)?.board + text(), 'b');
	say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z')));
	sockets.at(-1).say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z', {final: true})));
	await becomes(() => /a 1/.test(finish()), true);
	sockets
		.at(-1)
		.say(
			list(1, [['z', 7]], of('4', '2026-11-20T12:00:32Z')),
			list(1, [['z', 7]], of('4', '2026-11-20T12:00:32Z', {final: true})),
		);
	await becomes(() => /z 7/.test(finish()), true);
	await becomes(() => getComputedStyle(root.querySelector('[part=list]')).visibility, 'hidden');
	pass(15000);
	await shown('');
	// An empty period has no first three, and a board that the page leaves takes its own along.
	now = Date.parse('2026-11-20T12:00:31Z');
	await watch();
	await becomes(() => sockets.at(-1).sent.at(-1)?.board + text(), 'b');
	say(list(1, [], of('3', '2026-11-20T12:00:31Z')));
	sockets.at(-1).say(list(1, [], of('3', '2026-11-20T12:00:31Z', {final: true})));
	await becomes(() => board.hasAttribute('data-final'), true);
	await page.drawn();
	await shown('');
	now = Date.parse('2026-11-20T12:00:31Z');
	await watch();
	await becomes(() => sockets.at(-1).sent.at(-1)?.board + text(), 'b');
	say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z')));
	sockets.at(-1).say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z', {final: true})));
	await becomes(() => finish() !== '', true);
	board.setAttribute('board', 'other');
	await shown('');
});

// A number that is too long for a row is abbreviated, alone: the others keep their size, and the exact one is at hand.
test('ElementAbbreviatesHugeScores', async () => {
	await openBoard({top: 3, me: 'b'});
	say(
		list(1, [
			['a', 9007199254740991],
			['b', 1234567890],
			['c', 5],
		]),
	);
	await becomes(text, '1 a 9007T, me 2 b 9007T to next 1,234,567,890, 3 c 5');
	await becomes(
		() =>
			[...root.querySelectorAll('[data-field=score]')]
				.map(score => [score.title, getComputedStyle(score).fontSize].join(' '))
				.join(', '),
		'9,007,199,254,740,991 16px,  16px,  16px',
	);
	// Its own new score may have the same abbreviation.
	say(
		list(2, [
			['a', 9007199254740001],
			['b', 1234567890],
			['c', 5],
		]),
	);
	await becomes(() => root.querySelector('[data-member=a] [data-field=score]').title, '9,007,199,254,740,001');
	await becomes(() => text().slice(0, 9), '1 a 9007T');
	board.setAttribute('format', 'time_ms');
	await becomes(() => root.querySelector('[data-member=c] [part=score]').textContent, '0:00.005');
	await becomes(
		() => parseFloat(getComputedStyle(root.querySelector('[data-member=a] [data-field=score]')).fontSize) < 16,
		true,
	);
	await becomes(() => getComputedStyle(root.querySelector('[data-member=c] [data-field=score]')).fontSize, '16px');
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
