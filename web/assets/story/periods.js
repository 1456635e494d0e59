// @ts-check

/** Links to the stories of a board's periods. */

import { createElement, replaceItems, setAttribute } from '../shared/dom.js';
import { fetchJSON, HTTPError } from '../shared/api.js';
import { encodeSegment } from '../shared/links.js';
import { listedPeriodTitle } from '../shared/period-title.js';
import { Poll } from '../shared/poll.js';

export class Periods {
  #list;
  #board;
  #storyURL;
  #shown = '';
  /** @type {{ every?: string, timezone?: string }} */
  #about = {};
  #poll = new Poll(Infinity, (signal) => this.#load(signal));

  /**
   * @param {HTMLElement} list
   * @param {string} board
   * @param {(board: string) => string} storyURL
   */
  constructor(list, board, storyURL) {
    this.#list = list;
    [this.#board] = board.split('@');
    this.#storyURL = storyURL;
  }

  /**
   * @param {string} period that the page shows; '': none
   * @param {{ every?: string, timezone?: string } | null} about the periods of the board
   */
  show(period, about) {
    const { every, timezone } = about ?? {};
    if (period === this.#shown && every === this.#about.every) return;
    this.#shown = period;
    this.#about = { every, timezone };
    if (period) this.#poll.start();
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    try {
      /** @type {{ periods: { period: string, opens: string, ends: string }[] }} */
      const { periods } = await fetchJSON(`v1/boards/${encodeSegment(this.#board)}/periods`, signal);
      const items = periods.map(({ period }, i) => {
        const link = createElement('a', '', listedPeriodTitle(this.#about, periods, i));
        link.title = period;
        link.href = this.#storyURL(i === 0 ? this.#board : `${this.#board}@${period}`);
        setAttribute(link, 'aria-current', period === this.#shown && 'page');
        return createElement('li', '', link);
      });
      this.#list.hidden = items.length === 0;
      replaceItems(this.#list, items);
    } catch (error) {
      // A board that does not exist has no periods.
      if (!(error instanceof HTTPError && error.status === 404)) throw error;
    }
  }
}
