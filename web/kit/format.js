// @ts-check

/**
 * Numbers, scores and times in words, in the page's language. Pure.
 *
 * @import {Display} from './rankcast.js'
 */

/** What the element says. A page in another language puts its own words in. */
export const words = {
  connecting: 'Connecting…',
  live: 'Live',
  final: 'Final',
  stale: 'Scores paused',
  stale_since: 'Scores paused, as of {time}',
  away: 'Reconnecting…',
  paused: 'Paused',
  stopped: 'Stopped',
  ends: 'ends in {left}',
  ends_now: 'ends now',
  ended: 'ended {time}',
  days: '{n} d',
  hours: '{n} h',
  minutes: '{n} min',
  members_one: '{n} member',
  members_other: '{n} members',
  to_next: '{score} to next',
  level: 'level with the next',
  no_score: 'has no score yet',
  no_scores: 'No scores',
  no_scores_yet: 'No scores yet',
  unreachable: 'The server can’t be reached.',
  unknown_board: 'There is no such board.',
  unknown_period: 'There is no such period, yet or any more.',
  is_over: '{period} is over.',
  was_first: '{period} is over: {name} was first with {score}.',
  begins: '{period} has begun.',
  shown: '{period} is shown now.',
  leads: '{name} leads with {score}.',
  at_rank: '{name} is at rank {rank}.',
  lost: '{name} has no score.',
  top: 'Top {n} of {board}',
};

/** The page's. @type {string | undefined} */
let language;
try {
  [language] = Intl.NumberFormat.supportedLocalesOf(document.documentElement.lang || []);
} catch {
  // Its `lang` is none: the browser's own.
}
export const numbers = new Intl.NumberFormat(language);
export const dates = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
const times = new Intl.DateTimeFormat(language, { timeStyle: 'medium' });
const plural = new Intl.PluralRules(language);

/**
 * A name turns nothing around it: one that is written from the right is kept apart, signs that turn text are left out.
 *
 * @param {string} text with names in braces
 * @param {{ [name: string]: string | number }} values
 */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    if (typeof value === 'number') return numbers.format(value);
    const plain = value.replace(/[\u202a-\u202e\u2066-\u2069]/g, '');
    return /[\u0590-\u08ff\ufb1d-\ufefc]/.test(plain) ? `\u2068${plain}\u2069` : plain;
  });
}

/**
 * @param {keyof typeof words} word
 * @param {{ [name: string]: string | number }} [values]
 */
export function say(word, values = {}) {
  return fill(words[word], values);
}

/**
 * @param {number} n
 * @returns {string} the form of a word for so many
 */
export function form(n) {
  return plural.select(n);
}

/** @param {number} n */
export function members(n) {
  return say(form(n) === 'one' ? 'members_one' : 'members_other', { n });
}

/** @param {string} at RFC 3339 */
export function timeOf(at) {
  return times.format(new Date(at));
}

/**
 * @param {Display} display
 * @returns {(score: number) => string}
 */
export function scoreFormat({ format, unit, decimals = 0 }) {
  const digits = new Intl.NumberFormat(language, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  /** @param {number} score */
  const text = (score) => (format === 'time_ms' ? duration(score) : digits.format(/** @type {any} */ (`${score}e-${decimals}`)));
  return unit ? (score) => `${text(score)} ${unit}` : text;
}

/** @param {number} ms 83456 is 1:23.456 */
function duration(ms) {
  const left = Math.abs(ms);
  const hours = Math.floor(left / 3_600_000);
  const minutes = Math.floor(left / 60_000) % 60;
  const seconds = ((left % 60_000) / 1_000).toFixed(3);
  return `${ms < 0 ? '−' : ''}${hours ? `${hours}:${two(minutes)}` : minutes}:${two(seconds, 6)}`;
}

/**
 * @param {number | string} n
 * @param {number} [length]
 */
function two(n, length = 2) {
  return String(n).padStart(length, '0');
}

/**
 * How long it is until then, in words that change seldom.
 *
 * @param {number} ms until then
 * @returns {{ text: string, changesIn: number }} '' when it is over; after how many ms it is another
 */
export function timeLeft(ms) {
  if (ms <= 0) return { text: '', changesIn: Infinity };
  // Begun seconds count, so that the last word is 0:01.
  const left = Math.ceil(ms / 1_000);
  const unit = left < 3_600 ? 1 : left < 86_400 ? 60 : 3_600;
  const shown = left - (left % unit);
  const days = Math.floor(shown / 86_400);
  const hours = Math.floor(shown / 3_600) % 24;
  const minutes = Math.floor(shown / 60) % 60;
  const text =
    unit === 1
      ? `${minutes}:${two(shown % 60)}`
      : [days && say('days', { n: days }), hours && say('hours', { n: hours }), minutes && say('minutes', { n: minutes })].filter(Boolean).join(' ');
  return { text, changesIn: ms - (shown - 1) * 1_000 };
}
