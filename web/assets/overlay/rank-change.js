// @ts-check

/** The overlay's mode `me`: how many ranks the member has risen or fallen in the last ten minutes. */

import { numbers } from '../../kit/format.js';
import { setAttribute, setText } from '../shared/dom.js';
import { text } from '../shared/texts.js';

const MINUTE_MS = 60_000;
const WINDOW_MS = 10 * MINUTE_MS;
/** A rank that follows the one before within this time replaces it, so that there are never many. */
const STEP_MS = 10_000;

export class RankChange {
  #element;
  /** The member's ranks with the times since which it has had them, oldest first. @type {{ at: number, rank: number }[]} */
  #ranks = [];
  #period = '';

  /** @param {HTMLElement} element with a `<b>` for the ranks and a `<small>` for the time */
  constructor(element) {
    this.#element = element;
  }

  /**
   * @param {number | null} rank null: none, or not known now
   * @param {string} period
   */
  update(rank, period) {
    if (period !== this.#period) this.#ranks = [];
    this.#period = period;
    const now = performance.now();
    const last = this.#ranks.at(-1);
    if (rank === null) {
      this.#ranks = [];
    } else if (last?.rank !== rank) {
      // The oldest rank stays: it is the one that the current rank is compared with.
      if (last && this.#ranks.length > 1 && now - last.at < STEP_MS) last.rank = rank;
      else this.#ranks.push({ at: now, rank });
    }
    this.render();
  }

  /** Renders the change as of now: the window moves on while the rank stays. */
  render() {
    const now = performance.now();
    while (this.#ranks.length > 1 && this.#ranks[1].at <= now - WINDOW_MS) this.#ranks.shift();
    const [first] = this.#ranks;
    const last = this.#ranks.at(-1);
    const change = last ? first.rank - last.rank : 0;
    this.#element.hidden = change === 0;
    if (change === 0) return;
    const minutes = Math.ceil(Math.max(1, Math.min(now - first.at, WINDOW_MS)) / MINUTE_MS);
    const [direction, sign] = change > 0 ? ['up', '▲ '] : ['down', '▼ '];
    const [ranks, time] = this.#element.children;
    setText(ranks, sign + numbers.format(Math.abs(change)));
    setText(time, text('overlay_minutes', { n: minutes }));
    setAttribute(this.#element, 'data-direction', direction);
    setAttribute(this.#element, 'aria-label', text(`overlay_${direction}`, { n: Math.abs(change), minutes }));
  }
}
