// @ts-check

/** The time left in the period of the board, in the head of the page, by the server's clock. */

import { timeLeft } from '../../kit/format.js';
import { createElement } from '../shared/dom.js';

export class Countdown {
  #element;
  #left;
  #now;
  #ends = NaN;
  #shown = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} element hidden while no end is known, and after the end
   * @param {HTMLElement} left for the time
   * @param {() => number} now the server's clock, ms since 1970
   */
  constructor(element, left, now) {
    this.#element = element;
    this.#left = left;
    this.#now = now;
    document.addEventListener('visibilitychange', () => this.#render());
  }

  /** @param {string | null} ends RFC 3339; null: never */
  setEnd(ends) {
    this.#ends = Date.parse(ends ?? '');
    this.#render();
  }

  // The countdown renders itself at most once a second, and only in a visible tab.
  #render() {
    clearTimeout(this.#timer);
    const { text, changesIn } = timeLeft(Number.isNaN(this.#ends) ? 0 : this.#ends - this.#now());
    this.#element.hidden = text === '';
    if (text !== this.#shown) {
      this.#shown = text;
      // Numbers are in a larger font than their units.
      const pieces = text.match(/[\d:]+|[^\d:]+/g) ?? [];
      this.#left.replaceChildren(...pieces.map((piece) => (/\d/.test(piece) ? createElement('b', '', piece) : piece)));
    }
    if (changesIn < Infinity && document.visibilityState === 'visible') this.#timer = setTimeout(() => this.#render(), changesIn);
  }
}
