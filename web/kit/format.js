// @ts-check

/**
 * Text that the element shows: numbers, scores, times and words in the language of the page.
 * All other modules of the kit, and the pages of this server, take their formats from here.
 *
 * @import {Display, Frozen, Label} from './rankcast.js'
 */

/** The element's words. A page in another language replaces them before it shows an element. */
export const words = {
  connecting: 'Connecting…',
  live: 'Live',
  final: 'Final',
  frozen_since: 'Standings are frozen since {time}',
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
  column: '{column} {score}',
  column_gap: '{score} {column}',
  column_less: '{score} less {column}',
  level: 'level with the next',
  no_score: 'has no score yet',
  absent: 'has no score',
  no_scores: 'No scores',
  no_scores_yet: 'No scores yet',
  unreachable: 'The server can’t be reached.',
  no_board: 'board is missing: <live-leaderboard board="stars">',
  no_token: 'There is no token yet. Trying again…',
  unauthorized: 'You need a valid token to see this board.',
  forbidden: 'Your token is not for this board.',
  unknown_board: 'There is no board “{board}”.',
  unknown_period: 'There is no such period, yet or any more.',
  is_over: '{period} is over.',
  was_first: '{period} is over: {name} was first with {score}.',
  begins: '{period} has begun.',
  shown: '{period} is shown now.',
  leads: '{name} leads with {score}.',
  at_rank: '{name} is at rank {rank}.',
  lost: '{name} has no score.',
  top: 'Top {n} of {board}',
  passed: '{name} passed {other} for No. {rank}',
  closing: '{name} is {score} behind {other}, closing',
  result: 'Final result, {time}',
  winner: '{name} wins',
  tie: 'A tie for first place',
  ahead: '{score} ahead of {name}',
  revealed: '{name} has {score}: No. {rank}.',
  revealed_from: '{name} had {before} and has {score}: from No. {from} to No. {rank}.',
  new: 'new',
  all_revealed: 'All is revealed',
  wins: '{name} wins with {score}',
  goal_left: '{score} to go',
  goal_level: 'level {n} of {count}',
  goal_reached: 'Goal reached',
  goal_told: '{name} has reached the goal of {score}.',
};

/** The language of the page. @type {string | undefined} */
export let language;
try {
  [language] = Intl.NumberFormat.supportedLocalesOf(document.documentElement.lang || []);
} catch {
  // The page's `lang` is not a language tag: the browser's own language applies.
}
export const numbers = new Intl.NumberFormat(language);
/** Dates with times and their zone. @type {Intl.DateTimeFormatOptions} */
export const dateParts = { year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', timeZoneName: 'short' };
export const dates = new Intl.DateTimeFormat(language, dateParts);
/** Dates without a time, for a line with little room. */
export const plainDates = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
const clockTimes = new Intl.DateTimeFormat(language, { timeStyle: 'short' });
export const times = new Intl.DateTimeFormat(language, { timeStyle: 'medium' });
export const plurals = new Intl.PluralRules(language);

/**
 * Puts values into a text. A value never changes the direction of the text around it: a name in
 * a right-to-left script is isolated; characters that change directions or end lines are removed.
 *
 * @param {string} text with names in braces, such as `{n} members`
 * @param {{ [name: string]: string | number }} values numbers are written in the page's language
 */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    if (typeof value === 'number') return numbers.format(value);
    const plain = value.replace(/[\u2028-\u202e\u2066-\u2069]/g, '');
    return /[\u0590-\u08ff\u200f\ufb1d-\ufefc]/.test(plain) ? `\u2068${plain}\u2069` : plain;
  });
}

/**
 * @param {keyof typeof words} word
 * @param {{ [name: string]: string | number }} [values]
 * @returns {string} the element's text of that name
 */
export function phrase(word, values = {}) {
  return fill(words[word], values);
}

/**
 * @param {string} score as scoreFormat writes it
 * @returns {[number: string, unit: string]} since the unit is small, or stands once for a list; no unit: ''
 */
export function scorePieces(score) {
  const end = score.indexOf(' ');
  return end < 0 ? [score, ''] : [score.slice(0, end), score.slice(end + 1)];
}

/**
 * @param {string} score as scoreFormat writes it
 * @returns {string} as a difference of two scores: of a time, without the minutes and tens of seconds that are none, such as 0.226
 */
export function gapText(score) {
  return score.replace(/^0:0?/, '');
}

/**
 * @param {Frozen} frozen
 * @returns {string} since when the board stands still: a time, with its date if that is another one
 */
export function frozenText({ since }) {
  const at = new Date(since);
  const format = at.toDateString() === new Date().toDateString() ? clockTimes : dates;
  return phrase('frozen_since', { time: format.format(at) });
}

/** @param {number} n */
export function memberCount(n) {
  return phrase(plurals.select(n) === 'one' ? 'members_one' : 'members_other', { n });
}

/** The language of labels; null: that of the page. @type {string | null} */
let labelLanguage = null;

/** @param {string} tag of a language of labels that the page's own words may not have */
export function setLabelLanguage(tag) {
  labelLanguage = tag;
}

/**
 * @param {Label | undefined} label
 * @param {string} [tag] default: the language of labels
 * @returns {string} '' without a label
 */
export function textIn(label, tag) {
  return typeof label === 'object' ? label[tagIn(label, tag)] : (label ?? '');
}

/**
 * Chooses as the server does, see definition.Label.TagFor.
 *
 * @param {{ readonly [tag: string]: string }} label
 * @param {string} [tag]
 * @returns {string} the tag of the text that textIn returns
 */
export function tagIn(label, tag = labelLanguage ?? language ?? document.documentElement.lang) {
  const tags = Object.keys(label).sort();
  /** @param {(tag: string) => boolean} matches */
  const find = (matches) => tags.find((tag) => matches(tag.toLowerCase()));
  const wanted = tag.toLowerCase();
  const [base] = wanted.split('-');
  let found;
  for (let shorter = wanted; shorter && !found; shorter = shorter.slice(0, Math.max(shorter.lastIndexOf('-'), 0))) {
    found = find((tag) => tag === shorter);
  }
  return found ?? find((tag) => tag.startsWith(`${base}-`)) ?? find((tag) => tag === 'en' || tag.startsWith('en-')) ?? tags[0];
}

/**
 * @param {Display} display
 * @param {number} [maxLength] a number with more characters is abbreviated: 12,345,678,901 as 12.35B. Default: none
 * @returns {(score: number) => string}
 */
export function scoreFormat({ format, unit, decimals = 0 }, maxLength = Infinity) {
  const digits = new Intl.NumberFormat(language, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  const compact = new Intl.NumberFormat(language, { notation: 'compact', maximumSignificantDigits: 4 });
  /** @param {number} score */
  const text = (score) => {
    if (format === 'time_ms') return formatDuration(score);
    const value = /** @type {any} */ (`${score}e-${decimals}`);
    const whole = digits.format(value);
    return whole.length > maxLength ? compact.format(value) : whole;
  };
  const units = textIn(unit);
  if (!units) return text;
  // Of one, and of other numbers.
  const [one, others = one] = units.split('|');
  return (score) => {
    const number = text(score);
    return `${number} ${number === '1' ? one : others}`;
  };
}

/** @param {number} ms 83456 is 1:23.456 */
function formatDuration(ms) {
  const left = Math.abs(ms);
  const hours = Math.floor(left / 3_600_000);
  const minutes = Math.floor(left / 60_000) % 60;
  const seconds = ((left % 60_000) / 1_000).toFixed(3);
  return `${ms < 0 ? '-' : ''}${hours ? `${hours}:${pad(minutes)}` : minutes}:${pad(seconds, 6)}`;
}

/**
 * @param {number | string} n
 * @param {number} [length]
 */
function pad(n, length = 2) {
  return String(n).padStart(length, '0');
}

/**
 * Formats a countdown so that its text changes seldom.
 *
 * @param {number} ms the time left; NaN: none ends
 * @returns {{ text: string, changesIn: number }} '' when no time is left; the time until the text changes, ms
 */
export function timeLeft(ms) {
  if (!(ms > 0)) return { text: '', changesIn: Infinity };
  // A second that has begun counts, so that the last text is 0:01.
  const left = Math.ceil(ms / 1_000);
  const unit = left < 3_600 ? 1 : left < 86_400 ? 60 : 3_600;
  const shown = left - (left % unit);
  const days = Math.floor(shown / 86_400);
  const hours = Math.floor(shown / 3_600) % 24;
  const minutes = Math.floor(shown / 60) % 60;
  const text =
    unit === 1
      ? `${minutes}:${pad(shown % 60)}`
      : [days && phrase('days', { n: days }), hours && phrase('hours', { n: hours }), minutes && phrase('minutes', { n: minutes })]
          .filter(Boolean)
          .join(' ');
  return { text, changesIn: ms - (shown - 1) * 1_000 };
}
