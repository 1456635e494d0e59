// @ts-check

/** The format of the scores on a board, which its definition gives. The pages of boards use it. */

import { columnFormats, headsOf, headWidth, valueOf, valueWidth } from '../../kit/column-texts.js';
import { gapText, phrase, scoreFormat, scorePieces, textIn } from '../../kit/format.js';
import { fetchJSON } from './api.js';
import { createElement, setAttribute, setProperty, setText } from './dom.js';
import { encodeSegment } from './links.js';
import { Poll } from './poll.js';

/**
 * @typedef {import('../../kit/column-texts.js').Head} Head
 * @typedef {import('../../kit/row.js').Scored & { readonly score: number }} Scored an entry, or a place
 *
 * short: a score that is abbreviated if it is long; gap: between two entries; change: of the score of one member; heads: of the
 * columns of the board
 * @typedef {{ exact: Format, short: Format, gap: GapFormat, change: (before: Scored, now: Scored) => string,
 *   heads?: readonly Head[] }} Formats
 * @typedef {import('../../kit/row.js').Format} Format
 * @typedef {import('../../kit/row.js').GapFormat} GapFormat
 */

/** A longer number is abbreviated, as in the rows of a board. */
const FULL_LENGTH = 13;

/**
 * @param {{ display?: import('../../kit/rankcast.js').Display, columns?: readonly import('../../kit/rankcast.js').Column[] }} [board] what
 *   its definition or its info says; none: a plain number
 * @returns {Formats}
 */
export function formatsOf({ display = {}, columns } = {}) {
  if (columns) {
    const writer = { gapText, language: document.documentElement.lang, phrase, scoreFormat, textIn };
    const { exact, gap } = columnFormats(columns, writer);
    const heads = headsOf(columns, writer);
    const change = (/** @type {Scored} */ before, /** @type {Scored} */ now) => {
      const head = heads.find((head) => valueOf(head, before) !== valueOf(head, now));
      if (!head) return '';
      const score = signed(valueOf(head, now) - valueOf(head, before), head.exact);
      return phrase('column_gap', { score, column: head.title });
    };
    return { exact, short: exact, gap, change, heads };
  }
  const exact = scoreFormat(display);
  return { exact, short: scoreFormat(display, FULL_LENGTH), gap: exact, change: (before, now) => signed(now.score - before.score, exact) };
}

/**
 * @param {number} change
 * @param {(score: number) => string} format
 * @returns {string} '' for none
 */
function signed(change, format) {
  return change === 0 ? '' : `${change > 0 ? '+' : '-'}${gapText(format(Math.abs(change)))}`;
}

/**
 * Shows a score, abbreviated if it is long, with the exact value in its title. That of columns is a value for each, with
 * its name and its unit, which a list with heads does not show (columns.css).
 *
 * @param {HTMLElement} element
 * @param {Scored} entry
 * @param {Formats} formats
 * @param {readonly number[]} [widths] see columnWidths
 */
export function renderScore(element, entry, { exact, short, heads }, widths) {
  if (heads) return renderColumns(element, heads, widths, (head) => head.short(valueOf(head, entry)));
  const { score } = entry;
  const text = short(score);
  const [number, unit] = scorePieces(text);
  if (element.textContent !== text) element.replaceChildren(number, ...(unit ? [' ', createElement('small', 'unit', unit)] : []));
  setAttribute(element, 'title', text !== exact(score) && exact(score));
}

/**
 * @param {HTMLElement} element
 * @param {readonly Head[]} heads
 * @param {readonly number[]} [widths]
 * @param {(head: Head) => string} [valueText] none: the heads alone
 */
export function renderColumns(element, heads, widths = [], valueText = () => '') {
  if ([...element.children].map((column) => column.getAttribute('data-column')).join() !== heads.map(({ name }) => name).join())
    element.replaceChildren(...heads.map(newColumn));
  heads.forEach((head, i) => {
    const column = /** @type {HTMLElement} */ (element.children[i]);
    if (widths[i]) setProperty(column, '--width', widths[i]);
    setText(column.children[1], valueText(head));
  });
}

/** @param {Head} head */
function newColumn({ name, title, unit }) {
  const column = createElement(
    'span',
    'column',
    createElement('span', 'column-name', title, ' '),
    createElement('span', ''),
    createElement('span', 'column-unit', unit && ` ${unit}`),
  );
  column.dataset.column = name;
  column.title = unit ? `${title}, ${unit}` : title;
  return column;
}

/**
 * @param {readonly Head[]} heads
 * @param {readonly Scored[]} entries of a list
 * @returns {number[]} how wide each column is, in figures: as the widest of its values and its head
 */
export function columnWidths(heads, entries) {
  return heads.map((head) => Math.max(headWidth(head), ...entries.map((entry) => valueWidth(head.short(valueOf(head, entry))))));
}

/**
 * Starts a board, and once more if it is defined after this page was opened.
 *
 * @param {HTMLElementTagNameMap['live-leaderboard']} board
 * @param {string} name of the board
 */
export function startBoard(board, name) {
  board.setAttribute('board', name);
  const poll = new Poll(Infinity, async (signal) => {
    await fetchJSON(`v1/boards/${encodeSegment(name)}`, signal);
    if (board.dataset.state !== 'stopped') return;
    board.setAttribute('board', '');
    board.setAttribute('board', name);
  });
  poll.start();
}
