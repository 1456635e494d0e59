// @ts-check

/**
 * Names of periods for people: Nov 23 – 29, or 11:43 PM for one that begins then. The element and the pages of this server take
 * them from here.
 *
 * @typedef {object} Span
 * @property {string} [every]
 * @property {string} [timezone]
 * @property {string | null} opens
 * @property {string | null} ends
 * @property {boolean} [isOver] the name of one shorter than a day has its end too: 11:43 – 11:45 PM
 */

import { language } from './format.js';

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
/** A week ends as its next one begins, at any hour of the day. So long before, it is the last day of the week. */
const LAST_DAY_MS = 18 * 3_600_000;

/** By span: a list is rendered often, and formats are slow to make. @type {WeakMap<Span, string>} */
const texts = new WeakMap();

/**
 * @param {Span | null | undefined} span of a period
 * @returns {string} '' if the span is not known
 */
export function periodText(span) {
  if (!span?.opens || !span.ends) return '';
  let text = texts.get(span);
  if (text === undefined) texts.set(span, (text = spanText(span, Date.parse(span.opens), Date.parse(span.ends))));
  return text;
}

/**
 * @param {Span} span
 * @param {number} opens ms since 1970
 * @param {number} ends
 */
function spanText({ every, timezone, isOver }, opens, ends) {
  const length = ends - opens;
  /** @param {Intl.DateTimeFormatOptions} options */
  const format = (options) => new Intl.DateTimeFormat(language, { ...options, timeZone: timezone || 'UTC' });
  if (every === 'year') return format({ year: 'numeric' }).format(opens);
  if (every === 'month') return format({ year: 'numeric', month: 'long' }).format(opens);
  const year = format({ year: 'numeric' });
  const isOld = year.format(opens) !== year.format(Date.now());
  /** @type {Intl.DateTimeFormatOptions} */
  const day = { month: 'short', day: 'numeric', year: isOld ? 'numeric' : undefined };
  if (every === 'day') return format(day).format(opens);
  if (length >= DAY_MS) return format(day).formatRange(opens, Math.max(opens, ends - LAST_DAY_MS));
  /** @type {Intl.DateTimeFormatOptions} */
  const time = { hour: 'numeric', minute: '2-digit', second: length % MINUTE_MS ? '2-digit' : undefined };
  const until = isOver ? ends : opens;
  const [from, to] = [opens, until].map(format(day).format);
  // Without their days, a range of two is written with dates in digits.
  const hasDay = from !== to || Math.abs(Date.now() - opens) >= DAY_MS;
  return format(hasDay ? { ...day, ...time } : time).formatRange(opens, until);
}
