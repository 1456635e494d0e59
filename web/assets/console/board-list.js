// @ts-check

/** What lists of boards have in common: a row, and a box to search. */

import { textIn } from '../../kit/format.js';
import { createElement } from '../shared/dom.js';
import { boardLink, field, input } from './form.js';
import { count, size } from './format.js';

const shortDates = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** From the last letter of a search to its request, ms. */
const SEARCH_PAUSE_MS = 250;

/**
 * @param {string[]} columns
 * @param {any} item of an overview
 * @param {(board: string) => string} [watchers] for the column Watchers
 * @returns {(Node | string)[]}
 */
export function boardCells(columns, { board, info, instances, total, rate, memory, ends, frozen, unavailable }, watchers) {
  const title = info?.title && textIn(info.title, 'en');
  const name = createElement('span', 'titled', boardLink(board, title || board));
  if (title) name.append(' ', createElement('small', '', createElement('bdi', '', board)));
  const isFamily = instances !== undefined;
  /** @type {{ [column: string]: Node | string | undefined }} */
  const cells = isFamily ? { State: `${count(instances)} instances` }
    : { Members: count(total), 'Changes a minute': count(rate), Memory: size(memory), Watchers: watchers?.(board),
      State: frozen ? 'frozen' : endOf(ends) };
  if (unavailable) cells.State = 'cannot be read now';
  return columns.map((column) => (column === 'Board' ? name : cells[column] ?? ''));
}

/** @param {string | null} ends */
function endOf(ends) {
  if (!ends) return '';
  const when = shortDates.format(new Date(ends));
  return `${Date.parse(ends) < Date.now() ? 'ended' : 'ends'} ${when}`;
}

/**
 * @param {string} label
 * @param {(text: string) => void} search called some time after the last letter
 * @param {AbortSignal} signal
 */
export function searchBox(label, search, signal) {
  const box = input('search', { type: 'search' });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  signal.addEventListener('abort', () => clearTimeout(timer));
  box.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(box.value.trim()), SEARCH_PAUSE_MS);
  });
  return field(label, box);
}
