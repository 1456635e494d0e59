// A page with one board, whose server is the test, and what it tells of it.
var board,
	root,
	told = [];
var make = attributes =>
	import('/kit/rankcast.js').then(() => {
		board?.remove();
		board = document.createElement('live-leaderboard');
		for (const [name, value] of Object.entries({server: 'http://stand-in', board: 'b', ...attributes}))
			board.setAttribute(name, value);
		for (const type of ['rank-up', 'overtaken', 'enter-top', 'new-leader']) {
			board.addEventListener(type, ({detail: {entry, member = entry.member, before, rank, by}}) =>
				told.push(
					[type, member, before?.member ?? before, rank, by?.member].filter(word => word !== undefined).join(' '),
				),
			);
		}
		document.body.replaceChildren(board);
		root = board.shadowRoot;
	});
var list = (seq, members, more) => ({
	type: 'snapshot',
	board: 'b',
	epoch: 'e',
	seq,
	total: 9,
	period: '',
	ends: null,
	...more,
	top: members.map(([member, score, rank], i) => ({rank: rank ?? i + 1, member, score})),
});
var own = (seq, rank, score, more) => ({type: 'me', board: 'b', seq, rank, score, total: 9, ...more});
var say = (...frames) =>
	sockets.at(-1).say({type: 'ok', id: sockets.at(-1).sent.findLast(({type}) => type === 'subscribe').id}, ...frames);
var text = () =>
	[...root.querySelectorAll('[data-member]')]
		.map(
			row =>
				('below' in row.dataset ? 'below ' : row.hasAttribute('aria-current') ? 'me ' : '') +
				row.textContent.replace(/\s+/g, ' ').trim(),
		)
		.join(', ');

// openBoard makes the board, and waits until the server is asked for it.
var openBoard = async attributes => {
	await make(attributes);
	await becomes(() => sockets.at(-1)?.sent.at(-1)?.type, 'subscribe');
};

// What the rows show of their past: moves, gains, and the digits that roll.
var moves = () =>
	[...root.querySelectorAll('[data-member]')]
		.map(row => row.dataset.member + (row.querySelector('[data-move]')?.dataset.move ?? ''))
		.join(' ');
var gains = () =>
	[...root.querySelectorAll('[data-member]')]
		.map(row => row.dataset.member + (row.querySelector('[data-gain]')?.dataset.gain ?? ''))
		.join(' ');
var rolled = '';
var rolls = () =>
	[...root.querySelectorAll('[part=digits]')].map(digits => digits.dataset.before + '>' + digits.textContent).join(' ');
var watchMarks = () => board.addEventListener('update', () => (rolled = rolls()));

