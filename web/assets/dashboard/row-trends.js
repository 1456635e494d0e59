// @ts-check

/**
 * Sparklines in the first rows of a board that records a history: the score of each member over the last steps. They lie
 * over the rows of the element, beside its names, and follow the rows.
 */

import { createElement } from '../shared/dom.js';
import { historyOf } from '../shared/history.js';
import { msOf, readPage } from '../shared/history-read.js';
import { encodeSegment } from '../shared/links.js';
import { Poll } from '../shared/poll.js';
import { Sparkline } from './sparkline.js';

/** @typedef {import('../../kit/rankcast.js').Update} Update */
/** @typedef {{ at: number, value: number }} Point */

/** The server looks at a board at most this often. */
const INTERVAL_MS = 10_000;
/** Steps of a sparkline. The server answers so many without a queue. */
const STEPS = 60;
/** A history keeps the first ten. */
const MOST = 10;

export class RowTrends {
  #board = '';
  #history = '';
  #leaderboard;
  #layer = createElement('div', 'row-trends');
  /** By member. @type {Map<string, readonly Point[]>} */
  #points = new Map();
  /** By member. @type {Map<string, Sparkline>} */
  #sparklines = new Map();
  /** The order of the rows at the last layout; '': none. */
  #order = '';
  #loadedAt = -Infinity;
  #poll = new Poll(INTERVAL_MS, (signal) => this.#load(signal));

  /** @param {HTMLElementTagNameMap['live-leaderboard']} leaderboard */
  constructor(leaderboard) {
    this.#leaderboard = leaderboard;
    this.#layer.ariaHidden = 'true';
    leaderboard.after(this.#layer);
    leaderboard.addEventListener('update', () => this.#layOut());
    new ResizeObserver(() => {
      this.#order = '';
      this.#layOut();
    }).observe(leaderboard);
  }

  /**
   * @param {string} board '': none
   * @param {string} history the step at which the board records; '': it does not
   */
  show(board, history) {
    if (board === this.#board && history === this.#history) return;
    this.#board = board;
    this.#history = history;
    this.#loadedAt = -Infinity;
    this.#points.clear();
    this.#layOut();
    if (board && history) this.#poll.start();
    else this.#poll.stop();
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    const step = msOf(this.#history);
    if (performance.now() - this.#loadedAt < step) return;
    let answer = await this.#read(step, signal);
    // A long period has longer steps.
    const longer = msOf(answer.step);
    if (longer > step) answer = await this.#read(longer, signal);
    const { steps, until } = historyOf(answer);
    const begin = until - STEPS * Math.max(step, longer);
    this.#loadedAt = performance.now();
    /** @type {Map<string, Point[]>} */
    const points = new Map();
    for (const { at, entries } of steps) {
      for (const { member, score } of entries) points.set(member, [...(points.get(member) ?? []), { at: Math.max(at, begin), value: score }]);
    }
    this.#points = points;
    this.#order = '';
    for (const member of this.#sparklines.keys()) if (!points.has(member)) this.#sparklines.delete(member);
    for (const [member, own] of points) {
      const sparkline = this.#sparklines.get(member) ?? new Sparkline();
      this.#sparklines.set(member, sparkline);
      sparkline.element.dataset.member = member;
      sparkline.render(own, until);
    }
    this.#layOut();
  }

  /**
   * @param {number} step ms
   * @param {AbortSignal} signal
   */
  #read(step, signal) {
    const from = new Date(Date.now() - STEPS * step).toISOString();
    return readPage(`v1/boards/${encodeSegment(this.#board)}`, { from, limit: String(STEPS + MOST) }, signal);
  }

  /** Puts each sparkline where the row of its member is. It measures only after the order has changed. */
  #layOut() {
    /** @type {HTMLElement[]} */
    const rows = [...(this.#leaderboard.shadowRoot?.querySelectorAll('[part~=row]:not([data-below])') ?? [])].slice(0, MOST).filter((row) => row instanceof HTMLElement);
    const drawn = rows.filter(({ dataset: { member = '' } }) => (this.#points.get(member)?.length ?? 0) > 1);
    const order = rows.map(({ dataset }) => dataset.member).join('\n') + drawn.length;
    if (order === this.#order) return;
    this.#order = order;
    this.#leaderboard.toggleAttribute('data-trends', drawn.length > 0);
    const list = rows[0]?.parentElement;
    if (!list) return;
    const layer = this.#layer.getBoundingClientRect();
    const top = list.getBoundingClientRect().top - layer.top - rows[0].offsetTop;
    // One column, whatever the widths of the scores.
    const end = Math.min(...drawn.map((row) => row.querySelector('[part~=who]')?.getBoundingClientRect().right ?? 0)) - layer.left;
    const places = drawn.map((row) => ({ member: row.dataset.member ?? '', y: top + row.offsetTop + row.offsetHeight / 2 }));
    const elements = places.map(({ member, y }) => {
      const { element } = /** @type {Sparkline} */ (this.#sparklines.get(member));
      element.style.translate = `calc(${Math.round(end)}px - 100%) calc(${Math.round(y)}px - 50%)`;
      return element;
    });
    for (const child of [...this.#layer.children]) if (!elements.some((element) => element === child)) child.remove();
    for (const element of elements) if (element.parentElement !== this.#layer) this.#layer.append(element);
  }
}
