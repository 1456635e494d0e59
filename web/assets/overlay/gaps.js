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
    const { display, columns } = snapshot.info ?? {};
    const { change } = formatsOf({ display: { ...display, unit: '' } });
    const gaps = new Map(snapshot.top.map((entry, i, top) => [entry.member, i ? change(top[i - 1], entry).replace('-', '−') : '']));
    for (const row of board.shadowRoot?.querySelectorAll('[data-member]') ?? []) {
      const member = row.getAttribute('data-member') ?? '';
      const gap = columns || member === me ? '' : gaps.get(member);
      const who = row.querySelector('[part=who]');
      if (who) setAttribute(who, 'data-behind', gap || undefined);
    }
  });
}
