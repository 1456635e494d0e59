// @ts-check

/**
 * A row of the element's list: an entry in the content of a template, and what the row shows of its past.
 *
 * @import {Display, Entry} from './rankcast.js'
 *
 * rank null: not known now; score null: none; gap: the score between the followed member and the place above
 * @typedef {Omit<Entry, 'rank' | 'score'> & { rank: number | null, score: number | null, me?: boolean, below?: boolean,
 *   gap?: string }} Item
 *
 * exact: a score; short: one that may be abbreviated; gap: between two entries, without the unit; toNext: what is missing for the
 * place above; render: shows the score of a row in a way of its own, as that of columns
 * @typedef {{ exact: Format, short: Format, gap: GapFormat, toNext: GapFormat, render?: Render }} Formats
 *
 * A board with columns writes those of the entry.
 * @typedef {(score: number, entry?: Scored) => string} Format
 * @typedef {{ readonly columns?: { readonly [name: string]: number } }} Scored
 *
 * A board with columns writes those of the two entries, or of what the server says about the followed member.
 * @typedef {(gap: number, above?: Scored & { readonly to_next_columns?: { readonly [name: string]: number } }, entry?: Scored) => string}
 *   GapFormat
 *
 * before: from which the figures roll; null: they do not
 * @typedef {(field: HTMLElement, item: Item, before: Item | null, formats: Formats) => void} Render
 */

import { part, setAttribute, setProperty, setText } from './dom.js';
import { gapText, numbers, scoreFormat, scorePieces } from './format.js';
import { hueOf, initialOf, setAvatar } from './portrait.js';

/** Long enough for the eye to follow, short enough to end between two changes of a busy board. A longer way takes more time. */
const [GLIDE_MS, LONG_GLIDE_MS] = [500, 650];
/** A row that rises comes towards the eye on its way. */
const LIFT = [1, 1.03, 1.03, 1];
/** A score that follows the one before within this time neither rolls nor shows what it gained: nobody could read it. */
const CALM_MS = 600;
/** A number with more characters is abbreviated. */
const FULL_LENGTH = 13;

/**
 * @param {Display} display
 * @returns {Formats}
 */
export function formatsOf(display) {
  const format = scoreFormat({ ...display, unit: undefined }, FULL_LENGTH);
  const gap = (/** @type {number} */ score) => gapText(format(score));
  return { exact: scoreFormat(display), short: scoreFormat(display, FULL_LENGTH), gap, toNext: gap };
}

/**
 * @param {boolean} picks whether the row's name is a button
 * @returns {DocumentFragment} the content of a row unless the page has a template
 */
function defaultTemplate(picks) {
  /**
   * @template {keyof HTMLElementTagNameMap} Tag
   * @param {Tag} tag
   * @param {string} name
   */
  const field = (tag, name, as = name) => {
    const element = part(tag, as);
    element.dataset.field = name;
    return element;
  };
  const portrait = field('span', 'portrait');
  portrait.append(field('img', 'avatar'));
  const content = document.createDocumentFragment();
  // The layout needs no spaces, but text that is read aloud or copied does.
  const who = part(
    picks ? 'button' : 'span',
    'who',
    field('span', 'move'),
    portrait,
    field('span', 'name', 'member'),
    ' ',
    field('span', 'gap'),
  );
  content.append(field('span', 'rank'), ' ', who, ' ', field('span', 'score'));
  return content;
}

export const plainTemplate = defaultTemplate(false);
/** For a list from which the page's user picks a member. */
export const pickTemplate = defaultTemplate(true);

export class Row {
  element = part('li', 'row');
  /** Place in the list as rendered; -1: new. */
  index = -1;
  /** @type {Animation | undefined} */
  glide;
  /** @type {Animation | undefined} */
  #lift;
  /** As rendered. @type {Item | null} */
  item = null;
  /** @type {HTMLElement[]} */
  #fields;
  /** When the score last changed. */
  #changedAt = -Infinity;

  /** @param {DocumentFragment} template */
  constructor(template) {
    this.element.append(template.cloneNode(true));
    this.#fields = [...this.element.querySelectorAll('[data-field]')].filter((field) => field instanceof HTMLElement);
  }

  /**
   * @param {Item} item
   * @param {Formats} formats
   * @param {boolean} rolls whether a new score rolls in
   */
  render(item, formats, rolls) {
    const before = this.item;
    if (before === item) return;
    this.item = item;
    const { element } = this;
    const { member, rank, score, me, below } = item;
    setAttribute(element, 'part', me ? 'row me' : 'row');
    setAttribute(element, 'aria-current', me && 'true');
    setAttribute(element, 'data-member', member);
    if (!before) setProperty(element, '--_hue', hueOf(member));
    setAttribute(element, 'data-below', below && '');
    setAttribute(element, 'data-absent', score === null && '');
    setAttribute(element, 'data-podium', !below && rank !== null && rank <= 3 && String(rank));
    const changed = before !== null && before.score !== score;
    const now = changed ? performance.now() : 0;
    const looksTheSame = before && before.name === item.name && before.avatar === item.avatar;
    for (const field of this.#fields) {
      const name = field.dataset.field ?? '';
      if (name === 'score') {
        if (!before || changed)
          (formats.render ?? renderScore)(field, item, changed && rolls && now - this.#changedAt > CALM_MS ? before : null, formats);
      } else if (field instanceof HTMLImageElement) {
        if (!looksTheSame) setAvatar(field, item.avatar);
      } else if (name === 'gap' && rolls && before?.gap && item.gap) {
        if (before.gap !== item.gap) roll(field, item.gap);
      } else if (name !== 'portrait') setText(field, this.#text(name, item));
      else if (!looksTheSame) setAttribute(field, 'data-initial', initialOf(item.name || member));
      if (name === 'name') field.title = member;
    }
    if (!changed) return;
    this.#changedAt = now;
    // A value that alternates restarts the flash. (With a call of animate(), the browser would
    // compute styles for each row.)
    setAttribute(element, 'data-changed', element.dataset.changed === '1' ? '2' : '1');
  }

  /**
   * @param {string} field
   * @param {Item} item
   */
  #text(field, { member, name, rank, score, gap, data }) {
    if (field === 'rank') return rank !== null ? numbers.format(rank) : score === null ? '' : '…';
    /** @type {any} */
    let value = { name: name || member, member, gap, data };
    for (const key of field.split('.')) value = new Map(value === Object(value) ? Object.entries(value) : []).get(key);
    return typeof value === 'object' ? '' : String(value ?? '');
  }

  /**
   * @param {Keyframe} from
   * @param {Keyframe} to with the same properties as `from`: the browser computes styles for an absent one
   * @param {number} [duration] ms
   */
  animate(from, to, duration = GLIDE_MS) {
    this.rest();
    this.glide = this.element.animate([from, to], { duration, easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)' });
  }

  /**
   * Glides to the row's place.
   *
   * @param {number} y where it was, px below that place
   */
  glideFrom(y) {
    const duration = Math.min(GLIDE_MS + Math.abs(y) / 4, LONG_GLIDE_MS);
    this.animate({ transform: `translateY(${y}px)` }, { transform: 'none' }, duration);
    if (y > 0) this.#lift = this.element.animate({ scale: LIFT }, { duration, easing: 'ease-in-out' });
  }

  /** Ends the animations. */
  rest() {
    this.glide?.cancel();
    this.#lift?.cancel();
  }
}

/**
 * @param {HTMLElement} field
 * @param {Item} item
 * @param {Item | null} before from whose score the digits roll; null: they do not
 * @param {Formats} formats
 */
function renderScore(field, { score }, before, { exact, short, gap }) {
  const text = score === null ? '' : short(score);
  const whole = score === null ? '' : exact(score);
  const from = before?.score ?? null;
  setAttribute(field, 'title', text !== whole && whole);
  setAttribute(field, 'data-gain', score !== null && from !== null && (score > from ? '+' : '-') + gap(Math.abs(score - from)));
  setAttribute(field, 'data-columns', false);
  // The unit is a part of its own: a narrow list shows it once.
  const [number, unit] = scorePieces(text);
  const written = unit ? `${number} ` : number;
  const units = unit ? [part('small', 'score-unit', unit)] : [];
  setProperty(field, '--_score', written.length);
  field.querySelector('small')?.remove();
  if (from === null) field.replaceChildren(written, ...units);
  else roll(field, written, ...units);
}

/**
 * Writes a text so that what differs from the present one rolls in. Styles do it: a pseudo-element holds the digits of
 * before, so the text of the field is the new one at once.
 *
 * @param {HTMLElement} field
 * @param {string} text
 * @param {...Node} more follows the text
 */
export function roll(field, text, ...more) {
  const before = field.textContent ?? '';
  const least = Math.min(before.length, text.length);
  let end = 0;
  while (end < least && before.at(-1 - end) === text.at(-1 - end)) end++;
  let start = 0;
  while (start < least - end && before[start] === text[start]) start++;
  const digits = part('span', 'digits', text.slice(start, text.length - end));
  digits.dataset.before = before.slice(start, before.length - end);
  digits.onanimationend = () => field.replaceChildren(text, ...more);
  field.replaceChildren(text.slice(0, start), part('span', 'roll', digits), text.slice(text.length - end), ...more);
}
