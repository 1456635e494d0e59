// @ts-check

/**
 * How a score has changed since the page was opened, as a chart and a number. A board's page shows two: of the leader, and of
 * the followed member.
 */

import { createElement, setText } from '../shared/dom.js';
import { Series, Sparkline } from './sparkline.js';

/** @typedef {import('../shared/board-display.js').Scored} Scored */

export class ScoreTrend {
  element = createElement('div', 'trend');
  #name = createElement('span', 'trend-name');
  #change = createElement('span', 'trend-change');
  #series = new Series();
  #sparkline = new Sparkline();
  #member = '';
  /** The first score of this member: the series may begin with those of an earlier leader. @type {Scored} */
  #first = { score: 0 };
  /** Less is better. */
  #ascending = false;

  /** @param {string} label */
  constructor(label) {
    this.element.append(
      createElement('p', 'trend-head', createElement('span', 'trend-label', label), ' ', this.#name, ' ', this.#change),
      this.#sparkline.element,
    );
    this.element.hidden = true;
  }

  /** Drops all scores, and hides the trend until the next one. */
  reset() {
    this.#member = '';
    this.#series = new Series();
    this.element.hidden = true;
  }

  /** Drops all scores, and keeps the room of a trend that has had some. */
  restart() {
    this.#member = '';
    this.#series = new Series();
    setText(this.#name, '–');
    setText(this.#change, '');
    this.render();
  }

  /**
   * @param {string} member
   * @param {string} name
   * @param {Scored} entry
   * @param {import('../../kit/rankcast.js').Info | undefined} info of the board
   * @param {import('../shared/board-display.js').Formats} formats
   */
  add(member, name, entry, info, { change }) {
    this.#ascending = info?.order === 'asc';
    if (member !== this.#member) {
      this.#member = member;
      this.#first = entry;
    }
    this.#series.add(performance.now(), entry.score);
    setText(this.#name, name);
    setText(this.#change, change(this.#first, entry));
    this.element.hidden = false;
  }

  render() {
    this.#sparkline.render(this.#series.points, performance.now(), { ascending: this.#ascending });
  }
}
