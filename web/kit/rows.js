// @ts-check

/**
 * The list of the element: one row for each entry, in order, made from a template. A member
 * keeps its row while the list shows the member, and the row glides to its new place.
 *
 * @import {Entry} from './rankcast.js'
 *
 * rank null: not known now; score null: none; gap: the score between the followed member and the place above
 * @typedef {Omit<Entry, 'rank' | 'score'> & { rank: number | null, score: number | null, me?: boolean, below?: boolean, gap?: string }} Item
 *
 * exact: a score; short: one that may be abbreviated; gap: that without the unit
 * @typedef {{ exact: Format, short: Format, gap: Format }} Formats
 * @typedef {(score: number) => string} Format
 */

import { numbers } from './format.js';

/** Long enough for the eye to follow, short enough to end between two changes of a busy board. */
const GLIDE_MS = 380;
/** How long a row shows that its rank has changed. */
const MOVE_MS = 10_000;
/** How long the row of a new leader shines, as in style.css. */
const SHINE_MS = 2_000;
/** Least time between two celebrations: a lead that changes all the time is not worth one. */
const CELEBRATION_MS = 10_000;
/** A score that follows the one before within this time neither rolls nor shows what it gained: nobody could read it. */
const CALM_MS = 600;
/** More scores than these at once do not roll either. */
const MAX_ROLLING = 12;
/** Longer scores have a smaller font: those beyond a number of 13 characters, which is not abbreviated. */
const FULL_LENGTH = 13;

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
 */
export function setAvatar(image, avatar) {
  let url = '';
  if (avatar && URL.canParse(avatar, location.href)) {
    const { origin, protocol, href } = new URL(avatar, location.href);
    const isOwn = origin === location.origin;
    const isAllowed = avatarOrigins ? isOwn || avatarOrigins.includes(origin) : protocol === 'https:';
    if (avatar.startsWith('/') ? isOwn : /^https?:\/\//i.test(avatar) && isAllowed) url = href;
  }
  if (url === image.dataset.src) return;
  image.dataset.src = url;
  image.hidden = !url;
  image.alt = ''; // the name stands beside the image
  image.loading = 'lazy';
  image.decoding = 'async';
  image.referrerPolicy = 'no-referrer';
  image.onerror = () => (image.hidden = true);
  if (url) image.src = url;
  else image.removeAttribute('src');
}

/**
 * @param {string} name
 * @returns {string} its first letter or number; '' without one. The server chooses the same (server/pages/portrait.go)
 */
export function initialOf(name) {
  return /[\p{L}\p{Nd}]/u.exec(name)?.[0].toUpperCase() ?? '';
}

/**
 * @param {string} id of a member
 * @returns {number} the hue of its color, 0 to 359: always the same. The server chooses the same (server/pages/portrait.go)
 */
export function hueOf(id) {
  let hash = 0;
  for (const byte of new TextEncoder().encode(id)) hash = (31 * hash + byte) % 360;
  return (137 * hash) % 360; // ids that follow each other have colors far apart
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
  const who = part(picks ? 'button' : 'span', 'who', portrait, field('span', 'name', 'member'), ' ', field('span', 'gap'));
  content.append(field('span', 'rank'), ' ', who, ' ', field('span', 'score'));
  return content;
}

const plainTemplate = defaultTemplate(false);
/** For a list from which the page's user picks a member. */
export const pickTemplate = defaultTemplate(true);

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
  /** When the score last changed. */
  #changedAt = -Infinity;
  /** The length of the text of the score, if it has a smaller font. */
  #length = 0;
  /** The rank with which the present one is compared. @type {number | null} */
  #from = null;
  #fromAt = -Infinity;
  /** When the rank last changed. */
  movedAt = -Infinity;

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
    setAttribute(element, 'data-below', below && '');
    setAttribute(element, 'data-absent', score === null && '');
    setAttribute(element, 'data-podium', !below && rank !== null && rank <= 3 && String(rank));
    const changed = before !== null && before.score !== score;
    const now = changed ? performance.now() : 0;
    for (const field of this.#fields) {
      const name = field.dataset.field ?? '';
      if (name === 'score') {
        if (!before || changed) this.#renderScore(field, item, changed && rolls && now - this.#changedAt > CALM_MS ? before.score : null, formats);
      } else if (field instanceof HTMLImageElement) setAvatar(field, item.avatar);
      else if (name !== 'portrait') setText(field, this.#text(name, item));
      else {
        setAttribute(field, 'data-initial', initialOf(item.name || member));
        setProperty(field, '--_hue', hueOf(member));
      }
      if (name === 'name') field.title = member;
    }
    if (!changed) return;
    this.#changedAt = now;
    // A value that alternates restarts the flash. (With a call of animate(), the browser would
    // compute styles for each row.)
    setAttribute(element, 'data-changed', element.dataset.changed === '1' ? '2' : '1');
  }

  /**
   * @param {HTMLElement} field
   * @param {Item} item
   * @param {number | null} before the score from which the digits roll; null: they do not
   * @param {Formats} formats
   */
  #renderScore(field, { score }, before, { exact, short, gap }) {
    const text = score === null ? '' : short(score);
    const whole = score === null ? '' : exact(score);
    setAttribute(field, 'title', text !== whole && whole);
    setAttribute(field, 'data-gain', score !== null && before !== null && (score > before ? '+' : '−') + gap(Math.abs(score - before)));
    const length = text.length > FULL_LENGTH ? text.length : 0;
    if (length !== this.#length) {
      this.#length = length;
      setProperty(field, '--_score', length);
    }
    if (before === null) setText(field, text);
    else roll(field, text);
  }

  /**
   * @param {string} field
   * @param {Item} item
   */
  #text(field, { member, name, rank, score, gap, data }) {
    if (field === 'rank') return rank !== null ? numbers.format(rank) : score === null ? '' : '…';
    if (field === 'name') return name || member;
    if (field === 'member') return member;
    if (field === 'gap') return gap ?? '';
    /** @type {any} */
    let value = { data };
    for (const key of field.split('.')) value = value?.[key];
    return typeof value === 'object' ? '' : String(value ?? '');
  }

  /**
   * Marks the row with what its rank has changed in the last seconds.
   *
   * @param {number | null} before the rank before this change; null: not known
   * @param {number} now
   */
  markMove(before, now) {
    const rank = this.item?.rank ?? null;
    if (before === null || rank === null || before === rank) return;
    // While a rank changes all the time, the mark counts from ten seconds ago at least.
    if (this.#from === null || now - this.#fromAt > MOVE_MS) {
      this.#from = before;
      this.#fromAt = now;
    }
    this.movedAt = now;
    const change = this.#from - rank;
    this.#setMove(change ? (change > 0 ? '▲' : '▼') + numbers.format(Math.abs(change)) : '');
  }

  unmark() {
    this.#from = null;
    this.#setMove('');
  }

  /** @param {string} mark */
  #setMove(mark) {
    for (const field of this.#fields) if (/^(portrait|move)$/.test(field.dataset.field ?? '')) setAttribute(field, 'data-move', mark || false);
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

/**
 * Writes a text so that what differs from the present one rolls in. Styles do it: a pseudo-element holds the digits of
 * before, so the text of the field is the new one at once.
 *
 * @param {HTMLElement} field
 * @param {string} text
 */
function roll(field, text) {
  const before = field.textContent ?? '';
  const least = Math.min(before.length, text.length);
  let end = 0;
  while (end < least && before.at(-1 - end) === text.at(-1 - end)) end++;
  let start = 0;
  while (start < least - end && before[start] === text[start]) start++;
  const digits = part('span', 'digits', text.slice(start, text.length - end));
  digits.dataset.before = before.slice(start, before.length - end);
  digits.onanimationend = () => (field.textContent = text);
  field.replaceChildren(text.slice(0, start), part('span', 'roll', digits), text.slice(text.length - end));
}

export class RowList {
  element = part('ol', 'list');
  /** By member, in order. @type {Map<string, Row>} */
  rows = new Map();
  /** The content of each row. */
  template = plainTemplate;
  /** @type {Formats | null} */
  #formats = null;
  /** Rows with a mark of a move. @type {Set<Row>} */
  #marked = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #markTimer;
  /** Rows glided in the last render. */
  #moves = false;
  #celebratedAt = -Infinity;

  constructor() {
    // Without the role, Safari does not treat a list without markers as a list.
    this.element.setAttribute('role', 'list');
  }

  /** @param {DocumentFragment} template the content of each row from now on */
  use(template) {
    if (template === this.template) return;
    this.template = template;
    this.rows = new Map();
    this.element.replaceChildren();
  }

  /**
   * Rows glide by the FLIP technique: measure, write, measure again, and animate each row from
   * its old place to its new one. All reads come before or after all writes, so that a render
   * costs one layout.
   *
   * @param {readonly Item[]} items
   * @param {Formats} formats
   * @param {{ moves: boolean, marks: boolean }} how moves: rows glide; marks: rows show what their ranks have changed
   */
  render(items, formats, { moves, marks }) {
    /** @type {Map<string, Row>} */
    const rows = new Map();
    for (const { member } of items) rows.set(member, this.rows.get(member) ?? new Row(this.template));
    const order = [...rows.values()];
    if (formats !== this.#formats) for (const row of order) row.item = null;
    this.#formats = formats;
    this.#moves = moves;

    /** @type {{ row: Row, from: number, top: number, rank: number | null, now: number }[]} */
    const moved = [];
    let changed = 0;
    order.forEach((row, index) => {
      const { item, element } = row;
      if (!item || item === items[index]) return;
      if (item.score !== items[index].score) changed++;
      if ((moves || marks) && (row.index !== index || items[index].me)) moved.push({ row, from: row.index, top: element.getBoundingClientRect().top, rank: item.rank, now: 0 });
    });

    for (const [member, row] of this.rows) {
      if (rows.has(member)) continue;
      row.glide?.cancel(); // the browser keeps an element with an animation
      this.#marked.delete(row);
      row.element.remove();
    }
    this.rows = rows;
    /** @type {Row[]} */
    const entered = [];
    let next = this.element.firstElementChild;
    order.forEach((row, index) => {
      if (next === row.element) next = next.nextElementSibling;
      else this.element.insertBefore(row.element, next);
      if (row.index < 0) entered.push(row);
      row.index = index;
      row.render(items[index], formats, moves && changed <= MAX_ROLLING);
    });

    if (!moves && !marks) return;
    for (const { row } of moved) row.glide?.cancel();
    for (const move of moved) move.now = move.row.element.getBoundingClientRect().top;
    const now = performance.now();
    for (const { row, from, top, rank, now: to } of moved) {
      if (!isNearView(top) && !isNearView(to)) continue;
      if (marks) {
        row.markMove(rank, now);
        this.#marked.add(row);
      }
      if (!moves || top === to) continue;
      row.element.style.zIndex = from > row.index ? '2' : '0'; // a row that rises passes over the others
      row.animate({ transform: `translateY(${top - to}px)` }, { transform: 'none' });
    }
    if (moves) for (const row of entered) row.animate({ opacity: 0, transform: 'translateY(0.5em)' }, { opacity: 1, transform: 'none' });
    this.#sweep();
  }

  /**
   * Lets the row of a new leader shine, unless rows do not move or the last celebration is recent.
   *
   * @param {string} member
   */
  celebrate(member) {
    const element = this.rows.get(member)?.element;
    const now = performance.now();
    if (!element || !this.#moves || now - this.#celebratedAt < CELEBRATION_MS) return;
    this.#celebratedAt = now;
    setAttribute(element, 'data-leads', '');
    setTimeout(() => setAttribute(element, 'data-leads', false), SHINE_MS);
  }

  /** Removes marks that have been there long enough. */
  #sweep() {
    clearTimeout(this.#markTimer);
    const now = performance.now();
    let next = Infinity;
    for (const row of this.#marked) {
      const left = row.movedAt + MOVE_MS - now;
      if (left > 0) {
        next = Math.min(next, left);
      } else {
        row.unmark();
        this.#marked.delete(row);
      }
    }
    if (next < Infinity) this.#markTimer = setTimeout(() => this.#sweep(), next);
  }
}

// A thousand rows may move at once. Only rows near the visible area are animated.
/** @param {number} y pixels from the top of the window */
function isNearView(y) {
  return y > -innerHeight / 2 && y < innerHeight * 1.5;
}
