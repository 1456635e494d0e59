// @ts-check

/**
 * The end of a period on the element: the last seconds, counted down, and then the first three of the final result, which
 * stay for a while over the next period.
 *
 * @import {Formats, Item} from './row.js'
 */

import { part, setAttribute, setText } from './dom.js';
import { Row } from './shared.js';

/** The entries of a result. */
export const PODIUM = 3;

/** The seconds that are counted down. */
const LAST_SECONDS = 10;

export class Finish {
  #element;
  #countdown;
  #title = part('p', 'result');
  #podium = part('ol', 'podium');
  #onEnd;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} element for the result
   * @param {HTMLElement} countdown
   * @param {() => void} onEnd called when no result is shown any more
   */
  constructor(element, countdown, onEnd) {
    this.#element = element;
    this.#countdown = countdown;
    this.#onEnd = onEnd;
    element.append(this.#title, this.#podium);
    element.hidden = countdown.hidden = true;
    // The timer of the header says the same.
    countdown.ariaHidden = 'true';
    this.#podium.role = 'list';
  }

  /** @param {number} ms the time left in the period; NaN: none ends now */
  count(ms) {
    const seconds = Math.ceil(ms / 1_000);
    this.#countdown.hidden = !(seconds > 0 && seconds <= LAST_SECONDS);
    if (!this.#countdown.hidden) setText(this.#countdown, String(seconds));
  }

  /**
   * Shows a result. A later call replaces it.
   *
   * @param {string} title
   * @param {readonly Item[]} items the rows of its list, with the followed member's, which stands below the first three
   * @param {Formats} formats
   * @param {DocumentFragment} template of a row
   * @param {number} ms how long it stays
   */
  show(title, items, formats, template, ms) {
    clearTimeout(this.#timer);
    setText(this.#title, title);
    const shown = items.filter(({ me, rank }, i) => (me ? rank : i < PODIUM));
    const steps = shown.map((item, i) => {
      const row = new Row(template);
      row.render(item, formats, false);
      row.element.removeAttribute('data-member'); // it is no row of the list
      if (i < PODIUM && !item.below) setAttribute(row.element, 'part', item.me ? 'step me' : 'step');
      return row.element;
    });
    this.#podium.replaceChildren(...steps);
    this.#element.hidden = false;
    this.#timer = setTimeout(() => this.hide(), ms);
  }

  hide() {
    clearTimeout(this.#timer);
    this.#element.hidden = true;
    this.#onEnd();
  }
}
