// @ts-check

/** Names of periods for people: this week, last week. The server names them by the same rule, see phrases.period. */

import { text } from '../shared/texts.js';

const NATURAL = new Set(['hour', 'day', 'week', 'month', 'year']);

/**
 * @param {string | undefined} every field period of the board's definition
 * @param {number} before 0: the present period; 1: the one before it; other numbers: another one
 * @returns {string} '' for a period that only its own name tells
 */
export function periodTitle(every, before) {
  if (!every || !NATURAL.has(every)) return '';
  return before === 0 ? text(`this_${every}`) : before === 1 ? text(`last_${every}`) : '';
}
