// @ts-check

/** The line at the foot of the wall: what has happened on its boards, one sentence at a time. */

import { createElement } from '../shared/dom.js';

/** How long a sentence stays. One that has just happened does not wait for it. */
const TURN_MS = 7_000;
/** Older sentences are no news. */
const KEEP_MS = 20 * 60_000;
const MOST = 8;

export class Ticker {
  #element;
  /** The newest first. @type {{ at: number, time: string, text: string }[]} */
  #news = [];
  /** Of the one that is shown. */
  #index = -1;
  #turnedAt = -Infinity;
  #shown = '';

  /** @param {HTMLElement} element */
  constructor(element) {
    this.#element = element;
  }

  /**
   * @param {string} text of what happens now
   * @param {string} time as the clock shows it
   */
  add(text, time) {
    const at = performance.now();
    this.#news = [{ at, time, text }, ...this.#news].slice(0, MOST);
    this.#index = 0;
    this.#turnedAt = at;
    this.#render(this.#news[0]);
  }

  /**
   * Goes on to the next sentence if it is time.
   *
   * @param {string} otherwise what it says while there is no news
   */
  tick(otherwise) {
    const now = performance.now();
    if (this.#news.length > 0 && now - this.#turnedAt < TURN_MS) return;
    this.#news = this.#news.filter(({ at }) => now - at < KEEP_MS);
    this.#turnedAt = now;
    this.#index = (this.#index + 1) % Math.max(1, this.#news.length);
    this.#render(this.#news[this.#index] ?? { time: '', text: otherwise });
  }

  /** @param {{ time: string, text: string }} news */
  #render({ time, text }) {
    const shown = `${time} ${text}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const line = createElement('span', 'ticker-line', createElement('time', '', time), ' ', createElement('bdi', '', text));
    this.#element.replaceChildren(line);
  }
}
