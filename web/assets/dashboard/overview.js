// @ts-check

/**
 * The dashboard's front page: a card for each board and each family. The page reads the overview
 * every two seconds; a board is live on its own page.
 */

import { times } from '../../kit/format.js';
import { fetchJSON, HTTPError } from '../shared/api.js';
import { setText } from '../shared/dom.js';
import { Poll } from '../shared/poll.js';
import { refusalText } from '../shared/refusal.js';
import { countedText, text } from '../shared/texts.js';
import { CardList } from './card-list.js';

/**
 * @typedef {import('./definition-summary.js').Definition} Definition
 * @typedef {import('./board-card.js').BoardCard} BoardCard
 * @typedef {import('./board-card.js').BoardSummary} BoardSummary
 *
 * The server's answer
 * @typedef {{ now: string, boards: BoardSummary[], families: import('./board-card.js').FamilySummary[], left_off?: number }} OverviewAnswer
 */

const INTERVAL_MS = 2_000;
/** The number of cards from which the page has a filter, as on the server. */
const MIN_FILTERED = 9;

export class Overview {
  #cards;
  #note;
  #filter;
  #definition;
  #onBoardsChange;
  /** What the note says unless the filter finds nothing. */
  #state = '';
  #shown = false;
  /** The cards are in order. They keep their places for as long as the overview is open: rates go up and down. */
  #isOrdered;
  /** When the data of the cards came, ms since 1970. At first the cards are as old as the page. */
  #asOf = performance.timeOrigin;
  #poll = new Poll(INTERVAL_MS, (signal) => this.#load(signal));

  /**
   * @param {{ list: HTMLElement, note: HTMLElement, filter: HTMLInputElement }} elements
   * @param {(board: string) => string} boardURL
   * @param {(board: string) => Definition | undefined} definition undefined: not known yet
   * @param {() => void} onBoardsChange boards or families were added or removed
   */
  constructor({ list, note, filter }, boardURL, definition, onBoardsChange) {
    this.#cards = new CardList(list, boardURL);
    this.#note = note;
    this.#filter = filter;
    this.#definition = definition;
    this.#onBoardsChange = onBoardsChange;
    this.#state = note.textContent ?? '';
    this.#isOrdered = this.#cards.order.length > 0;
    filter.addEventListener('input', () => this.#applyFilter());
    filter.addEventListener('keydown', ({ key }) => {
      if (key === 'Enter' && filter.value) this.#cards.filter(filter.value)[0]?.element.querySelector('a')?.click();
    });
    addEventListener('keydown', (event) => {
      const { key, altKey, ctrlKey, metaKey, target } = event;
      if (
        key !== '/' ||
        altKey ||
        ctrlKey ||
        metaKey ||
        !filter.checkVisibility() ||
        (target instanceof Element && target.matches('input, select, textarea'))
      )
        return;
      event.preventDefault();
      filter.focus();
    });
  }

  /** @param {boolean} shown */
  show(shown) {
    if (shown && !this.#shown && this.#cards.order.length === 0) this.#cards.await();
    if (!shown) this.#isOrdered = false;
    this.#shown = shown;
    this.#cards.updateLinks();
    if (shown) this.#poll.start();
    else this.#poll.stop();
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    /** @type {OverviewAnswer} */
    let overview;
    try {
      overview = await fetchJSON('v1/overview', signal);
    } catch (error) {
      if (!signal.aborted) this.#renderFailure(error);
      throw error;
    }
    this.#render(overview);
  }

  /** @param {unknown} error */
  #renderFailure(error) {
    const refusal = refusalText(error);
    if (refusal) {
      this.#cards.clear();
      this.#isOrdered = false;
    }
    this.#cards.setStale(!refusal);
    const refused = error instanceof HTTPError;
    const known = this.#cards.order.length > 0;
    this.#setNote(
      refusal ||
        (known
          ? text(refused ? 'overview_refused' : 'overview_away', { time: times.format(this.#asOf) })
          : text(refused ? 'boards_refused' : 'server_away')),
    );
  }

  /** @param {OverviewAnswer} overview */
  #render({ now, boards, families, left_off = 0 }) {
    this.#asOf = Date.now();
    this.#cards.setStale(false);
    /** @type {Map<string, BoardCard>} */
    const cards = new Map();
    for (const board of this.#isOrdered ? this.#inPlace(boards) : byActivity(boards, Date.parse(now))) {
      const card = this.#cards.card(board.board);
      card.renderBoard(board, Date.parse(now), this.#definition(board.board));
      cards.set(board.board, card);
    }
    for (const family of families) {
      const card = this.#cards.card(family.board);
      card.renderFamily(family);
      cards.set(family.board, card);
    }
    this.#isOrdered = true;
    const before = this.#cards.order;
    this.#cards.arrange(cards);
    if (before.length > 0 && (before.length !== cards.size || before.some((board) => !cards.has(board)))) this.#onBoardsChange();
    this.#filter.hidden = cards.size < MIN_FILTERED && this.#filter.value === '';
    this.#setNote(
      left_off > 0 ? text('overview_left_off', { n: left_off }) : cards.size === 0 ? text('no_boards') : stateOf(cards.size, boards),
    );
  }

  /**
   * @param {BoardSummary[]} boards
   * @returns {BoardSummary[]} as the list shows them; new ones follow
   */
  #inPlace(boards) {
    const places = new Map(this.#cards.order.map((board, i) => [board, i]));
    const place = (/** @type {BoardSummary} */ { board }) => places.get(board) ?? Infinity;
    return boards.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
  }

  /** @param {string} state */
  #setNote(state) {
    this.#state = state;
    this.#applyFilter();
  }

  #applyFilter() {
    const { value: filter } = this.#filter;
    const found = this.#cards.filter(filter);
    setText(this.#note, !filter ? this.#state : found.length ? countedText('filter_found', found.length) : text('filter_none', { filter }));
  }
}

/**
 * @param {number} count of boards and families
 * @param {BoardSummary[]} boards
 */
function stateOf(count, boards) {
  const rate = boards.reduce((sum, { rate }) => sum + (rate ?? 0), 0);
  return [countedText('boards', count), rate > 0 && text('overview_rate', { n: rate })].filter(Boolean).join(' · ');
}

/**
 * @param {BoardSummary[]} boards
 * @param {number} now ms since 1970
 * @returns {BoardSummary[]} the liveliest first
 */
function byActivity(boards, now) {
  return boards.toSorted((a, b) => activity(b, now) - activity(a, now));
}

/**
 * A step of a rate: a small difference between two rates changes no order. Boards without scores, and those that are
 * over, come after the others.
 *
 * @param {BoardSummary} board
 * @param {number} now ms since 1970
 */
function activity({ rate, total, ends }, now) {
  if (rate) return 32 - Math.clz32(rate);
  return total === 0 || (ends && Date.parse(ends) <= now) ? -1 : 0;
}
