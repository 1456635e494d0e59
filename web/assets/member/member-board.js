// @ts-check

/** A card of a member's page: the member's place on one board, and how its rank went. */

import { numbers, textIn } from '../../kit/format.js';
import { formatsOf, renderScore } from '../shared/board-display.js';
import { createElement, setText } from '../shared/dom.js';
import { historyOf, join, memberHistoryOf } from '../shared/history.js';
import { msOf, readWhole } from '../shared/history-read.js';
import { encodeSegment } from '../shared/links.js';
import { countedText, text } from '../shared/texts.js';
import { momentFormat, zoneOf } from '../shared/time-scale.js';
import { RankLine } from './rank-line.js';

/**
 * @typedef {import('../../kit/rankcast.js').Info & { history?: string }} Info history: the step at which the board is recorded
 * @typedef {{ board: string, rank: number, score: number, columns?: { [name: string]: number }, total: number,
 *   to_next: number | null, info?: Info }} Place
 */

/** Steps of a history: more than the chart has room for. */
const MAX_STEPS = 150;
/** A history is read anew after this time at least, also after a failure. */
const LEAST_AGE_MS = 30_000;

export class MemberBoard {
  element = createElement('li', 'member-board');
  #link = createElement('a', '');
  #rank = createElement('b', '');
  #of = createElement('span', 'of');
  #score = createElement('span', 'score');
  #best = createElement('p', 'best');
  /** @type {RankLine | null} */
  #line = null;
  /** @type {Place} */
  #place;
  #dueAt = -Infinity;

  /**
   * @param {Place} place
   * @param {string} href
   */
  constructor(place, href) {
    this.#place = place;
    this.#link.href = href;
    this.#link.title = this.element.dataset.board = place.board;
    this.element.append(createElement('h2', '', this.#link), createElement('p', 'place', this.#rank, ' ', this.#of, ' ', this.#score));
    this.render(place);
  }

  /** @param {Place} place */
  render(place) {
    this.#place = place;
    const { board, rank, total, info } = place;
    setText(this.#link, textIn(info?.title) || board);
    setText(this.#rank, text('member_rank', { n: rank }));
    setText(this.#of, countedText('member_of', total));
    renderScore(this.#score, place, formatsOf(info));
    if (!info?.history || this.#line) return;
    const room = createElement('div', 'rank-line');
    this.#line = new RankLine(room);
    this.element.append(room, this.#best);
  }

  /** Whether the card should read its history now. */
  get isDue() {
    return this.#place.info?.history !== undefined && performance.now() > this.#dueAt;
  }

  /**
   * Reads the history and draws it. If the server does not answer, the card stays as it is.
   *
   * @param {string} member
   * @param {AbortSignal} signal
   */
  async draw(member, signal) {
    const { board, info } = this.#place;
    if (!info) return;
    /** @type {import('../shared/history-read.js').Answer[]} */
    let answers;
    try {
      answers = await readWhole(`v1/boards/${encodeSegment(board)}`, { member }, MAX_STEPS, signal);
    } catch {
      signal.throwIfAborted();
      this.#dueAt = performance.now() + LEAST_AGE_MS;
      return; // the other cards go on
    }
    this.#dueAt = performance.now() + Math.max(LEAST_AGE_MS, msOf(info.history ?? null));
    const [{ best }] = answers;
    const moment = momentFormat(zoneOf(info), false);
    const history = answers
      .slice(1)
      .map((answer) => memberHistoryOf(member, /** @type {any} */ (answer)))
      .reduce(join, { steps: [], until: historyOf({ ...answers[0], steps: [] }).until });
    this.#line?.draw(history, moment);
    setText(
      this.#best,
      best ? text('member_best', { rank: numbers.format(best.rank), time: moment(Date.parse(best.at)) }) : text('member_outside'),
    );
  }
}
