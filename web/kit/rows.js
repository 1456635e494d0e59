// @ts-check

/**
 * The list of the element: one row for each entry, in order, made from a template. A member
 * keeps its row while the list shows the member, and the row glides to its new place.
 *
 * @import {Entry} from './rankcast.js'
 *
 * rank null: not known now; score null: none; gap: the score between the followed member and the place above
 * @typedef {Omit<Entry, 'rank' | 'score'> & { rank: number | null, score: number | null, me?: boolean, below?: boolean, gap?: string }} Item
 */

import { numbers } from './format.js';

/** Long enough for the eye to follow, short enough to end between two changes of a busy board. */
const GLIDE_MS = 380;

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} name of the CSS part
 * @param {...(Node | string)} content
 * @returns {HTMLElementTagNameMap[Tag]} a new element
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
 * @param {string | false | undefined} value false or undefined: removes the attribute
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

/** The other origins whose images a page of the server shows. Undefined on a page of another site, whose policy decides. */
const avatarOrigins = document.querySelector('meta[name=rankcast-avatar-origins]')?.getAttribute('content')?.split(' ');

/**
 * Shows an image of this site, or one by https if the page's policy allows it. An image that
 * does not load is hidden.
 *
 * @param {HTMLImageElement} image
 * @param {string | undefined} avatar
 * @param {(shown: boolean) => void} [onShown]
 */
export function setAvatar(image, avatar, onShown) {
  let url = '';
  if (avatar && URL.canParse(avatar, location.href)) {
    const { origin, protocol, href } = new URL(avatar, location.href);
    const isOwn = origin === location.origin;
    const isAllowed = avatarOrigins ? isOwn || avatarOrigins.includes(origin) : protocol === 'https:';
    if (avatar.startsWith('/') ? isOwn : /^https?:\/\//i.test(avatar) && isAllowed) url = href;
  }
  if (url === image.dataset.src) return;
  image.dataset.src = url;
  const show = (/** @type {boolean} */ shown) => {
    image.hidden = !shown;
    onShown?.(shown);
  };
  show(url !== '');
  image.alt = ''; // the name stands beside the image
  image.loading = 'lazy';
  image.decoding = 'async';
  image.referrerPolicy = 'no-referrer';
  image.onerror = () => show(false);
  if (url) image.src = url;
  else image.removeAttribute('src');
}
/** @returns {DocumentFragment} the content of a row unless the page has a template */
function defaultTemplate() {
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
  // The layout needs no spaces, but text that is read aloud or copied does.
  const who = part('span', 'who', field('img', 'avatar'), field('span', 'name', 'member'), ' ', field('span', 'gap'));
  content.append(field('span', 'rank'), ' ', who, ' ', field('span', 'score'));
  return content;
}

export class Row {
  element = part('li', 'row');
  /** Place in the list as rendered; -1: new. */
  index = -1;
  /** @type {Animation | undefined} */
  glide;
  /** As rendered. @type {Item | null} */
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
  render(item, format) {
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
      if (field instanceof HTMLImageElement) setAvatar(field, item.avatar, (shown) => element.toggleAttribute('data-avatar', shown));
      else setText(field, this.#text(name, item, format));
      if (name === 'name') field.title = member;
    }
    // A value that alternates restarts the flash. (With a call of animate(), the browser would
    // compute styles for each row.)
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
    for (const key of field.split('.')) value = value?.[key];
    return typeof value === 'object' ? '' : String(value ?? '');
  }

  /**
   * @param {Keyframe} from
   * @param {Keyframe} to with the same properties as `from`: the browser computes styles for an absent one
   */
  animate(from, to) {
    this.glide?.cancel();
    this.glide = this.element.animate([from, to], { duration: GLIDE_MS, easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)' });
  }
}

export class RowList {
  element = part('ol', 'list');
  /** By member, in order. @type {Map<string, Row>} */
  rows = new Map();
  #template = defaultTemplate();
  #format = numbers.format;

  constructor() {
    // Without the role, Safari does not treat a list without markers as a list.
    this.element.setAttribute('role', 'list');
  }

  /** @param {DocumentFragment} template the content of each row from now on */
  use(template) {
    if (template === this.#template) return;
    this.#template = template;
    this.rows = new Map();
    this.element.replaceChildren();
  }

  /**
   * Rows glide by the FLIP technique: measure, write, measure again, and animate each row from
   * its old place to its new one. All reads come before or after all writes, so that a render
   * costs one layout.
   *
   * @param {readonly Item[]} items
   * @param {(score: number) => string} format
   * @param {boolean} moves whether rows glide
   */
  render(items, format, moves) {
    /** @type {Map<string, Row>} */
    const rows = new Map();
    for (const { member } of items) rows.set(member, this.rows.get(member) ?? new Row(this.#template));
    const order = [...rows.values()];
    if (format !== this.#format) for (const row of order) row.item = null;
    this.#format = format;

    /** @type {Map<Row, number>} */
    const topBefore = new Map();
    if (moves) {
      order.forEach((row, index) => {
        if (row.index >= 0 && row.index !== index) topBefore.set(row, row.element.getBoundingClientRect().top);
      });
    }

    for (const [member, row] of this.rows) if (!rows.has(member)) row.element.remove();
    this.rows = rows;
    /** @type {Row[]} */
    const entered = [];
    let next = this.element.firstElementChild;
    order.forEach((row, index) => {
      if (next === row.element) next = next.nextElementSibling;
      else this.element.insertBefore(row.element, next);
      if (row.index < 0) entered.push(row);
      row.index = index;
      row.render(items[index], format);
    });

    if (!moves) return;
    for (const row of topBefore.keys()) row.glide?.cancel();
    const distances = [...topBefore].map(([row, before]) => {
      const now = row.element.getBoundingClientRect().top;
      return isNearView(before) || isNearView(now) ? before - now : 0;
    });
    [...topBefore.keys()].forEach((row, i) => {
      if (!distances[i]) return;
      row.element.style.zIndex = distances[i] > 0 ? '1' : '0'; // a row that rises passes over the others
      row.animate({ transform: `translateY(${distances[i]}px)` }, { transform: 'none' });
    });
    for (const row of entered) row.animate({ opacity: 0, transform: 'translateY(0.5em)' }, { opacity: 1, transform: 'none' });
  }
}

// A thousand rows may move at once. Only rows near the visible area are animated.
/** @param {number} y pixels from the top of the window */
function isNearView(y) {
  return y > -innerHeight / 2 && y < innerHeight * 1.5;
}
