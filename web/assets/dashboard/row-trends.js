// @ts-check

/**
 * Sparklines in the first rows of a board that records a history: the score of each member over the last steps. They are
 * in the rows of the element, so they move with these.
 */

import { setProperty } from '../shared/dom.js';
import { historyOf } from '../shared/history.js';
import { msOf, readPage } from '../shared/history-read.js';
import { encodeSegment } from '../shared/links.js';
import { Poll } from '../shared/poll.js';
import sheet from './row-trends.css' with { type: 'css' };
import sparklineSheet from './sparkline.css' with { type: 'css' };
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
  /** By member. @type {Map<string, readonly Point[]>} */
  #points = new Map();
  /** By member. @type {Map<string, Sparkline>} */
  #sparklines = new Map();
  /** The lengths of the scores at the last measurement; '': none. */
  #lengths = '';
  #loadedAt = -Infinity;
  #poll = new Poll(INTERVAL_MS, (signal) => this.#load(signal));

  /** @param {HTMLElementTagNameMap['live-leaderboard']} leaderboard */
  constructor(leaderboard) {
    this.#leaderboard = leaderboard;
    leaderboard.shadowRoot?.adoptedStyleSheets.push(sparklineSheet, sheet);
    leaderboard.addEventListener('update', () => this.#layOut());
    new ResizeObserver(() => {
      this.#lengths = '';
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
      for (const { member, score } of entries)
        points.set(member, [...(points.get(member) ?? []), { at: Math.max(at, begin), value: score }]);
    }
    this.#points = points;
    for (const [member, { element }] of this.#sparklines) {
      if (points.has(member)) continue;
      this.#sparklines.delete(member);
      takeOut(element);
    }
    // One scale for the board: what fills the height is the largest change of all.
    const least = Math.max(
      0,
      ...[...points.values()].map((own) => Math.max(...own.map(({ value }) => value)) - Math.min(...own.map(({ value }) => value))),
    );
    const ascending = this.#leaderboard.shadowRoot?.querySelector('[part=list][data-asc]') !== null;
    for (const [member, own] of points) {
      const sparkline = this.#sparklines.get(member) ?? new Sparkline();
      this.#sparklines.set(member, sparkline);
      sparkline.render(own, until, { least, ascending });
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

  /** Puts each sparkline into the row of its member. It measures only after the length of a score has changed. */
  #layOut() {
    const rows = [...(this.#leaderboard.shadowRoot?.querySelectorAll('[part=list] > [part~=row]:not([data-below])') ?? [])]
      .slice(0, MOST)
      .filter((row) => row instanceof HTMLElement);
    const drawn = rows.filter(({ dataset: { member = '' } }) => (this.#points.get(member)?.length ?? 0) > 1);
    for (const [member, { element }] of this.#sparklines) {
      const row = drawn.find(({ dataset }) => dataset.member === member);
      if (element.parentElement === (row ?? null)) continue;
      takeOut(element);
      row?.append(element);
      row?.setAttribute('data-trend', '');
    }
    // Of all rows: one without a sparkline may change places with the leader, whose score is larger.
    const measured = drawn.length > 0 ? rows : [];
    const scores = measured.map((row) => row.querySelector('[part=score]')).filter((score) => score instanceof HTMLElement);
    const lengths = scores.map(({ textContent }) => textContent?.length).join();
    if (lengths === this.#lengths) return;
    this.#lengths = lengths;
    const list = measured[0]?.parentElement;
    if (list) setProperty(list, '--trend-score', Math.max(...scores.map(({ offsetWidth }) => offsetWidth)));
  }
}

/** @param {Element} sparkline which leaves its row */
function takeOut(sparkline) {
  sparkline.parentElement?.removeAttribute('data-trend');
  sparkline.remove();
}
