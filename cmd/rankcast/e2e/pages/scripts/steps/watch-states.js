// Notes the states of a board, and one of its rows.
var board = page.board();
var row = board.shadowRoot.querySelector('[data-member=cid]');
var states = [board.dataset.state];
new MutationObserver(() => states.push(board.dataset.state)).observe(board, {attributes: true, attributeFilter: ['data-state']});
