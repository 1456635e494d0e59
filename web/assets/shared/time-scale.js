// @ts-check

/** Ticks of a time axis at round times of a time zone. The functions are pure. The charts of histories use them. */

/** The server renders the page in it. */
const language = document.documentElement.lang;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Distances of ticks, ms. */
const DISTANCES = [
  10_000,
  30_000,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  4 * DAY,
  7 * DAY,
  14 * DAY,
  28 * DAY,
  91 * DAY,
  364 * DAY,
];
/** From this span on, a date has its year. */
const YEAR_SPAN = 300 * DAY;

/**
 * @param {string} zone an IANA name
 * @returns {(time: number) => number} what the clocks of the zone are ahead of UTC, ms
 */
function offsetIn(zone) {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (time) => {
    /** @type {{ [type: string]: number }} */
    const parts = {};
    for (const { type, value } of format.formatToParts(time)) parts[type] = Number(value);
    return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) - Math.floor(time / 1_000) * 1_000;
  };
}

/**
 * @param {number} from ms since 1970
 * @param {number} to
 * @param {number} most ticks
 * @param {string} zone
 * @returns {{ at: number, label: string, isDay: boolean }[]} isDay: the tick is at the beginning of a day
 */
export function ticksOf(from, to, most, zone) {
  const span = to - from;
  const distance = DISTANCES.find((one) => span / one <= most) ?? Math.ceil(span / most / DAY) * DAY;
  const offset = offsetIn(zone);
  const day = new Intl.DateTimeFormat(language, {
    timeZone: zone,
    day: 'numeric',
    month: 'short',
    ...(span > YEAR_SPAN && { year: 'numeric' }),
  });
  const clock = new Intl.DateTimeFormat(language, {
    timeZone: zone,
    hour: 'numeric',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(distance < MINUTE && { second: '2-digit' }),
  });
  const ticks = [];
  // Steps by the clocks of the zone, which may have a day of 23 or 25 hours.
  for (let local = Math.ceil((from + offset(from)) / distance) * distance; ; local += distance) {
    const guess = local - offset(local);
    const at = local - offset(guess);
    if (at > to) return ticks;
    const isDay = local % DAY === 0;
    if (at >= from) ticks.push({ at, isDay, label: (isDay ? day : clock).format(at) });
  }
}

/**
 * @param {string} zone
 * @param {boolean} seconds
 * @returns {(time: number) => string} writes a moment in full
 */
export function momentFormat(zone, seconds) {
  const format = new Intl.DateTimeFormat(language, {
    timeZone: zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(seconds && { second: '2-digit' }),
  });
  return (time) => format.format(time);
}

/**
 * @param {import('../../kit/rankcast.js').Info} info
 * @returns {string} the time zone of a board; the reader's own for a board without one
 */
export function zoneOf({ period }) {
  return period?.timezone ?? (period?.every ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone);
}

/**
 * @param {number} ms whole seconds
 * @returns {string} in words, in the largest unit that divides it
 */
export function durationText(ms) {
  const [unit, length] = /** @type {const} */ ([
    ['day', DAY],
    ['hour', HOUR],
    ['minute', MINUTE],
  ]).find(([, length]) => ms % length === 0) ?? ['second', 1_000];
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(ms / length);
}
