// @ts-check

/** The format of the scores on a board, which its definition gives. The pages of boards use it. */

import { scoreFormat, textIn } from '../../kit/format.js';
import { fetchJSON } from './api.js';
import { setAttribute, setText } from './dom.js';
import { encodeSegment } from './links.js';
import { Poll } from './poll.js';

/**
 * short: a score that is abbreviated if it is long
 * @typedef {{ exact: (score: number) => string, short: (score: number) => string }} Formats
 */

/** A longer number is abbreviated, as in the rows of a board. */
const FULL_LENGTH = 13;

/**
 * @param {import('../../kit/rankcast.js').Display} [display] none: a plain number
 * @returns {Formats}
 */
export function formatsOf(display = {}) {
  return { exact: scoreFormat(display), short: scoreFormat(display, FULL_LENGTH) };
}

/**
 * Shows a score, abbreviated if it is long, with the exact value in its title.
 *
 * @param {Element} element
 * @param {number} score
 * @param {Formats} formats
 */
export function renderScore(element, score, { exact, short }) {
  setText(element, short(score));
  setAttribute(element, 'title', short(score) !== exact(score) && exact(score));
}

/**
 * @param {HTMLElementTagNameMap['live-leaderboard']} board
 * @param {import('../../kit/rankcast.js').Display} [display] of the definition; none: a plain number
 */
export function setDisplay(board, { format, unit, decimals } = {}) {
  setAttribute(board, 'format', format);
  setAttribute(board, 'unit', textIn(unit) || undefined);
  setAttribute(board, 'decimals', decimals ? String(decimals) : undefined);
}

/**
 * Starts a board once its format is known. If the server cannot tell it now, the board starts without, and gets the
 * format later.
 *
 * @param {HTMLElementTagNameMap['live-leaderboard']} board
 * @param {string} name of the board
 */
export function startBoard(board, name) {
  const poll = new Poll(Infinity, async (signal) => {
    try {
      const { definition } = await fetchJSON(`v1/boards/${encodeSegment(name)}`, signal);
      setDisplay(board, definition.display);
      // The board was defined after this page was opened.
      if (board.dataset.state === 'stopped') board.setAttribute('board', '');
    } finally {
      board.setAttribute('board', name);
    }
  });
  poll.start();
}
