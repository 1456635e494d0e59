// @ts-check

/** How many places a member has risen or fallen in the last minutes. */

import { setAttribute, setText } from '../../kit/rows.js';
import { numbers } from '../../kit/format.js';
import { text } from '../shared/texts.js';

const MINUTE_MS = 60_000;
const WINDOW_MS = 10 * MINUTE_MS;
/** Ranks closer than this to the one before replace it: so there are never many. */
const STEP_MS = 10_000;

export class Movement {
  #element;
  /** Since when the member was at which rank, in order. @type {{ at: number, rank: number }[]} */
  #ranks = [];
  #period = '';

  /** @param {HTMLElement} element with a `<b>` for the places and a `<small>` for the time */
  constructor(element) {
    this.#element = element;
  }

  /**
   * @param {number | null} rank null: none, or not known now
   * @param {string} period
   */
  hear(rank, period) {
    if (period !== this.#period) this.#ranks = [];
    this.#period = period;
    const now = performance.now();
    const last = this.#ranks.at(-1);
    if (rank === null) {
      this.#ranks = [];
    } else if (last?.rank !== rank) {
      // The oldest is what the others are compared with.
      if (last && this.#ranks.length > 1 && now - last.at < STEP_MS) last.rank = rank;
      else this.#ranks.push({ at: now, rank });
    }
    this.render();
  }

  render() {
    const now = performance.now();
    while (this.#ranks.length > 1 && this.#ranks[1].at <= now - WINDOW_MS) this.#ranks.shift();
    const [first] = this.#ranks;
    const last = this.#ranks.at(-1);
    this.#element.hidden = !last;
    if (!last) return;
    const places = first.rank - last.rank;
    const minutes = Math.ceil(Math.max(1, Math.min(now - first.at, WINDOW_MS)) / MINUTE_MS);
    const [way, sign] = places > 0 ? ['up', '▲ '] : places < 0 ? ['down', '▼ '] : ['level', '–'];
    const [b, small] = this.#element.children;
    setText(b, places === 0 ? sign : sign + numbers.format(Math.abs(places)));
    setText(small, text('overlay_minutes', { n: minutes }));
    setAttribute(this.#element, 'data-way', way);
    setAttribute(this.#element, 'aria-label', text(`overlay_${way}`, { n: Math.abs(places), minutes }));
  }
}
