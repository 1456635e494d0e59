// @ts-check

/**
 * The dashboard's front page: a card for each board and each family. The page reads the overview
 * every two seconds; a board is live on its own page.
 */

import { fetchJSON, HTTPError } from '../shared/api.js';
import { setText } from '../shared/dom.js';
import { Poll } from '../shared/poll.js';
import { refusalText } from '../shared/refusal.js';
import { text } from '../shared/texts.js';
import { OverviewCard } from './overview-card.js';

/**
 * @typedef {import('./definition-summary.js').Definition} Definition
 * @typedef {import('../../kit/rankcast.js').Info} Info
 * @typedef {import('./overview-card.js').BoardSummary} BoardSummary
 *
 * The server's answer
 * @typedef {{ now: string, boards: BoardSummary[], families: { board: string, instances: number, info?: Info, unavailable?: boolean }[], left_off?: number }} OverviewAnswer
 */

const INTERVAL_MS = 2_000;

export class Overview {
  #list;
  #note;
  #boardURL;
  #definition;
  #onBoardsChange;
  /** By board or family. @type {Map<string, OverviewCard>} */
  #cards = new Map();
  #poll = new Poll(INTERVAL_MS, (signal) => this.#load(signal));

  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} note
   * @param {(board: string) => string} boardURL
   * @param {(board: string) => Definition | undefined} definition undefined: not known yet
   * @param {() => void} onBoardsChange boards or families were added or removed
   */
  constructor(list, note, boardURL, definition, onBoardsChange) {
    this.#list = list;
    this.#note = note;
    this.#boardURL = boardURL;
    this.#definition = definition;
    this.#onBoardsChange = onBoardsChange;
  }

  /** @param {boolean} shown */
  show(shown) {
    for (const [board, card] of this.#cards) card.setLink(this.#boardURL(board));
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
      this.#list.replaceChildren();
    }
    setText(this.#note, refusal || text(error instanceof HTTPError ? 'overview_refused' : 'overview_away'));
  }

  /** @param {OverviewAnswer} overview */
  #render({ now, boards, families, left_off = 0 }) {
    /** @type {Map<string, OverviewCard>} */
    const cards = new Map();
    const cardOf = (/** @type {string} */ board) => {
      const card = this.#cards.get(board) ?? new OverviewCard(board, this.#boardURL(board));
      cards.set(board, card);
      return card;
    };
    for (const board of boards) cardOf(board.board).renderBoard(board, Date.parse(now), this.#definition(board.board));
    for (const { board, instances, info, unavailable = false } of families) cardOf(board).renderFamily(instances, info, unavailable);
    // Cards are replaced only when boards are added or removed, because that takes the focus away.
    if ([...cards.keys()].join('\n') !== [...this.#cards.keys()].join('\n')) {
      this.#list.replaceChildren(...[...cards.values()].map(({ element }) => element));
      if (this.#cards.size > 0) this.#onBoardsChange();
    }
    this.#cards = cards;
    setText(this.#note, left_off > 0 ? text('overview_left_off', { n: left_off }) : cards.size === 0 ? text('no_boards') : '');
  }
}
