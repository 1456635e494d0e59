// Gives a board a template whose fields are those that an entry has, and some that objects inherit.
var template = document.createElement('template');
template.slot = 'row';
for (const field of [
	'data.own',
	'data.constructor',
	'data.toString',
	'data.__proto__',
	'data.own.length',
	'data.own.length.constructor',
	'data.own.at',
	'data.own.0',
	'data.none.length',
	'data.length',
	'constructor',
	'toString',
	'__proto__',
	'data',
	'none',
	'none.length',
]) {
	const part = Object.assign(document.createElement('i'), {textContent: '?'});
	part.dataset.field = field;
	template.content.append(part);
}
var board = page.board();
board.append(template);
board.setAttribute('top', '2');
board.setAttribute('board', 'laps');
