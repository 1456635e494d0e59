// @ts-check

/** A card of the overview: one board with its leader and its rate of changes, or one family. */

import { scoreFormat, textIn, timeLeft } from '../../kit/format.js';
import { createElement, setText } from '../shared/dom.js';
import { countedText, text } from '../shared/texts.js';

/**
 * @typedef {import('../../kit/rankcast.js').Entry} Entry
 * @typedef {import('../../kit/rankcast.js').Info} Info
 * @typedef {import('./definition-summary.js').Definition} Definition
 *
 * A board in the server's answer; built: the server computes the board on request; unavailable: the server cannot read it now
 * @typedef {{ board: string, period: string, ends: string | null, total: number, epoch: string, seq: number, leader: Entry | null, built: boolean, info?: Info, unavailable?: boolean }} BoardSummary
 */

/** The time over which a rate is measured: long enough not to jump, short enough not to lag. */
const RATE_MS = 20_000;
/** A rate over less time would be a guess from one burst. */
const MIN_RATE_MS = 4_000;

export class OverviewCard {
  element = createElement('li', 'card');
  #link = createElement('a', 'card-name');
  #ends = createElement('span', 'card-ends');
  #rank = createElement('span', 'card-rank', '1');
  #leader = createElement('span', 'card-leader');
  #score = createElement('span', 'card-score');
  #first = createElement('p', 'card-first', this.#rank, ' ', this.#leader, ' ', this.#score);
  #total = createElement('span', 'card-total');
  #rate = createElement('span', 'card-rate');
  /** The board's seq at recent times, ms. @type {{ at: number, seq: number }[]} */
  #samples = [];
  #epoch = '';
  #board;

  /**
   * @param {string} board
   * @param {string} href
   */
  constructor(board, href) {
    this.#board = this.#link.title = board;
    this.#link.href = href;
    this.element.append(createElement('div', 'card-head', createElement('h2', 'card-title', this.#link), this.#ends), this.#first, createElement('p', 'card-foot', this.#total, ' ', this.#rate));
  }

  /** @param {string} href */
  setLink(href) {
    this.#link.href = href;
  }

  /**
   * @param {BoardSummary} summary
   * @param {number} now ms since 1970
   * @param {Definition} [definition]
   */
  renderBoard({ period, ends, total, epoch, seq, leader, built, info, unavailable = false }, now, { starts } = /** @type {any} */ ({})) {
    this.#setUnavailable(unavailable);
    setText(this.#link, textIn(info?.title) || this.#board);
    if (unavailable) return;
    const until = (/** @type {string} */ time) => timeLeft(Date.parse(time) - now).text;
    const wait = starts ? until(starts) : '';
    const left = ends ? until(ends) : '';
    setText(this.#ends, wait ? text('begins_in', { left: wait }) : left ? text('ends_in', { left }) : ends ? text('ended') : period);
    this.#rank.hidden = this.#score.hidden = leader === null;
    setText(this.#leader, leader ? leader.name || leader.member : text(built ? 'leader_unknown' : 'no_scores_yet'));
    setText(this.#score, leader ? scoreFormat(info?.display ?? {})(leader.score) : '');
    setText(this.#total, built && leader === null ? '' : countedText('members', total));
    const rate = this.#measureRate(epoch, seq, now);
    setText(this.#rate, built || rate === null ? '' : text('rate', { n: rate }));
    this.element.toggleAttribute('data-busy', rate !== null && rate > 0);
  }

  /**
   * @param {string} epoch
   * @param {number} seq
   * @param {number} now
   * @returns {number | null} changes a minute; null: not known yet
   */
  #measureRate(epoch, seq, now) {
    if (epoch !== this.#epoch) this.#samples = [];
    this.#epoch = epoch;
    this.#samples.push({ at: now, seq });
    while (this.#samples.length > 2 && this.#samples[1].at <= now - RATE_MS) this.#samples.shift();
    const [first] = this.#samples;
    return now - first.at >= MIN_RATE_MS ? Math.max(0, Math.round(((seq - first.seq) * 60_000) / (now - first.at))) : null;
  }

  /**
   * @param {number} instances
   * @param {Info | undefined} info
   * @param {boolean} unavailable
   */
  renderFamily(instances, info, unavailable) {
    setText(this.#link, textIn(info?.title) || this.#board);
    this.#first.hidden = this.#ends.hidden = true;
    this.#setUnavailable(unavailable);
    if (!unavailable) setText(this.#total, countedText('boards', instances));
  }

  /** @param {boolean} unavailable the card shows old data */
  #setUnavailable(unavailable) {
    this.element.toggleAttribute('data-unavailable', unavailable);
    if (unavailable) setText(this.#rate, text('board_unavailable'));
    else if (this.#rate.textContent === text('board_unavailable')) setText(this.#rate, '');
  }
}
