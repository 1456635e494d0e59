// The element counts down the last seconds of a period. Then it shows the first three for a while, also on a page that opens a
// little later.
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
			: [...root.querySelectorAll('[part^=result], [part=podium] > *')]
					.map(part => part.innerText.replace(/\s+/g, ' ').trim())
					.join(' | ');
	var places = () => finish().split(' | ').slice(2).join(' | ');
	var count = () => (count => (count.checkVisibility() ? count.textContent : ''))(root.querySelector('[part=countdown]'));
	// watch makes a board that notes its results, and waits until the server is asked for it.
	var watch = async attributes => {
		await make({top: 5, ...attributes});
		board.addEventListener('finish', ({detail: {period, top}}) =>
			finished.push(period + ' ' + top.map(({member}) => member).join('')),
		);
		await becomes(() => sockets.at(-1).sent.at(-1)?.board + text(), 'b');
	};
	var of = (name, ends, more) => ({period: name, ends, ...more});
	var first = {timezone: 'Asia/Shanghai', opens: '2026-11-19T12:00:00Z', ends: '2026-11-20T12:00:30Z', name: '1'};
	await watch();
	await becomes(() => timers.size, 1);
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
	await shown('b wins | Final result, Nov 19 – 20 · 10 ahead of a | 1 b 40 | 2 a 30 | 3 c 10');
	await becomes(() => finished.splice(0).join(), '1 bacd');
	// The list behind the result shows the next period.
	sockets.at(-1).say(list(1, [], of('2', '2026-11-21T12:00:30Z')));
	await becomes(text, '');
	sockets.at(-1).say(list(2, [['x', 1]], of('2', '2026-11-21T12:00:30Z')));
	await becomes(text, '1 x 1');
	await shown('b wins | Final result, Nov 19 – 20 · 10 ahead of a | 1 b 40 | 2 a 30 | 3 c 10');
	pass(14799);
	await page.drawn();
	await becomes(() => finish() !== '', true);
	pass(1);
	await shown('');
	// A page that opens seven seconds late asks for the result of the last period.
	now = Date.parse('2026-11-20T12:00:37Z');
	await watch();
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
	await shown('b wins | Final result, Nov 19 – 20 · 10 ahead of a | 1 b 40 | 2 a 30');
	await becomes(() => finished.splice(0).join(), '1 ba');
	await becomes(() => sockets.at(-1).sent.at(-1).type, 'unsubscribe');
	pass(7999);
	await page.drawn();
	await becomes(() => finish() !== '', true);
	pass(1);
	await shown('');
	// The followed member's place stands below the first three, also on a page that opens late.
	now = Date.parse('2026-11-20T12:00:31Z');
	await watch({top: 3, me: 'q'});
	say(
		list(
			1,
			[
				['a', 30],
				['b', 20],
				['c', 10],
			],
			of('1', first.ends),
		),
		own(1, 5, 3, {to_next: 1, around: [{rank: 5, member: 'q', score: 3, name: 'Quin'}]}),
	);
	await becomes(text, '1 a 30, 2 b 20, 3 c 10, below 5 Quin 1 to next 3');
	sockets.at(-1).say(
		list(
			2,
			[
				['a', 30],
				['b', 20],
				['c', 10],
			],
			of('1', first.ends, {final: true}),
		),
	);
	await becomes(() => places(), '1 a 30 | 2 b 20 | 3 c 10 | 5 Quin 3');
	var risen = root.querySelector('[part=podium]').firstChild;
	sockets.at(-1).say(own(2, 4, 5, {to_next: 7, around: [{rank: 4, member: 'q', score: 5, name: 'Quin'}]}));
	await becomes(() => places(), '1 a 30 | 2 b 20 | 3 c 10 | 4 Quin 5');
	await becomes(() => finished.splice(0).join(), '1 abc');
	// What has come since does not let the steps rise anew.
	await becomes(() => root.querySelector('[part=podium]').firstChild === risen, true);
	await becomes(
		() => [...root.querySelectorAll('[part=podium] > *')].map(row => row.getAttribute('part')).join(),
		'step,step,step,row me',
	);
	// An element with room for fewer than three rows asks for the others of the result, whether or not another period follows.
	await watch({top: 2, me: 'q'});
	var two = [
		['a', 30],
		['b', 20],
	];
	say(list(1, two, of('1', first.ends)), own(1, 5, 3, {to_next: 1, around: [{rank: 5, member: 'q', score: 3, name: 'Quin'}]}));
	await becomes(text, '1 a 30, 2 b 20, below 5 Quin 1 to next 3');
	sockets.at(-1).say(list(2, two, of('1', first.ends, {final: true})));
	await becomes(() => (({board, top, me}) => [board, top, me].join(' '))(sockets.at(-1).sent.at(-1)), 'b@1 3 q');
	await page.drawn();
	await shown('');
	sockets.at(-1).say(
		{type: 'ok', id: sockets.at(-1).sent.at(-1).id},
		{...list(9, [...two, ['c', 10]], of('1', first.ends, {final: true})), board: 'b@1'},
		{...own(9, 5, 3, {around: [{rank: 5, member: 'q', score: 3, name: 'Quin'}]}), board: 'b@1'},
	);
	await becomes(() => places(), '1 a 30 | 2 b 20 | 3 c 10 | 5 Quin 3');
	await becomes(() => sockets.at(-1).sent.at(-1).type, 'unsubscribe');
	// The next period asks for no result again.
	sockets.at(-1).say(list(1, [], of('2', '2026-11-21T12:00:30Z')));
	await becomes(text, '');
	await becomes(() => sockets.at(-1).sent.at(-1).type, 'unsubscribe');
	await becomes(() => places(), '1 a 30 | 2 b 20 | 3 c 10 | 5 Quin 3');
	await becomes(() => finished.splice(0).join(), '1 abc');
	// The list is shorter than the result, which has room all the same.
	await becomes(
		() => root.querySelector('[part=finish]').getBoundingClientRect().bottom <= board.getBoundingClientRect().bottom,
		true,
	);
	await becomes(() => getComputedStyle(root.querySelector('[part=podium] > [part~=me]')).position, 'static');
	now = Date.parse('2026-11-20T12:00:37Z');
	await watch({me: 'q'});
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
	// The result goes when the page follows another member.
	board.setAttribute('me', 'zed');
	await shown('');
	// One of the first three is marked, and one without a score has no place.
	await watch({me: 'a'});
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
			of('1', first.ends, {final: true, total: 2}),
		),
	);
	await becomes(
		() => [...root.querySelectorAll('[part=podium] > *')].map(row => row.getAttribute('part')).join(),
		'step me,step',
	);
	finished = [];
	await watch({me: 'q'});
	say(list(1, [['a', 30]], of('1', first.ends)));
	sockets.at(-1).say(list(2, [['a', 30]], of('1', first.ends, {final: true, total: 1})), own(2, null, null));
	await becomes(() => places(), '1 a 30');
	finished = [];
	// A page that opens sixteen seconds late asks for no result, nor does one with hold="0".
	await tick();
	now = Date.parse('2026-11-20T12:00:46Z');
	await watch();
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
	say(late);
	await becomes(text, '1 x 1');
	await page.drawn();
	await becomes(() => sockets.at(-1).sent.at(-1).board, 'b');
	await watch({top: 1, hold: 0});
	say(list(1, [['a', 1]], of('1', first.ends)));
	sockets.at(-1).say(list(2, [['a', 1]], of('1', first.ends, {final: true, total: 9})));
	await becomes(() => board.hasAttribute('data-final'), true);
	await page.drawn();
	await becomes(() => sockets.at(-1).sent.at(-1).board, 'b');
	// A period ends while the result of the one before is shown: the new result replaces it.
	now = Date.parse('2026-11-20T12:00:32Z');
	await watch();
	say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z')));
	sockets.at(-1).say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z', {final: true, total: 1})));
	await becomes(() => /a 1/.test(finish()), true);
	sockets
		.at(-1)
		.say(
			list(1, [['z', 7]], of('4', '2026-11-20T12:00:32Z')),
			list(1, [['z', 7]], of('4', '2026-11-20T12:00:32Z', {final: true, total: 1})),
		);
	await becomes(() => /z 7/.test(finish()), true);
	await becomes(() => getComputedStyle(root.querySelector('[part=list]')).visibility, 'hidden');
	pass(15000);
	await shown('');
	// The result of one period alone is what the list holds.
	now = Date.parse('2026-11-20T12:00:31Z');
	await make({board: 'b@1', top: 1});
	await becomes(() => sockets.at(-1).sent.at(-1)?.board + text(), 'b@1');
	say({...list(1, [['a', 1]], of('1', first.ends)), board: 'b@1'});
	sockets.at(-1).say({...list(2, [['a', 1]], of('1', first.ends, {final: true})), board: 'b@1'});
	await becomes(() => places(), '1 a 1');
	// So is that of an activity, whose period has no name.
	now = Date.parse('2026-11-20T12:00:31Z');
	await watch({top: 1});
	say(list(1, [['a', 1]], of('', first.ends)));
	sockets.at(-1).say(list(2, [['a', 1]], of('', first.ends, {final: true})));
	await becomes(() => places(), '1 a 1');
	// Of two first places there is no winner.
	now = Date.parse('2026-11-20T12:00:31Z');
	await watch();
	say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z')));
	var round = {timezone: 'Asia/Shanghai', opens: '2026-11-20T11:58:31Z', ends: '2026-11-20T12:00:31Z', name: '3'};
	var tied = list(1, [['a', 5], ['b', 5]], of('3', round.ends, {final: true, total: 2, info: {kind: 'member', period: round}}));
	tied.top[1].rank = 1;
	sockets.at(-1).say(tied);
	await becomes(() => root.querySelector('[part=result]').textContent, 'A tie for first place');
	await becomes(
		() => root.querySelector('[part=result-note]').textContent.replace(/\s/g, ' '),
		'Final result, 7:58 – 8:00 PM',
	);
	// An empty period has no result, and the result of a board goes when the element shows another board.
	now = Date.parse('2026-11-20T12:00:31Z');
	await watch();
	say(list(1, [], of('3', '2026-11-20T12:00:31Z')));
	sockets.at(-1).say(list(1, [], of('3', '2026-11-20T12:00:31Z', {final: true, total: 0})));
	await becomes(() => board.hasAttribute('data-final'), true);
	await page.drawn();
	await shown('');
	now = Date.parse('2026-11-20T12:00:31Z');
	await watch();
	say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z')));
	sockets.at(-1).say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z', {final: true, total: 1})));
	await becomes(() => finish() !== '', true);
	board.setAttribute('board', 'other');
	await shown('');
});
