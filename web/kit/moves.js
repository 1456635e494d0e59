// @ts-check

/**
 * What the moves of the rows leave behind for a while: marks of how far rows have moved, and the shine of a new leader.
 *
 * @import {Row} from './row.js'
 * @typedef {{ from: number, since: number, timer?: ReturnType<typeof setTimeout> }} Mark
 */

import { setAttribute } from './dom.js';
import { language } from './shared.js';

/** How long a row shows that its rank has changed. */
const MOVE_MS = 10_000;
/** How long the row of a new leader shines, as in show.css. */
const SHINE_MS = 2_000;
/** Least time between two celebrations: a lead that changes all the time is not worth one. */
const CELEBRATION_MS = 10_000;

export class Moves {
  /** @type {Map<Row, Mark>} */
  #marks = new Map();
  #celebratedAt = -Infinity;
  #numbers = new Intl.NumberFormat(language, { notation: 'compact' });

  /**
   * Marks rows with what their ranks have changed in the last seconds.
   *
   * @param {readonly { row: Row, rank: number | null }[]} moved with the ranks of before
   */
  mark(moved) {
    for (const { row, rank } of moved) this.#mark(row, rank);
    // Their timers would keep the rows that are gone.
    for (const [row, { timer }] of this.#marks) {
      if (row.element.isConnected) continue;
      clearTimeout(timer);
      this.#marks.delete(row);
    }
  }

  /**
   * @param {Row} row
   * @param {number | null} before the rank before this change; null: not known
   */
  #mark(row, before) {
    const rank = row.item?.rank ?? null;
    if (before === null || rank === null || before === rank) return;
    const now = performance.now();
    let mark = this.#marks.get(row);
    clearTimeout(mark?.timer);
    // While a rank changes all the time, the mark counts from ten seconds ago at least.
    if (!mark || now - mark.since > MOVE_MS) this.#marks.set(row, (mark = { from: before, since: now }));
    mark.timer = setTimeout(() => {
      this.#marks.delete(row);
      this.#show(row, 0);
    }, MOVE_MS);
    this.#show(row, mark.from - rank);
  }

  /**
   * Lets the row of a new leader shine, unless the last celebration is recent.
   *
   * @param {Row | undefined} row
   */
  celebrate(row) {
    const now = performance.now();
    if (!row || now - this.#celebratedAt < CELEBRATION_MS) return;
    this.#celebratedAt = now;
    setAttribute(row.element, 'data-leads', '');
    setTimeout(() => setAttribute(row.element, 'data-leads', false), SHINE_MS);
  }

  /**
   * @param {Row} row
   * @param {number} change of its rank; 0: no mark
   */
  #show({ element }, change) {
    for (const field of element.querySelectorAll('[data-field=move]')) {
      setAttribute(field, 'data-move', change !== 0 && (change > 0 ? '▲' : '▼') + this.#numbers.format(Math.abs(change)));
    }
  }
}
