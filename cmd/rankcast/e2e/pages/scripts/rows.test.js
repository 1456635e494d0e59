// What the rows of the element show, and how.

// A page gives its rows a template. The element fills the fields in as text.
test('ElementMakesRowsOfATemplate', async () => {
	await openBoard({});
	// The language of a page may be invalid, and a page may load the kit twice.
	var again = '';
	document.documentElement.lang = 'en-GB-oed';
	import('/kit/rankcast.js?2').then(
		({connect}) => (again = typeof connect),
		error => (again = String(error)),
	);
	await becomes(() => again, 'function');
	// Names change no order of the words around them, and numbers are exact.
	var words = '';
	import('/kit/format.js').then(
		({fill, scoreFormat}) =>
			(words = [
				fill('{a} of {n}, {b}', {a: '\u202efi\u2028rst\u2069', n: 1234, b: 'אב'}),
				scoreFormat({decimals: 2})(Number.MAX_SAFE_INTEGER),
			].join(' ')),
	);
	await becomes(() => words, 'first of 1,234, \u2068אב\u2069 90,071,992,547,409.91');
	var template = document.createElement('template');
	template.slot = 'row';
	template.innerHTML =
		'<b part="place" data-field="rank"></b>/<i data-field="name"></i>/<i data-field="member"></i>' +
		'/<i data-field="score"></i>/<i data-field="data.car.team"></i>/<img data-field="avatar">';
	board.append(template);
	document.body.append(board);
	await becomes(() => sockets.at(-1).sent.filter(({type}) => type === 'subscribe').length, 2);
	say({
		...list(1, []),
		top: [
			{
				rank: 1,
				member: 'a',
				score: 1234,
				name: '<b>Ann</b>',
				avatar: '/assets/shared/favicon.svg',
				data: {car: {team: '<i>Red</i>'}},
			},
			{rank: 2, member: '<img src=x onerror=alert(1)>', score: 5, data: {car: {team: {toString: 0}}}},
		],
	});
	await becomes(text, '1/<b>Ann</b>/a/1,234/<i>Red</i>/, 2/<img src=x onerror=alert(1)>/<img src=x onerror=alert(1)>/5//');
	await becomes(
		() => [...root.querySelectorAll('img')].map(image => new URL(image.src, location).pathname + image.hidden).join(),
		'/assets/shared/favicon.svgfalse,/healthztrue',
	);
	await becomes(() => root.querySelectorAll('b').length + ' ' + root.querySelector('[part=place]').textContent, '2 1');
	// How scores are shown may change at any time, and takes no server.
	sockets.at(-1).lose();
	board.setAttribute('unit', 'pt');
	await becomes(
		text,
		'1/<b>Ann</b>/a/1,234 pt/<i>Red</i>/, 2/<img src=x onerror=alert(1)>/<img src=x onerror=alert(1)>/5 pt//',
	);
	// Another template is that of all rows.
	template.remove();
	template = document.createElement('template');
	template.slot = 'row';
	template.innerHTML = '<u data-field="score"></u>';
	board.append(template);
	document.body.append(board);
	await becomes(text, '1,234 pt, 5 pt');
	// One element has all of the row; several stand beside each other, also where they come after the element.
	await becomes(
		() => (row => String(row.firstElementChild.offsetWidth > row.clientWidth / 2))(root.querySelector('[data-member]')),
		'true',
	);
	await make({me: 'u'});
	await becomes(() => sockets.at(-1).sent.at(-1)?.me + '', 'u');
	board.insertAdjacentHTML(
		'beforeend',
		'<template slot="row"><b data-field="rank"></b><b data-field="name"></b>' +
			'<b data-field="data.team"></b><b data-field="score"></b></template>',
	);
	say(
		list(1, [
			['u', 3],
			['b', 2],
		]),
	);
	await becomes(text, 'me 1u3, 2b2');
	await becomes(
		() =>
			(middles => String(Math.max(...middles) - Math.min(...middles) < 3))(
				[...root.querySelectorAll('[data-member=u] b')]
					.map(field => field.getBoundingClientRect())
					.map(({top, bottom}) => (top + bottom) / 2),
			),
		'true',
	);
	// No row covers what the page puts over the element.
	var menu = document.createElement('div');
	menu.style = 'position: absolute; inset: 0; z-index: 1';
	document.body.append(menu);
	await becomes(
		() =>
			(({left, top}) => String(document.elementFromPoint(left + 5, top + 5) === menu))(
				root.querySelector('[data-member=u]').getBoundingClientRect(),
			),
		'true',
	);
});

// The rank and the score stay in place beside a name of any direction, in the rows of the kit and in a page's own row of one
// line.
test('ElementIsolatesNames', async () => {
	await openBoard({});
	const names = [
		'Ann',
		'אבג',
		'محمد 12',
		'12 אבג 34',
		'\u202egnorw',
		'\u202e',
		'\u2067x',
		'a\u202d\u202e',
		'\u200fb',
		'אב\u2029גד',
	].map((name, i) => ['m' + i, 1234 - i, undefined, name]);
	var named = top => ({
		...list(1, []),
		total: top.length,
		top: top.map(([member, score, , name], i) => ({rank: i + 12, member, score, name})),
	});
	await tick();
	say(named(names));
	await becomes(() => rowsOf(board).length, 10);
	await becomes(() => inOrder(rowsOf(board).filter(visible)), '');
	var template = document.createElement('template');
	template.slot = 'row';
	template.innerHTML =
		'<p><span data-field="rank"></span>. <span data-field="name"></span>: <span data-field="score"></span></p>';
	board.append(template);
	document.body.append(board);
	await tick();
	say(named(names));
	await becomes(() => String(rowsOf(board).length) + rowsOf(board)[0].querySelectorAll('p').length, '101');
	await becomes(() => inOrder(rowsOf(board).filter(visible)), '');
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
	// A time is not abbreviated: it stays whole, in letters of the same size.
	await becomes(
		() =>
			[...root.querySelectorAll('[data-field=score]')]
				.map(score => {
					const {left, right} = score.getBoundingClientRect();
					const row = score.closest('[data-member]').getBoundingClientRect();
					return `${getComputedStyle(score).fontSize} ${left >= row.left && right <= row.right}`;
				})
				.join(', '),
		'16px true, 16px true, 16px true',
	);
});
