// @ts-check

/** The gap of each row of the overlay's list to the row above, as an attribute that look.css shows where there is room. */

import { formatsOf } from '../shared/board-display.js';
import { setAttribute } from '../shared/dom.js';

/**
 * @param {HTMLElementTagNameMap['live-leaderboard']} board
 * @param {string} me the followed member, whose row has its gap already
 */
export function showGaps(board, me) {
  board.addEventListener('update', ({ detail: { snapshot } }) => {
    if (!snapshot) return;
    const { display, order, columns } = snapshot.info ?? {};
    const { short } = formatsOf({ display: { ...display, unit: '' } });
    const sign = order === 'asc' ? '+' : '−';
    const gaps = new Map(snapshot.top.map(({ member, score }, i, top) => [member, i && Math.abs(top[i - 1].score - score)]));
    for (const row of board.shadowRoot?.querySelectorAll('[data-member]') ?? []) {
      const member = row.getAttribute('data-member') ?? '';
      const gap = columns || member === me ? 0 : gaps.get(member);
      const who = row.querySelector('[part=who]');
      if (who) setAttribute(who, 'data-behind', gap ? sign + short(gap) : undefined);
    }
  });
}
