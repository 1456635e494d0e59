// @ts-check

/**
 * The end of a period on the element: the last seconds, counted down, and then the first three of the final result, which
 * stay for a while over the next period.
 *
 * @import {Entry} from './rankcast.js'
 * @import {Formats} from './row.js'
 */

import { part, setAttribute, setText } from './dom.js';
import { Row } from './row.js';

/** The seconds that are counted down. */
const LAST_SECONDS = 10;

export class Finish {
  element = part('div', 'finish');
  countdown = part('div', 'countdown');
  #title = part('p', 'result');
  #podium = part('ol', 'podium');
  #onEnd = () => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  constructor() {
    this.element.append(this.#title, this.#podium);
    this.element.hidden = this.countdown.hidden = true;
    // The timer of the header says the same.
    this.countdown.ariaHidden = 'true';
    this.#podium.role = 'list';
  }

  /** @param {number} ms the time left in the period; NaN: none ends now */
  count(ms) {
    const seconds = Math.ceil(ms / 1_000);
    this.countdown.hidden = !(seconds > 0 && seconds <= LAST_SECONDS);
    if (!this.countdown.hidden) setText(this.countdown, String(seconds));
  }

  /**
   * Shows a result. A later call replaces it.
   *
   * @param {string} title
   * @param {readonly Entry[]} top
   * @param {Formats} formats
   * @param {DocumentFragment} template of a row
   * @param {number} ms how long it stays
   * @param {() => void} onEnd called when it is hidden
   */
  show(title, top, formats, template, ms, onEnd) {
    clearTimeout(this.#timer);
    setText(this.#title, title);
    const steps = top.slice(0, 3).map((entry) => {
      const row = new Row(template);
      row.render(entry, formats, false);
      row.element.removeAttribute('data-member'); // it is no row of the list
      setAttribute(row.element, 'part', 'step');
      return row.element;
    });
    this.#podium.replaceChildren(...steps);
    this.element.hidden = false;
    this.#onEnd = onEnd;
    this.#timer = setTimeout(() => this.hide(), ms);
  }

  hide() {
    clearTimeout(this.#timer);
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.#onEnd();
  }
}
