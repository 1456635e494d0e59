// @ts-check

/** Names of periods for people: this week, last week, Nov 16 – 22. */

import { periodText } from '../../kit/period.js';
import { text } from './texts.js';

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

/**
 * @param {{ every?: string, timezone?: string }} of the periods of the board
 * @param {readonly { period: string, opens: string, ends: string }[]} periods the newest first
 * @param {number} i
 * @returns {string} the name for people of one of them
 */
export function listedPeriodTitle({ every, timezone }, periods, i) {
  const { period, opens, ends } = periods[i];
  const before = i === 0 || (i === 1 && ends === periods[0].opens) ? i : -1;
  return periodTitle(every, before) || periodText({ every, timezone, opens, ends }) || period;
}
