// @ts-check

/** The result of a closed period in a few facts. A board's page shows it beside the board. */

import { createElement, setText } from '../shared/dom.js';
import { text } from '../shared/texts.js';
import { zonedTime } from '../shared/zoned-time.js';

export class FinalFacts {
  element = createElement('dl', 'final-facts');
  #winner = this.#newFact('final_winner');
  #lead = this.#newFact('final_lead');
  #ended = this.#newFact('final_ended');

  constructor() {
    this.element.hidden = true;
  }

  /**
   * @param {import('../../kit/rankcast.js').Snapshot} snapshot of a closed period
   * @param {import('../shared/board-display.js').Formats} formats
   */
  render({ ends, top: [first, second] }, { gap }) {
    this.#setFact(this.#winner, first ? first.name || first.member : '');
    this.#setFact(this.#lead, first && second ? gap(Math.abs(first.score - second.score), first, second) : '');
    this.#setFact(this.#ended, ends ? zonedTime(ends) : '');
  }

  /** @param {string} label the key of a text */
  #newFact(label) {
    const value = createElement('dd', '');
    this.element.append(createElement('div', '', createElement('dt', '', text(label)), value));
    return value;
  }

  /**
   * @param {HTMLElement} fact
   * @param {string} value '': there is none
   */
  #setFact(fact, value) {
    setText(fact, value);
    if (fact.parentElement) fact.parentElement.hidden = value === '';
  }
}
