// @ts-check

/** Numbers, sizes and times, as the console writes them. */

import { createElement } from '../shared/dom.js';

const counts = new Intl.NumberFormat('en');
const rounded = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const dates = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const clocks = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' });
const spans = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** What stands in place of a value that is not known. */
export const UNKNOWN = '–';

/** @param {number | null | undefined} n */
export function count(n) {
  return n === null || n === undefined ? UNKNOWN : counts.format(n);
}

/**
 * A score as the API writes it, or an amount of a definition, which may be a field such as `{points}`.
 *
 * @param {{ score?: number | string | null, columns?: { [name: string]: number | string } }} scored columns: on a board with columns
 * @returns {string}
 */
export function scoreText({ score, columns }) {
  const text = (/** @type {number | string | null | undefined} */ n) => (typeof n === 'string' ? n : count(n));
  return columns ? Object.entries(columns).map(([name, n]) => `${name} ${text(n)}`).join(', ') : text(score);
}

/**
 * @param {number | null | undefined} n
 * @param {string} [unit]
 */
export function amount(n, unit = '') {
  return n === null || n === undefined ? UNKNOWN : `${rounded.format(n)}${unit && ` ${unit}`}`;
}

/** @param {number | null | undefined} n bytes */
export function size(n) {
  if (n === null || n === undefined) return UNKNOWN;
  const step = Math.min(Math.max(Math.floor(Math.log(n || 1) / Math.log(1024)), 0), 4);
  return `${rounded.format(n / 1024 ** step)} ${['bytes', 'KiB', 'MiB', 'GiB', 'TiB'][step]}`;
}

/**
 * @param {string | null | undefined} iso
 * @returns {Node | string} the time in the zone of the operator, with how long ago it was
 */
export function time(iso) {
  if (!iso) return UNKNOWN;
  const element = createElement('time', '', dates.format(new Date(iso)), ' ', createElement('small', '', ago(iso)));
  element.dateTime = iso;
  return element;
}

/**
 * @param {string} iso
 * @returns {HTMLTimeElement} the time of the day in the zone of the operator
 */
export function clock(iso) {
  return Object.assign(createElement('time', '', clocks.format(new Date(iso))), { dateTime: iso });
}

/** @param {string} iso */
export function ago(iso) {
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  for (const [unit, length] of /** @type {[Intl.RelativeTimeFormatUnit, number][]} */ ([['day', 86400], ['hour', 3600], ['minute', 60]])) {
    if (Math.abs(seconds) >= length) return spans.format(Math.trunc(seconds / length), unit);
  }
  return spans.format(Math.trunc(seconds), 'second');
}
