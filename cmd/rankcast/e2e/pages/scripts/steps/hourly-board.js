// Puts the board hourly on the page. text is what is left of its period.
var board,
	text = () => board?.shadowRoot.querySelector('[part=ends]').textContent ?? '';
import('/kit/rankcast.js').then(() => {
	board = document.createElement('live-leaderboard');
	board.setAttribute('board', 'hourly');
	document.body.append(board);
});
