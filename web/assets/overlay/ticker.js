// @ts-check

/**
 * The overlay's mode `compact`: a board in one line. The list wraps, and the ticker shows one of
 * its lines at a time.
 */

import { isCalm } from '../shared/motion.js';

const LINE_MS = 5_000;
/** As in overlay.css. */
const FADE_MS = 300;

export class Ticker {
  #board;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {HTMLElement} board */
  constructor(board) {
    this.#board = board;
    this.#wait();
  }

  /** @param {number} line from 0 */
  showLine(line) {
    const top = line * this.#board.clientHeight;
    clearTimeout(this.#timer);
    if (Math.abs(top - this.#board.scrollTop) < 1) {
      this.#wait();
    } else if (isCalm()) {
      this.#scrollTo(top);
    } else {
      this.#board.classList.add('fading');
      this.#timer = setTimeout(() => this.#scrollTo(top), FADE_MS);
    }
  }

  /** @param {number} top */
  #scrollTo(top) {
    this.#board.scrollTop = top;
    this.#board.classList.remove('fading');
    this.#wait();
  }

  #wait() {
    this.#timer = setTimeout(() => {
      const { scrollTop } = this.#board;
      const clientHeight = this.#board.clientHeight || 1;
      // Of the list alone: below it the element has texts for screen readers.
      const list = this.#board.shadowRoot?.querySelector('[part=list]');
      const lines = Math.max(1, Math.round((list instanceof HTMLElement ? list.offsetHeight : 0) / clientHeight));
      this.showLine((Math.round(scrollTop / clientHeight) + 1) % lines);
    }, LINE_MS);
  }
}
