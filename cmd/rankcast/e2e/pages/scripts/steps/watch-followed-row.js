// Notes the states of a board, the heights it has, each time that a member has two rows, and what its sockets send.
var board = page.board(),
	root = board.shadowRoot;
board.removeAttribute('around'); // neighbours would change the height
delete board.dataset.state; // it is that of the subscription with neighbours; the element sets that of the new one
board.setAttribute = (set =>
	function (name, value) {
		if (name !== 'around') set.call(this, name, value);
	})(board.setAttribute); // the page renders again after each connection
var states = [board.dataset.state],
	sent = [],
	twice = 0,
	heights = new Set();
new MutationObserver(() => {
	states.push(board.dataset.state);
}).observe(board, {attributes: true, attributeFilter: ['data-state']});
new MutationObserver(() => {
	if (root.querySelectorAll('[data-member=u4]').length > 1) twice++;
	heights.add(board.offsetHeight);
}).observe(root, {attributes: true, childList: true, subtree: true});
WebSocket.prototype.send = (send =>
	function (text) {
		sent.push(JSON.parse(text));
		send.call(this, text);
	})(WebSocket.prototype.send);
