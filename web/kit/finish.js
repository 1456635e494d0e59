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
  #note = part('p', 'result-note');
  #podium = part('ol', 'podium');
  /** By member: a step that rises goes on when the followed member's place comes. @type {Map<string, Row>} */
  #rows = new Map();
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
    element.append(this.#title, this.#note, this.#podium);
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
   * @param {{ title: string, note: string }} texts
   * @param {readonly Item[]} items the rows of its list, with the followed member's, which stands below the first three
   * @param {Formats} formats
   * @param {DocumentFragment} template of a row
   * @param {number} ms how long it stays
   */
  show({ title, note }, items, formats, template, ms) {
    clearTimeout(this.#timer);
    setText(this.#title, title);
    setText(this.#note, note);
    const before = this.#element.hidden ? new Map() : this.#rows;
    this.#rows = new Map();
    const shown = items.filter(({ me, rank }, i) => (me ? rank : i < PODIUM));
    const steps = shown.map((item, i) => {
      const row = before.get(item.member) ?? new Row(template);
      this.#rows.set(item.member, row);
      row.render(item, formats, false);
      row.element.removeAttribute('data-member'); // it is no row of the list
      setAttribute(row.element, 'part', `${i < PODIUM && !item.below ? 'step' : 'row'}${item.me ? ' me' : ''}`);
      return row.element;
    });
    const { children } = this.#podium;
    steps.forEach((step, i) => children[i] === step || this.#podium.insertBefore(step, children[i] ?? null));
    while (children.length > steps.length) children[steps.length].remove();
    this.#element.hidden = false;
    this.#timer = setTimeout(() => this.hide(), ms);
  }

  hide() {
    clearTimeout(this.#timer);
    this.#element.hidden = true;
    this.#onEnd();
  }
}
