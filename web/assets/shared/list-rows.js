// @ts-check

/** Styles the rows of the element as the first rows of the page (list-rows.css). */

import sheet from './list-rows.css' with { type: 'css' };

/** @param {HTMLElement} board a live-leaderboard */
export function styleRows(board) {
  board.shadowRoot?.adoptedStyleSheets.push(sheet);
}
