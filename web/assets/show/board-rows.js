// @ts-check

/**
 * Completes the rows of the page's boards. The kit fills in an entry's fields; this module hides the symbol of a member
 * without a score and, on the board of stars, adds a link, the gap to the place above, and the share of the leader's score.
 */

import { phrase, words } from '../../kit/format.js';
import { formatsOf } from '../shared/board-display.js';
import { setAttribute, setProperty, setText } from '../shared/dom.js';
import { text } from '../shared/texts.js';
import { langOf } from './event.js';
import { hasSymbol, updateSymbol } from './symbol.js';

/** @typedef {import('../../kit/rankcast.js').Update} Update */

words.no_score = text('show_no_score');

/**
 * @param {HTMLElement} board a live-leaderboard
 * @returns {HTMLElement[]} in order
 */
export function rowsOf(board) {
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

/**
 * @param {HTMLElement} board of stars or of fans
 * @param {Update} update
 */
export function renderAmounts(board, { snapshot }) {
  if (snapshot) board.toggleAttribute('data-no-symbol', !hasSymbol(snapshot.info));
  for (const row of rowsOf(board)) {
    const amount = part(row, 'amount');
    setAttribute(amount, 'lang', langOf(snapshot?.info?.display?.unit));
    amount.hidden = row.dataset.absent !== undefined;
    updateSymbol(amount.lastElementChild);
  }
}

/**
 * @param {HTMLElement} board of stars
 * @param {Update} update
 * @param {(star: string) => string} starURL
 */
export function renderStarRows(board, update, starURL) {
  const { snapshot, me } = update;
  renderAmounts(board, update);
  const top = snapshot?.top ?? [];
  const indexes = new Map(top.map(({ member }, index) => [member, index]));
  const max = Math.max(1, top[0]?.score ?? 1);
  // As the rows of fans, without the unit, for which there is no room.
  const { display, columns } = snapshot?.info ?? {};
  const { gap: format } = formatsOf({ display: { ...display, unit: undefined }, columns });
  for (const row of rowsOf(board)) {
    const member = row.dataset.member ?? '';
    const index = indexes.get(member);
    const gap = index === undefined ? me?.to_next : top[index].rank > 1 ? top[index - 1].score - top[index].score : null;
    const score = index === undefined ? (me?.score ?? 0) : top[index].score;
    const between = index ? [top[index - 1], top[index]] : [me ?? undefined];
    setText(part(row, 'gap'), gap === 0 ? words.level : gap ? phrase('to_next', { score: format(Math.abs(gap), ...between) }) : '');
    setProperty(row, '--share', Math.round((Math.max(0, score) / max) * 1_000) / 1_000);
    setAttribute(part(row, 'link'), 'href', starURL(member));
  }
}

/**
 * @param {HTMLElement} board of stars
 * @param {string} star
 * @returns {HTMLElement | null} the star's link in the list
 */
export function linkOf(board, star) {
  // The row below the list disappears with the followed star.
  const row = rowsOf(board).find(({ dataset }) => dataset.member === star && dataset.below === undefined);
  return row ? part(row, 'link') : null;
}

/**
 * @param {HTMLElement} board of stars
 * @param {string} star
 * @returns {HTMLElement | null} the star's score in the list, if it is in view
 */
export function scoreOf(board, star) {
  const row = rowsOf(board).find(({ dataset }) => dataset.member === star);
  const score = row && part(row, 'score');
  return score && isInView(score) ? score : null;
}

/**
 * @param {HTMLElement} element
 * @returns {boolean} whether it is in the window and nothing covers it
 */
export function isInView(element) {
  if (!element.checkVisibility()) return false;
  const { left, top, width, height } = element.getBoundingClientRect();
  const root = /** @type {Document | ShadowRoot} */ (element.getRootNode());
  const hit = root.elementFromPoint(left + width / 2, top + height / 2);
  // The link of a row covers the row.
  const shown = hit?.closest('[data-member]') ?? hit;
  return shown !== null && (shown.contains(element) || element.contains(shown));
}
