// @ts-check

/** The line at the foot of the wall: what has happened on its boards, one sentence at a time. */

import { createElement, setText } from '../shared/dom.js';

/** How long a sentence stays. One that has just happened does not wait for it. */
const TURN_MS = 7_000;
/** Older sentences are no news. */
const KEEP_MS = 20 * 60_000;
const MOST = 8;

export class Ticker {
  #element;
  /** The newest first. @type {{ at: number, time: string, text: string }[]} */
  #news = [];
  /** Of the one that is shown; -1: none. */
  #index = -1;
  #turnedAt = -Infinity;

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
    this.#render(time, text);
  }

  /**
   * Goes on to the next sentence if it is time.
   *
   * @param {string} otherwise what it says while there is no news
   */
  tick(otherwise) {
    const now = performance.now();
    this.#news = this.#news.filter(({ at }) => now - at < KEEP_MS);
    const shown = this.#element.querySelector('bdi');
    if (this.#news.length === 0) {
      // What it says then may change each second, so it does not glide in.
      if (this.#index < 0 && shown) setText(shown, otherwise);
      else this.#render('', otherwise);
      this.#index = -1;
    } else if (now - this.#turnedAt >= TURN_MS) {
      this.#turnedAt = now;
      this.#index = (this.#index + 1) % this.#news.length;
      const { time, text } = this.#news[this.#index];
      if (shown?.textContent !== text) this.#render(time, text);
    }
  }

  /**
   * @param {string} time
   * @param {string} text
   */
  #render(time, text) {
    const line = createElement('span', 'ticker-line', createElement('time', '', time), ' ', createElement('bdi', '', text));
    this.#element.replaceChildren(line);
  }
}
