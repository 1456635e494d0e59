// @ts-check

/** Names of periods for people: this week, last week. */

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
 * @param {string | undefined} every field period of the board's definition
 * @param {readonly { period: string, opens: string, ends: string }[]} periods the newest first
 * @param {number} i
 * @returns {string} the name for people of one of them
 */
export function listedPeriodTitle(every, periods, i) {
  const { period, opens, ends } = periods[i];
  const before = i === 0 || (i === 1 && ends === periods[0].opens) ? i : -1;
  // A reader cannot tell the time from a number, unless it is a year.
  const numbered = /^\d+$/.test(period) && !opens.startsWith(`${period}-`);
  return periodTitle(every, before) || (numbered ? `${period} · ${opens.slice(0, 10)} ${opens.slice(11, 16)} UTC` : period);
}
