// inOrder is '' if, in each row, the rank stands left of the name and the name left of the score, and the digits of rank and
// score stand in the order in which they are written. The rectangles are those of single characters, as the browser paints them.
var at = (field, index) => {
	var range = document.createRange();
	range.setStart(field.firstChild, index);
	range.setEnd(field.firstChild, index + 1);
	return range.getBoundingClientRect();
};
var edges = field => {
	var all = [...field.textContent].length
		? [...Array(field.textContent.length).keys()].map(i => at(field, i)).filter(({width}) => width > 0)
		: [];
	return [Math.min(...all.map(({left}) => left)), Math.max(...all.map(({right}) => right))];
};
var digitsInOrder = field => [...field.textContent].every((_, i) => i === 0 || at(field, i - 1).left < at(field, i).left);
var inOrder = rows =>
	rows
		.map(row => {
			var [rank, name, score] = ['rank', 'name', 'score'].map(field => row.querySelector('[data-field=' + field + ']'));
			var right =
				edges(rank)[1] <= edges(name)[0] + 1 &&
				edges(name)[1] <= edges(score)[0] + 1 &&
				digitsInOrder(rank) &&
				digitsInOrder(score);
			return right ? '' : row.textContent;
		})
		.join('');
var rowsOf = board => [...board.shadowRoot.querySelectorAll('[data-member]')];
var visible = row => /\w|[\u0590-\u06ff]/.test(row.querySelector('[data-field=name]').textContent);
