// What tests read of a page, and do on it. The page gets it before its own scripts. Where several boards are on a page, it is
// about the first one, unless a function takes the id of another.
globalThis.page = {
	all: (selector, root = document) => [...root.querySelectorAll(selector)],
	// words are the words of an element, as they are read.
	words: element => element.textContent.replace(/\s+/g, ' ').trim(),
	text: selector => page.words(document.querySelector(selector)),
	// texts are the texts of elements that can be seen.
	texts: (selector, separator = ' | ') =>
		page
			.all(selector)
			.filter(part => part.checkVisibility())
			.map(part => part.textContent)
			.join(separator),
	visible: (...selectors) => selectors.map(selector => document.querySelector(selector)?.checkVisibility() ?? false).join(),
	box: selector => document.querySelector(selector).getBoundingClientRect(),
	count: selector => String(document.querySelectorAll(selector).length),

	board: id => (id ? document.getElementById(id) : document.querySelector('live-leaderboard')),
	state: id => page.board(id).dataset.state,
	root: id => page.board(id).shadowRoot,
	// part is the first element of a part of a board.
	part: (name, id) => page.root(id).querySelector('[part~=' + name + ']'),
	members: id => page.all('[data-member]', page.root(id)),
	// listed are the rows of the list, without those below it.
	listed: id => page.all('[data-member]:not([data-below])', page.root(id)),
	// rows are the members of the list, in order.
	rows: () => page.listed().map(row => row.dataset.member),
	// seen are the rows that can be seen, as words.
	seen: () =>
		page
			.members()
			.filter(row => row.checkVisibility())
			.map(page.words)
			.join(' | '),
	// own is the row of the followed member: where it is, and its text. It shows two rows if there are two.
	own: (board = page.board()) =>
		page
			.all('[part=list] > [aria-current]', board.shadowRoot)
			.filter(row => row.checkVisibility())
			.map(row => ('below' in row.dataset ? 'below: ' : 'listed: ') + page.words(row))
			.join(' | '),
	// fields are the rows of a board, with the fields that are not empty.
	fields: id =>
		page
			.members(id)
			.map(row =>
				page
					.all('[data-field], [part=gap]', row)
					.map(field => field.textContent)
					.filter(text => text)
					.join(' '),
			)
			.join(' | '),
	// shown tells whether the page shows rows, cards with scores, or an overlay in a frame.
	shown: () =>
		page.all('live-leaderboard').some(board => board.shadowRoot.querySelector('[data-member]')) ||
		document.querySelector('.card-score:not(:empty), .line, .rank-path[d], #picture iframe:not([data-loading])') !== null,
	// focus is what has it: a part of a board, or an element by its id.
	focus: () => (document.activeElement.shadowRoot ?? document).activeElement.getAttribute('part') ?? document.activeElement.id,
	painted: () => performance.getEntriesByType('paint').length > 0,
	// answered tells whether a request is answered whose path, without its query, ends so.
	answered: end =>
		performance
			.getEntriesByType('resource')
			.some(({name, responseEnd}) => new URL(name).pathname.endsWith(end) && responseEnd),
	// watchShifts adds what moves on the page from its beginning on to shifts (cumulative layout shift).
	watchShifts: () => {
		globalThis.shifts = 0;
		new PerformanceObserver(list => {
			for (const {value} of list.getEntries()) shifts += value;
		}).observe({type: 'layout-shift', buffered: true});
	},
	// finish ends all animations that end.
	finish: () => {
		for (const animation of document.getAnimations())
			if (animation.effect.getComputedTiming().endTime < Infinity) animation.finish();
	},
	// drawn waits until two more frames are drawn.
	drawn: () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))),
};
