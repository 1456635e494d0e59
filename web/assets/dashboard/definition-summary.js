// @ts-check

/** What a board's definition says, in words. */

import { dates } from '../../kit/format.js';
import { counted, text } from '../shared/texts.js';

/**
 * A family has placeholders in its name.
 *
 * @typedef {{ board: string, mode: string, order: string, ties: string, period?: string, timezone?: string, starts?: string, window?: string,
 *   refresh?: string, union?: { refresh: string }, display?: import('../../kit/rankcast.js').Display }} Definition
 */

const PERIODS = new Set(['hour', 'day', 'week', 'month', 'year']);
const UNITS = new Map([
  ['s', 'seconds'],
  ['m', 'minutes'],
  ['h', 'hours'],
  ['d', 'days'],
]);

/** @param {Definition} board */
export function describe({ mode, order, ties, period, timezone, starts, window, union, refresh = union?.refresh }) {
  const parts = [text(union ? 'rule_union' : `rule_${mode}`), text(`rule_${order}`), text(`rule_ties_${ties}`)];
  if (period) parts.push((PERIODS.has(period) ? text(`rule_by_${period}`) : text('rule_every', { period: lengthOf(period) })) + (timezone && timezone !== 'UTC' ? text('rule_zone', { timezone }) : ''));
  if (window) parts.push(text('rule_window', { length: lengthOf(window) }));
  // What is live goes without saying.
  if (refresh && refresh !== 'live') parts.push(text('rule_refresh', { length: lengthOf(refresh) }));
  if (starts) parts.push(text('rule_starts', { time: dates.format(new Date(starts)) }));
  return parts.join(text('list_comma'));
}

/** @param {string} duration as a definition has it: `90m` */
function lengthOf(duration) {
  const [, count, unit] = duration.match(/^(\d+)([smhd])$/) ?? [];
  return count ? counted(UNITS.get(unit) ?? 'seconds', Number(count)) : duration;
}
