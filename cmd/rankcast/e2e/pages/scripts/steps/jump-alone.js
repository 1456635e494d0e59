// Makes a Jump whose board, list and row are the test's. update tells it a rank and how many rows are listed.
var board,
	list,
	row,
	below,
	jump,
	scrolls = 0,
	update = (rank, listed) => jump.update({me: {rank}, snapshot: {top: Array.from({length: listed}, () => ({})), total: 160}});
import('/assets/dashboard/jump.js').then(({Jump}) => {
	[board, list, row, below] = ['div', 'ol', 'li', 'button'].map(name => document.createElement(name));
	board.setAttribute('me', 'ann');
	row.setAttribute('part', 'row me');
	row.dataset.below = '';
	row.scrollIntoView = () => scrolls++;
	list.setAttribute('part', 'list');
	list.append(row);
	board.attachShadow({mode: 'open'}).append(list);
	jump = new Jump(board, {floating: document.createElement('button'), below}, {limit: 150, shown: 110, growTo() {}});
	update(100, 10);
	below.click();
});
