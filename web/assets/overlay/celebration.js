// @ts-check

/** The overlay's celebration of a new leader: a crown and light over the first row, for 2.8 s. */

import { isCalm } from '../shared/motion.js';

/** Least time between two celebrations: a lead that changes all the time is not worth one. */
const INTERVAL_MS = 10_000;

/**
 * Celebrates each new leader of a board, unless the last celebration is recent.
 *
 * @param {HTMLElementTagNameMap['live-leaderboard']} board
 * @param {HTMLElement} element shown during a celebration
 * @param {{ member: string, onStart?: () => void }} options member: only this one is celebrated; '': each leader
 */
export function celebrateLeaders(board, element, { member, onStart }) {
  let celebratedAt = -Infinity;
  board.addEventListener('new-leader', ({ detail }) => {
    if (member && detail.entry.member !== member) return;
    // The first three of the last period stand where the first row is.
    if (board.hasAttribute('data-finish')) return;
    if (isCalm() || performance.now() - celebratedAt < INTERVAL_MS) return;
    celebratedAt = performance.now();
    onStart?.();
    element.hidden = false;
  });
  for (const end of /** @type {const} */ (['animationend', 'animationcancel'])) {
    element.addEventListener(end, ({ target }) => {
      if (target === element) element.hidden = true;
    });
  }
}
