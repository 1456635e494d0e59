// @ts-check

/**
 * The list: a row for each entry, in order, made of a template. A row stays a
 * member's for as long as the member is shown, and glides to its next place.
 *
 * @import {Entry} from './rankcast.js'
 *
 * rank null: not known now; score null: none; gap: what the followed member lacks
 * @typedef {Omit<Entry, 'rank' | 'score'> & { rank: number | null, score: number | null, me?: boolean, below?: boolean, gap?: string }} Item
 */

import { numbers } from './format.js';

/** Long enough to follow with the eye, short enough to end between two changes of a busy board. */
const GLIDE_MS = 380;

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} name
 * @param {...(Node | string)} content
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function part(tag, name, ...content) {
  const element = document.createElement(tag);
  element.setAttribute('part', name);
  element.append(...content);
  return element;
}

/**
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {string | false | undefined} value false: without it
 */
export function setAttribute(element, name, value) {
  if (value === false || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * @param {HTMLElement} element
 * @param {string} name of a custom property
 * @param {number} value
 */
export function setProperty(element, name, value) {
  if (element.style.getPropertyValue(name) !== String(value)) element.style.setProperty(name, String(value));
}

/** @returns {DocumentFragment} what a row is made of where the page has no template */
function ownTemplate() {
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
  const content = document.createDocumentFragment();
  // Words read aloud, or copied, need the spaces that the layout does not.
  const who = part('span', 'who', field('img', 'avatar'), field('span', 'name', 'member'), ' ', field('span', 'gap'));
  content.append(field('span', 'rank'), ' ', who, ' ', field('span', 'score'));
  return content;
}

export class Row {
  element = part('li', 'row');
  /** As laid out; -1: not yet. */
  place = -1;
  /** @type {Animation | undefined} */
  glide;
  /** As written. @type {Item | null} */
  item = null;
  /** @type {HTMLElement[]} */
  #fields;

  /** @param {DocumentFragment} template */
  constructor(template) {
    this.element.append(template.cloneNode(true));
    this.#fields = [...this.element.querySelectorAll('[data-field]')].filter((field) => field instanceof HTMLElement);
  }

  /**
   * @param {Item} item
   * @param {(score: number) => string} format
   */
  write(item, format) {
    const before = this.item;
    if (before === item) return;
    this.item = item;
    const { element } = this;
    const { member, rank, score, me, below } = item;
    setAttribute(element, 'part', me ? 'row me' : 'row');
    setAttribute(element, 'aria-current', me && 'true');
    setAttribute(element, 'data-member', member);
    setAttribute(element, 'data-below', below && '');
    setAttribute(element, 'data-absent', score === null && '');
    setAttribute(element, 'data-podium', !below && rank !== null && rank <= 3 && String(rank));
    for (const field of this.#fields) {
      const name = field.dataset.field ?? '';
      if (field instanceof HTMLImageElement) writeImage(field, item.avatar, (shown) => element.toggleAttribute('data-avatar', shown));
      else setText(field, this.#text(name, item, format));
      if (name === 'name') field.title = member;
    }
    // Another value each time has the flash begin again. (Each call of animate() for it would
    // have the browser compute styles, row after row.)
    if (before && before.score !== score) setAttribute(element, 'data-changed', element.dataset.changed === '1' ? '2' : '1');
  }

  /**
   * @param {string} field
   * @param {Item} item
   * @param {(score: number) => string} format
   */
  #text(field, { member, name, rank, score, gap, data }, format) {
    if (field === 'rank') return rank !== null ? numbers.format(rank) : score === null ? '' : '…';
    if (field === 'name') return name || member;
    if (field === 'member') return member;
    if (field === 'score') return score === null ? '' : format(score);
    if (field === 'gap') return gap ?? '';
    /** @type {any} */
    let value = { data };
    for (const step of field.split('.')) value = value?.[step];
    return typeof value === 'object' ? '' : String(value ?? '');
  }

  /**
   * @param {Keyframe} from where it was seen
   * @param {Keyframe} to in the same properties: for one that is left away the browser would compute styles
   */
  move(from, to) {
    this.glide?.cancel();
    this.glide = this.element.animate([from, to], { duration: GLIDE_MS, easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)' });
  }
}

export class RowList {
  element = part('ol', 'list');
  /** The rows shown, by member. @type {Map<string, Row>} */
  rows = new Map();
  #template = ownTemplate();
  #format = numbers.format;

  constructor() {
    // Without the role, Safari takes a list without markers for no list.
    this.element.setAttribute('role', 'list');
  }

  /** @param {DocumentFragment} template what rows are made of from now on */
  use(template) {
    if (template === this.#template) return;
    this.#template = template;
    this.rows = new Map();
    this.element.replaceChildren();
  }

  /**
   * Glides by FLIP: measure, write, measure, and animate from where a row was seen
   * to where it now belongs. All reads come before or after all writes, so that a
   * render costs one layout.
   *
   * @param {readonly Item[]} items
   * @param {(score: number) => string} format
   * @param {boolean} moves
   */
  write(items, format, moves) {
    /** @type {Map<string, Row>} */
    const rows = new Map();
    for (const { member } of items) rows.set(member, this.rows.get(member) ?? new Row(this.#template));
    const order = [...rows.values()];
    if (format !== this.#format) for (const row of order) row.item = null;
    this.#format = format;

    /** @type {Map<Row, number>} */
    const seenAt = new Map();
    if (moves) {
      order.forEach((row, place) => {
        if (row.place >= 0 && row.place !== place) seenAt.set(row, row.element.getBoundingClientRect().top);
      });
    }

    for (const [member, row] of this.rows) if (!rows.has(member)) row.element.remove();
    this.rows = rows;
    /** @type {Row[]} */
    const entered = [];
    let there = this.element.firstElementChild;
    order.forEach((row, place) => {
      if (there === row.element) there = there.nextElementSibling;
      else this.element.insertBefore(row.element, there);
      if (row.place < 0) entered.push(row);
      row.place = place;
      row.write(items[place], format);
    });

    if (!moves) return;
    for (const row of seenAt.keys()) row.glide?.cancel();
    const distances = [...seenAt].map(([row, before]) => {
      const now = row.element.getBoundingClientRect().top;
      return isNearView(before) || isNearView(now) ? before - now : 0;
    });
    [...seenAt.keys()].forEach((row, i) => {
      if (!distances[i]) return;
      row.element.style.zIndex = distances[i] > 0 ? '1' : '0'; // who rises is seen
      row.move({ transform: `translateY(${distances[i]}px)` }, { transform: 'none' });
    });
    for (const row of entered) row.move({ opacity: 0, transform: 'translateY(0.5em)' }, { opacity: 1, transform: 'none' });
  }
}

// A thousand rows may move at once; only those that can be seen are animated.
/** @param {number} y pixels from the top of the window */
function isNearView(y) {
  return y > -innerHeight / 2 && y < innerHeight * 1.5;
}

/**
 * Shows an image of this site, or one by https where the page's policy lets it load;
 * one that does not load leaves no trace.
 *
 * @param {HTMLImageElement} image
 * @param {string | undefined} avatar
 * @param {(shown: boolean) => void} [onShown]
 */
export function writeImage(image, avatar, onShown) {
  let url = '';
  if (avatar && URL.canParse(avatar, location.href)) {
    const { origin, protocol, href } = new URL(avatar, location.href);
    if (avatar.startsWith('/') ? origin === location.origin : /^https:\/\//i.test(avatar) && protocol === 'https:') url = href;
  }
  if (url === image.dataset.src) return;
  image.dataset.src = url;
  const show = (/** @type {boolean} */ shown) => {
    image.hidden = !shown;
    onShown?.(shown);
  };
  show(url !== '');
  image.alt = ''; // the name beside it says who it is
  image.loading = 'lazy';
  image.decoding = 'async';
  image.referrerPolicy = 'no-referrer';
  image.onerror = () => show(false);
  if (url) image.src = url;
  else image.removeAttribute('src');
}
