// @ts-check

/** Styles the rows of the element as the first rows of the page (list-rows.css). */

import { setProperty } from './dom.js';
import sheet from './list-rows.css' with { type: 'css' };

/** @param {HTMLElement} board a live-leaderboard */
export function styleRows(board) {
  board.shadowRoot?.adoptedStyleSheets.push(sheet);
  board.addEventListener('update', () => {
    const row = board.shadowRoot?.querySelector('[part=list] > [part~=row]');
    if (row instanceof HTMLElement) setProperty(row, '--length', row.querySelector('[part=score]')?.textContent?.length || 1);
  });
}
