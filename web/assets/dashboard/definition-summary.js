// @ts-check

/** A board's definition in one sentence, which the dashboard shows below the board's name. */

import { textIn } from '../../kit/format.js';
import { countedText, text } from '../shared/texts.js';
import { zonedTime } from '../shared/zoned-time.js';

/**
 * The definition of a board or, with placeholders in its name, of a family.
 *
 * @typedef {{ board: string, kind: string, mode: string, order: string, ties: string, period?: string, timezone?: string,
 *   starts?: string, window?: string, refresh?: string, history?: string, union?: { refresh: string },
 *   title?: import('../../kit/rankcast.js').Label, description?: import('../../kit/rankcast.js').Label, icon?: string,
 *   display?: import('../../kit/rankcast.js').Display, columns?: import('../../kit/rankcast.js').Column[] }} Definition
 */

/** Of which the sentence speaks: the others count seldom. */
const MAX_COLUMNS = 3;
const PERIODS = new Set(['hour', 'day', 'week', 'month', 'year']);
/** Keys of texts, by the unit of a duration. */
const UNITS = new Map([
  ['s', 'seconds'],
  ['m', 'minutes'],
  ['h', 'hours'],
  ['d', 'days'],
]);

/**
 * @param {Definition} definition
 * @returns {string}
 */
export function summarize({ mode, order, ties, period, timezone, starts, window, union, columns, refresh = union?.refresh }) {
  const rules = [text(union ? 'rule_union' : `rule_${mode}`)];
  for (const column of columns?.slice(0, MAX_COLUMNS) ?? [])
    rules.push(text(column.order === 'asc' ? 'rule_column_asc' : 'rule_column', { column: textIn(column.title) || column.name }));
  // A reader expects the highest score to lead, the earlier of two equal ones to rank higher, and a board to be live.
  if (!columns && order === 'asc') rules.push(text('rule_asc'));
  if (ties !== 'first') rules.push(text(`rule_ties_${ties}`));
  if (period)
    rules.push(
      (PERIODS.has(period) ? text(`rule_by_${period}`) : text('rule_every', { period: durationText(period) })) +
        (timezone && timezone !== 'UTC' ? text('rule_zone', { city: timezone.replace(/^.*\//, '').replaceAll('_', ' ') }) : ''),
    );
  if (window) rules.push(text('rule_window', { length: durationText(window) }));
  if (refresh && refresh !== 'live') rules.push(text('rule_refresh', { length: durationText(refresh) }));
  if (starts) rules.push(text('rule_starts', { time: zonedTime(starts) }));
  return rules.join(text('list_comma'));
}

/** @param {string} duration as in a definition: `90m` */
function durationText(duration) {
  const [, count, unit] = duration.match(/^(\d+)([smhd])$/) ?? [];
  return count ? countedText(UNITS.get(unit) ?? 'seconds', Number(count)) : duration;
}
