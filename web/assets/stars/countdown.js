// @ts-check

/** How long a period has left, by the server's clock. */

import { timeLeft } from '../../kit/format.js';
import { make } from '../shared/page.js';

export class Countdown {
  #element;
  #left;
  #now;
  #ends = NaN;
  #shown = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} element hidden while there is nothing to count down to
   * @param {HTMLElement} left where the time goes
   * @param {() => number} now the server's clock, ms
   */
  constructor(element, left, now) {
    this.#element = element;
    this.#left = left;
    this.#now = now;
    document.addEventListener('visibilitychange', () => this.#write());
  }

  /** @param {string | null} ends */
  to(ends) {
    this.#ends = Date.parse(ends ?? '');
    this.#write();
  }

  // By itself once a second at most, and never where nobody looks.
  #write() {
    clearTimeout(this.#timer);
    const { text, changesIn } = timeLeft(Number.isNaN(this.#ends) ? 0 : this.#ends - this.#now());
    this.#element.hidden = text === '';
    if (text !== this.#shown) {
      this.#shown = text;
      // Numbers are large, and their units are not.
      const pieces = text.match(/[\d:]+|[^\d:]+/g) ?? [];
      this.#left.replaceChildren(...pieces.map((piece) => (/\d/.test(piece) ? make('b', '', piece) : piece)));
    }
    if (changesIn < Infinity && document.visibilityState === 'visible') this.#timer = setTimeout(() => this.#write(), changesIn);
  }
}
