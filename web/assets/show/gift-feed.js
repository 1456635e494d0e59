// @ts-check

/**
 * The list of gifts as they happen, newest first. Several gifts of one amount, of one fan to one star in quick succession, are
 * a combo: one line, which counts them. In a crowd, a few lines at a time enter, so that a viewer can read them; lines that
 * wait too long are left out.
 */

import { createElement, setAttribute, setText } from '../shared/dom.js';
import { isCalm } from '../shared/motion.js';
import { Portrait } from '../shared/portrait.js';
import { text } from '../shared/texts.js';
import { amountPieces, boardDefinition, giftOf, isLargest, langOf } from './event.js';
import { createSymbol, hasSymbol } from './symbol.js';

/**
 * Gifts of one amount, of one fan to one star; at: time of the last one, ms; line: null unless shown.
 * @typedef {{ fan: string, star: string, amount: number, count: number, at: number, line: Line | null }} Combo
 */

const MAX_LINES = 14;
/** Lines that enter together, and the time until the next may enter. A narrow window shows one line. */
const LINES_PER_STEP = 2;
const narrow = matchMedia('(width < 62rem)');
const STEP_MS = 800;
/** More lines could not enter within a few seconds. */
const MAX_WAITING = 8;
/** A gift within this time after the last one belongs to the same combo, even if its line is gone. */
const COMBO_MS = 10_000;
/** Oldest combos beyond this number are dropped: the list of so large a crowd changes too fast to read. */
const MAX_COMBOS = 500;
const ENTER_MS = 360;
const BUMP_MS = 420;

class Line {
  #portrait = new Portrait();
  #fan = createElement('b', 'feed-fan');
  #star = createElement('span', 'feed-star');
  #count = createElement('span', 'feed-count');
  #amount = createElement('span', 'feed-number');
  #unit = createElement('span', 'feed-unit');
  element = createElement('li', 'feed-line');
  /** @type {Animation | undefined} */
  #bump;

  constructor() {
    const to = createElement('span', 'feed-to', createElement('span', 'feed-verb', text('show_to')), ' ', this.#star);
    // In a narrow window the symbol stands for the unit.
    const sum = createElement('span', 'feed-sum', this.#amount, ' ', this.#unit, createSymbol());
    sum.toggleAttribute('data-no-symbol', !hasSymbol(boardDefinition()));
    this.element.append(this.#portrait.element, createElement('span', 'feed-words', this.#fan, ' ', to), ' ', sum, ' ', this.#count);
    this.#count.hidden = true;
  }

  /**
   * @param {Combo} combo
   * @param {Names} names
   */
  render({ fan, star, count, amount }, names) {
    const { name = fan, avatar } = names.fan(fan, star);
    this.#portrait.render(fan, name, avatar);
    setText(this.#fan, name);
    setText(this.#star, names.star(star).name ?? star);
    this.element.toggleAttribute('data-big', isLargest(amount));
    this.element.toggleAttribute('data-own', fan === names.me());
    const [number, unit] = amountPieces(amount);
    setText(this.#amount, number);
    setText(this.#unit, unit);
    setAttribute(this.#unit, 'lang', langOf(boardDefinition()?.display?.unit));
    const before = this.#count.textContent;
    setText(this.#count, text('show_combo', { n: count }));
    this.#count.hidden = count === 1;
    if (count === 1 || before === this.#count.textContent || isCalm()) return;
    this.#bump?.cancel();
    this.#bump = this.#count.animate([{ transform: 'scale(1)' }, { transform: 'scale(1.45)', offset: 0.3 }, { transform: 'scale(1)' }], {
      duration: BUMP_MS,
      easing: 'ease-out',
    });
  }
}

/**
 * @typedef {object} Names
 * @property {(id: string, star: string) => import('./profile-cache.js').Profile} fan who has sent gifts to the star
 * @property {(id: string) => import('./profile-cache.js').Profile} star
 * @property {() => string} me the viewer; '': none
 */

export class GiftFeed {
  #list;
  #empty;
  #names;
  #onOther;
  /** The newest combo that may still grow, by fan, star and amount; last changed last. @type {Map<string, Combo>} */
  #combos = new Map();
  /** Newest first. @type {Combo[]} */
  #shown = [];
  /** Oldest first. @type {Combo[]} */
  #waiting = [];
  #steppedAt = -Infinity;
  #renderRequest = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} empty shown while the list is empty
   * @param {Names} names
   * @param {(amount: number) => void} [onOther] called for each gift that is not the viewer's own
   */
  constructor(list, empty, names, onOther = () => {}) {
    this.#list = list;
    this.#empty = empty;
    this.#names = names;
    this.#onOther = onOther;
  }

  /** @param {readonly { at: string, data: any }[]} items of the feed */
  addItems(items) {
    for (const { at, data } of items) {
      const { fan, star, amount } = giftOf(data ?? {});
      // The definition of the event may have changed since.
      if (typeof fan !== 'string' || typeof star !== 'string' || typeof amount !== 'number') continue;
      this.#add(fan, star, amount, Date.parse(at));
      if (fan !== this.#names.me()) this.#onOther(amount);
    }
    if (items.length > 0) this.renderSoon();
  }

  /**
   * @param {string} fan
   * @param {string} star
   * @param {number} amount
   * @param {number} at
   */
  #add(fan, star, amount, at) {
    const key = JSON.stringify([fan, star, amount]);
    const last = this.#combos.get(key);
    /** @type {Combo} */
    const combo = last && at - last.at <= COMBO_MS ? last : { fan, star, amount, count: 0, at, line: null };
    Object.assign(combo, { count: combo.count + 1, at });
    this.#combos.delete(key);
    this.#combos.set(key, combo);
    for (const [oldest, { at: before }] of this.#combos) {
      if (this.#combos.size <= MAX_COMBOS && !(at - before > COMBO_MS)) break;
      this.#combos.delete(oldest);
    }
    if (!combo.line && !this.#waiting.includes(combo)) this.#enqueue(combo);
  }

  /** @param {Combo} combo */
  #enqueue(combo) {
    this.#waiting.push(combo);
    if (this.#waiting.length <= MAX_WAITING) return;
    // The viewer's own gifts always stay. A big gift stays as long as there are others to drop.
    const { me } = this.#names;
    const others = this.#waiting.filter(({ fan }) => fan !== me());
    const dropped = others.find(({ amount }) => !isLargest(amount)) ?? others[0] ?? this.#waiting[0];
    this.#waiting.splice(this.#waiting.indexOf(dropped), 1);
  }

  /** Renders in the next animation frame: the combos, or a name in them, have changed. */
  renderSoon() {
    this.#renderRequest ||= requestAnimationFrame(() => {
      this.#renderRequest = 0;
      this.#render();
    });
  }

  #render() {
    clearTimeout(this.#timer);
    const now = performance.now();
    /** @type {Combo[]} */
    let entered = [];
    if (this.#waiting.length > 0 && now - this.#steppedAt >= STEP_MS) {
      this.#steppedAt = now;
      entered = this.#waiting.splice(0, narrow.matches ? 1 : LINES_PER_STEP);
    }
    const second = this.#shown[0]?.line?.element;
    const before = entered.length > 0 && second ? second.offsetTop : 0;
    for (const combo of entered) {
      combo.line = new Line();
      this.#shown.unshift(combo);
      this.#list.prepend(combo.line.element);
    }
    for (const combo of this.#shown.splice(MAX_LINES)) {
      combo.line?.element.remove();
      combo.line = null;
    }
    for (const combo of this.#shown) combo.line?.render(combo, this.#names);
    this.#empty.hidden = this.#shown.length > 0;
    if (entered.length > 0 && !isCalm()) this.#animate(entered, second ? second.offsetTop - before : 0);
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.renderSoon(), STEP_MS - (now - this.#steppedAt));
  }

  /**
   * @param {Combo[]} entered
   * @param {number} distance by which the other lines have moved down, px
   */
  #animate(entered, distance) {
    for (const combo of this.#shown) {
      const from = entered.includes(combo) ? { opacity: 0, transform: 'translateY(-0.75em)' } : { transform: `translateY(${-distance}px)` };
      combo.line?.element.animate([from, { opacity: 1, transform: 'none' }], {
        duration: ENTER_MS,
        easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)',
      });
    }
  }
}
