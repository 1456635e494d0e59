// @ts-check

/** What a board's definition says, in words. */

import { counted, text } from './texts.js';

/**
 * A family has placeholders in its name.
 *
 * @typedef {{ board: string, mode: string, order: string, ties: string, period?: string, timezone?: string, window?: string,
 *   union?: unknown, display?: import('../kit/rankcast.js').Display }} Definition
 */

const PERIODS = new Set(['hour', 'day', 'week', 'month', 'year']);
const UNITS = new Map([
  ['s', 'seconds'],
  ['m', 'minutes'],
  ['h', 'hours'],
  ['d', 'days'],
]);

/** @param {Definition} board */
export function describe({ mode, order, ties, period, timezone, window, union }) {
  const parts = [text(union ? 'rule_union' : `rule_${mode}`), text(`rule_${order}`), text(`rule_ties_${ties}`)];
  if (period) parts.push((PERIODS.has(period) ? text(`rule_by_${period}`) : text('rule_every', { period })) + (timezone && timezone !== 'UTC' ? text('rule_zone', { timezone }) : ''));
  const [, count, unit] = window?.match(/^(\d+)([smhd])$/) ?? [];
  if (count) parts.push(text('rule_window', { length: counted(UNITS.get(unit) ?? 'seconds', Number(count)) }));
  return parts.join(text('list_comma'));
}
