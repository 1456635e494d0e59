// @ts-check

/**
 * What rows of this page's boards have beside what the kit fills in: an initial in the
 * member's colour and, on the board of stars, a link, the gap to the place above, and how
 * much of the leader's flowers it is.
 */

import { setAttribute, setProperty, setText } from '../../kit/rows.js';
import { say, scoreFormat, words } from '../../kit/format.js';
import { hueOf, initialOf } from './portrait.js';

/** @typedef {import('../../kit/rankcast.js').Update} Update */

const format = scoreFormat({});

/** @param {HTMLElement} board a live-leaderboard */
function rowsOf(board) {
  const rows = board.shadowRoot?.querySelectorAll('[data-member]') ?? [];
  return /** @type {HTMLElement[]} */ ([...rows]);
}

/**
 * @param {Element} row
 * @param {string} name
 */
function part(row, name) {
  return /** @type {HTMLElement} */ (row.querySelector(`[part=${name}]`));
}

/** @param {HTMLElement} board whose rows are to have an initial */
export function writeInitials(board) {
  for (const row of rowsOf(board)) {
    setProperty(row, '--hue', hueOf(row.dataset.member ?? ''));
    setText(part(row, 'initial'), initialOf(part(row, 'member').textContent ?? ''));
    part(row, 'flowers').hidden = row.dataset.absent !== undefined;
  }
}

/**
 * @param {HTMLElement} board of stars
 * @param {Update} update
 * @param {(star: string) => string} address of a star's page
 */
export function writeStars(board, { snapshot, me }, address) {
  writeInitials(board);
  const top = snapshot?.top ?? [];
  const places = new Map(top.map(({ member }, place) => [member, place]));
  const most = Math.max(1, top[0]?.score ?? 1);
  for (const row of rowsOf(board)) {
    const member = row.dataset.member ?? '';
    const place = places.get(member);
    const gap = place === undefined ? me?.to_next : place > 0 ? top[place - 1].score - top[place].score : null;
    const score = place === undefined ? (me?.score ?? 0) : top[place].score;
    setText(part(row, 'gap'), gap === 0 ? words.level : gap ? say('to_next', { score: format(gap) }) : '');
    setProperty(row, '--share', Math.round((Math.max(0, score) / most) * 1_000) / 1_000);
    setAttribute(part(row, 'link'), 'href', address(member));
  }
}

/**
 * @param {HTMLElement} board of stars
 * @param {string} star
 * @returns {HTMLElement | null} its link in the list
 */
export function linkOf(board, star) {
  // The row below the list goes with the star that is followed.
  const row = rowsOf(board).find(({ dataset }) => dataset.member === star && dataset.below === undefined);
  return row ? part(row, 'link') : null;
}
