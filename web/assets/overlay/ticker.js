// @ts-check

/**
 * A board in one line. Its list wraps, and one of the lines is seen at a time: the next
 * after a while.
 */

const SEEN_MS = 5_000;
/** As in overlay.css. */
const FADE_MS = 300;

const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');

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
  turnTo(line) {
    const to = line * this.#board.clientHeight;
    clearTimeout(this.#timer);
    if (Math.abs(to - this.#board.scrollTop) < 1) {
      this.#wait();
    } else if (lessMotion.matches) {
      this.#show(to);
    } else {
      this.#board.classList.add('turning');
      this.#timer = setTimeout(() => this.#show(to), FADE_MS);
    }
  }

  /** @param {number} to */
  #show(to) {
    this.#board.scrollTop = to;
    this.#board.classList.remove('turning');
    this.#wait();
  }

  #wait() {
    this.#timer = setTimeout(() => {
      const { scrollTop, scrollHeight } = this.#board;
      const clientHeight = this.#board.clientHeight || 1;
      const lines = Math.max(1, Math.round(scrollHeight / clientHeight));
      this.turnTo((Math.round(scrollTop / clientHeight) + 1) % lines);
    }, SEEN_MS);
  }
}
