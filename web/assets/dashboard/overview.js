// @ts-check

/**
 * The front page: a card for each board, with its leader and how fast it changes, and for each
 * family. It is read every two seconds; boards themselves are live on their own pages.
 */

import { scoreFormat, timeLeft } from '../../kit/format.js';
import { setText } from '../../kit/rows.js';
import { make, Poll, read, RefusedError } from '../shared/page.js';
import { counted, text } from '../shared/texts.js';

/**
 * @typedef {import('../../kit/rankcast.js').Entry} Entry
 * @typedef {import('./definition-summary.js').Definition} Definition
 * @typedef {{ board: string, period: string, ends: string | null, total: number, epoch: string, seq: number, leader: Entry | null, built: boolean, unavailable?: boolean }} Standing
 * @typedef {{ now: string, boards: Standing[], families: { board: string, instances: number, unavailable?: boolean }[], left_off?: number }} Overview
 */

const EVERY_MS = 2_000;
/** A rate is of so long, so that it neither jumps nor lags. */
const RATE_MS = 20_000;
/** Of less than this it would be a guess: a burst of one second is not what a minute brings. */
const LEAST_MS = 4_000;

/** A board's card, and what is needed to tell its rate. */
class Card {
  element = make('li', 'card');
  #link = make('a', 'card-name');
  #ends = make('span', 'card-ends');
  #rank = make('span', 'card-rank', '1');
  #leader = make('span', 'card-leader');
  #score = make('span', 'card-score');
  #first = make('p', 'card-first', this.#rank, ' ', this.#leader, ' ', this.#score);
  #total = make('span', 'card-total');
  #rate = make('span', 'card-rate');
  /** What was seen of late: the clock, ms, and the board's count of changes. @type {{ at: number, seq: number }[]} */
  #seen = [];
  #epoch = '';

  /**
   * @param {string} board
   * @param {string} href
   */
  constructor(board, href) {
    this.#link.textContent = board;
    this.#link.href = href;
    this.element.append(make('div', 'card-head', make('h2', 'card-title', this.#link), this.#ends), this.#first, make('p', 'card-foot', this.#total, ' ', this.#rate));
  }

  /** @param {string} href */
  point(href) {
    this.#link.href = href;
  }

  /**
   * @param {Standing} board
   * @param {number} now ms since 1970
   * @param {Definition} [definition]
   */
  write({ period, ends, total, epoch, seq, leader, built, unavailable = false }, now, { starts, display = {} } = /** @type {any} */ ({})) {
    this.#say(unavailable);
    if (unavailable) return;
    const until = (/** @type {string} */ at) => timeLeft(Date.parse(at) - now).text;
    const wait = starts ? until(starts) : '';
    const left = ends ? until(ends) : '';
    setText(this.#ends, wait ? text('begins_in', { left: wait }) : left ? text('ends_in', { left }) : ends ? text('ended') : period);
    this.#rank.hidden = this.#score.hidden = leader === null;
    setText(this.#leader, leader ? leader.name || leader.member : text(built ? 'leader_unknown' : 'no_scores_yet'));
    setText(this.#score, leader ? scoreFormat(display)(leader.score) : '');
    setText(this.#total, built && leader === null ? '' : counted('members', total));
    const rate = this.#rateOf(epoch, seq, now);
    setText(this.#rate, built || rate === null ? '' : text('rate', { n: rate }));
    this.element.toggleAttribute('data-busy', rate !== null && rate > 0);
  }

  /**
   * @param {string} epoch
   * @param {number} seq
   * @param {number} now
   * @returns {number | null} changes a minute; null: not known yet
   */
  #rateOf(epoch, seq, now) {
    if (epoch !== this.#epoch) this.#seen = [];
    this.#epoch = epoch;
    this.#seen.push({ at: now, seq });
    while (this.#seen.length > 2 && this.#seen[1].at <= now - RATE_MS) this.#seen.shift();
    const [first] = this.#seen;
    return now - first.at >= LEAST_MS ? Math.max(0, Math.round(((seq - first.seq) * 60_000) / (now - first.at))) : null;
  }

  /**
   * @param {number} instances
   * @param {boolean} unavailable
   */
  writeFamily(instances, unavailable) {
    this.#first.hidden = this.#ends.hidden = true;
    this.#say(unavailable);
    if (!unavailable) setText(this.#total, counted('boards', instances));
  }

  /** @param {boolean} unavailable what is shown may be old */
  #say(unavailable) {
    this.element.toggleAttribute('data-unavailable', unavailable);
    if (unavailable) setText(this.#rate, text('board_unavailable'));
    else if (this.#rate.textContent === text('board_unavailable')) setText(this.#rate, '');
  }
}

export class OverviewPage {
  #list;
  #note;
  #address;
  #definition;
  #changed;
  /** @type {Map<string, Card>} */
  #cards = new Map();
  #poll = new Poll(EVERY_MS, (signal) => this.#load(signal));

  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} note
   * @param {(board: string) => string} address of a board's page
   * @param {(board: string) => Definition | undefined} definition as far as it is known
   * @param {() => void} changed boards have come or gone
   */
  constructor(list, note, address, definition, changed) {
    this.#list = list;
    this.#note = note;
    this.#address = address;
    this.#definition = definition;
    this.#changed = changed;
  }

  /** @param {boolean} shown */
  show(shown) {
    for (const [board, card] of this.#cards) card.point(this.#address(board));
    if (shown) this.#poll.start();
    else this.#poll.stop();
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    /** @type {Overview} */
    let overview;
    try {
      overview = await read('v1/overview', signal);
    } catch (error) {
      if (!signal.aborted) setText(this.#note, text(error instanceof RefusedError ? 'overview_refused' : 'overview_away'));
      throw error;
    }
    this.#write(overview);
  }

  /** @param {Overview} overview */
  #write({ now, boards, families, left_off = 0 }) {
    /** @type {Map<string, Card>} */
    const cards = new Map();
    const card = (/** @type {string} */ board) => {
      const found = this.#cards.get(board) ?? new Card(board, this.#address(board));
      cards.set(board, found);
      return found;
    };
    for (const board of boards) card(board.board).write(board, Date.parse(now), this.#definition(board.board));
    for (const { board, instances, unavailable = false } of families) card(board).writeFamily(instances, unavailable);
    // Only when boards come and go: replacing takes the focus away.
    if ([...cards.keys()].join('\n') !== [...this.#cards.keys()].join('\n')) {
      this.#list.replaceChildren(...[...cards.values()].map(({ element }) => element));
      if (this.#cards.size > 0) this.#changed();
    }
    this.#cards = cards;
    setText(this.#note, left_off > 0 ? text('overview_left_off', { n: left_off }) : cards.size === 0 ? text('no_boards') : '');
  }
}
