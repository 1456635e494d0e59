// @ts-check

/**
 * Gifts as they happen, newest on top. Quick ones of one person to one star are one line, which
 * counts them. A crowd's gifts come a few lines at a time, so that they can be read; those that
 * there is no time for are left out.
 */

import { setText } from '../../kit/rows.js';
import { numbers } from '../../kit/format.js';
import { newIcon } from './icon.js';
import { make } from '../shared/page.js';
import { Portrait } from './portrait.js';
import { text } from '../shared/texts.js';

/**
 * Gifts of one person to one star; at: of the last of them.
 * @typedef {{ user: string, star: string, count: number, flowers: number, big: boolean, at: number, line: Line | null }} Combo
 */

const MOST_LINES = 8;
/** Lines that come at once, and how long they stay the newest. */
const LINES_A_TURN = 2;
const TURN_MS = 800;
/** Those that wait: more could not be shown within a few seconds. */
const MOST_WAITING = 8;
/** A gift so soon after the last one is one more of the same, also if its line has gone meanwhile. */
const COMBO_MS = 10_000;
/** More people than that within this time give to a crowd: nobody sees what goes on. */
const MOST_COMBOS = 500;
const BIG_FLOWERS = 50;
const ENTER_MS = 360;
const BUMP_MS = 420;

const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');

class Line {
  #portrait = new Portrait();
  #user = make('b', 'feed-user');
  #star = make('span', 'feed-star');
  #count = make('span', 'feed-count');
  #flowers = make('span', 'feed-number');
  element = make('li', 'feed-line');
  /** @type {Animation | undefined} */
  #bump;

  constructor() {
    const to = make('span', 'feed-to', make('span', 'feed-verb', text('stars_to')), ' ', this.#star);
    const sum = make('span', 'feed-sum', this.#flowers, newIcon('flower'));
    this.element.append(this.#portrait.element, make('span', 'feed-words', this.#user, ' ', to), ' ', this.#count, ' ', sum);
    this.#count.hidden = true;
  }

  /**
   * @param {Combo} combo
   * @param {Names} names
   */
  write({ user, star, count, flowers, big }, names) {
    const { name = user, avatar } = names.user(user);
    this.#portrait.write(user, name, avatar);
    setText(this.#user, name);
    setText(this.#star, names.star(star).name ?? star);
    this.element.toggleAttribute('data-big', big);
    this.element.toggleAttribute('data-own', user === names.me());
    setText(this.#flowers, numbers.format(flowers));
    const before = this.#count.textContent;
    setText(this.#count, text('stars_combo', { n: count }));
    this.#count.hidden = count === 1;
    if (count === 1 || before === this.#count.textContent || lessMotion.matches) return;
    this.#bump?.cancel();
    this.#bump = this.#count.animate([{ transform: 'scale(1)' }, { transform: 'scale(1.45)', offset: 0.3 }, { transform: 'scale(1)' }], { duration: BUMP_MS, easing: 'ease-out' });
  }
}

/**
 * @typedef {object} Names
 * @property {(id: string) => import('./profile-cache.js').Profile} user
 * @property {(id: string) => import('./profile-cache.js').Profile} star
 * @property {() => string} me
 */

export class GiftFeed {
  #list;
  #empty;
  #names;
  /** The newest of each person and star that may still grow; what grew last is last. @type {Map<string, Combo>} */
  #combos = new Map();
  /** The newest first. @type {Combo[]} */
  #shown = [];
  /** The oldest first. @type {Combo[]} */
  #waiting = [];
  #turnedAt = -Infinity;
  #frame = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} empty
   * @param {Names} names
   */
  constructor(list, empty, names) {
    this.#list = list;
    this.#empty = empty;
    this.#names = names;
  }

  /** @param {readonly { at: string, data: any }[]} items of the feed */
  hear(items) {
    for (const { at, data } of items) {
      const { user, star, flowers } = data ?? {};
      // An event of that name may be another's.
      if (typeof user !== 'string' || typeof star !== 'string' || typeof flowers !== 'number') continue;
      this.#add(user, star, flowers, Date.parse(at));
    }
    if (items.length > 0) this.writeSoon();
  }

  /**
   * @param {string} user
   * @param {string} star
   * @param {number} flowers
   * @param {number} at
   */
  #add(user, star, flowers, at) {
    const key = JSON.stringify([user, star]);
    const last = this.#combos.get(key);
    const big = flowers >= BIG_FLOWERS;
    /** @type {Combo} */
    const combo = last && at - last.at <= COMBO_MS ? last : { user, star, count: 0, flowers: 0, big, at, line: null };
    Object.assign(combo, { count: combo.count + 1, flowers: combo.flowers + flowers, big: combo.big || big, at });
    this.#combos.delete(key);
    this.#combos.set(key, combo);
    for (const [oldest, { at: before }] of this.#combos) {
      if (this.#combos.size <= MOST_COMBOS && !(at - before > COMBO_MS)) break;
      this.#combos.delete(oldest);
    }
    if (!combo.line && !this.#waiting.includes(combo)) this.#wait(combo);
  }

  /** @param {Combo} combo */
  #wait(combo) {
    this.#waiting.push(combo);
    if (this.#waiting.length <= MOST_WAITING) return;
    // One's own gift is never left out, and a big one only for others.
    const { me } = this.#names;
    const rest = this.#waiting.filter(({ user }) => user !== me());
    const least = rest.find(({ big }) => !big) ?? rest[0] ?? this.#waiting[0];
    this.#waiting.splice(this.#waiting.indexOf(least), 1);
  }

  /** What is shown, or a name in it, has changed. */
  writeSoon() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#write();
    });
  }

  #write() {
    clearTimeout(this.#timer);
    const now = performance.now();
    /** @type {Combo[]} */
    let entered = [];
    if (this.#waiting.length > 0 && now - this.#turnedAt >= TURN_MS) {
      this.#turnedAt = now;
      entered = this.#waiting.splice(0, LINES_A_TURN);
    }
    const second = this.#shown[0]?.line?.element;
    const before = entered.length > 0 && second ? second.offsetTop : 0;
    for (const combo of entered) {
      combo.line = new Line();
      this.#shown.unshift(combo);
      this.#list.prepend(combo.line.element);
    }
    for (const combo of this.#shown.splice(MOST_LINES)) {
      combo.line?.element.remove();
      combo.line = null;
    }
    for (const combo of this.#shown) combo.line?.write(combo, this.#names);
    this.#empty.hidden = this.#shown.length > 0;
    if (entered.length > 0 && !lessMotion.matches) this.#glide(entered, second ? second.offsetTop - before : 0);
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.writeSoon(), TURN_MS - (now - this.#turnedAt));
  }

  /**
   * @param {Combo[]} entered
   * @param {number} distance that the others have moved down
   */
  #glide(entered, distance) {
    for (const combo of this.#shown) {
      const from = entered.includes(combo) ? { opacity: 0, transform: 'translateY(-0.75em)' } : { transform: `translateY(${-distance}px)` };
      combo.line?.element.animate([from, { opacity: 1, transform: 'none' }], { duration: ENTER_MS, easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)' });
    }
  }
}
