// @ts-check

/** How long it is until a period ends, in words that change seldom. Pure. */

const SECOND = 1_000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * @param {number} ms until then
 * @returns {{ text: string, changesIn: number }} the words, '' when it is over; and after how many milliseconds
 *   they are others, Infinity for never
 */
export function timeLeft(ms) {
  if (ms <= 0) return { text: '', changesIn: Infinity };
  // Begun seconds count, so that the last word is 0:01.
  const left = Math.ceil(ms / SECOND);
  const unit = left < HOUR ? 1 : left < DAY ? MINUTE : HOUR;
  const shown = left - (left % unit);
  return { text: inWords(shown), changesIn: ms - (shown - 1) * SECOND };
}

/** @param {number} seconds */
function inWords(seconds) {
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}:${String(seconds % MINUTE).padStart(2, '0')}`;
  if (seconds < DAY) return words(Math.floor(seconds / HOUR), 'h', (seconds % HOUR) / MINUTE, 'min');
  return words(Math.floor(seconds / DAY), 'd', (seconds % DAY) / HOUR, 'h');
}

/**
 * @param {number} large
 * @param {string} largeUnit
 * @param {number} small
 * @param {string} smallUnit
 */
function words(large, largeUnit, small, smallUnit) {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}
