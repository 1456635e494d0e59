// @ts-check

/** The podium of the star-flower page: the first three stars of last week. */

import { numbers } from '../../kit/format.js';
import { fetchJSON, HTTPError } from '../shared/api.js';
import { formatsOf, renderScore } from '../shared/board-display.js';
import { createElement, setText } from '../shared/dom.js';
import { Poll } from '../shared/poll.js';
import { Portrait } from '../shared/portrait.js';
import { refusalText } from '../shared/refusal.js';
import { countedText, text } from '../shared/texts.js';
import { createIcon } from './icon.js';
import { show } from './show.js';

/** @typedef {import('../../kit/rankcast.js').Entry} Entry */

export class Winners {
  #podium;
  #none;
  #noneText;
  #starURL;
  #formats = formatsOf();
  /** @type {string | null} */
  #period = null;
  /** The entries shown, as JSON. */
  #shown = '';
  /** A final result does not change: the page reads it once, and after each rollover. */
  #poll = new Poll(Infinity, (signal) => this.#load(signal));

  /**
   * @param {HTMLElement} podium
   * @param {HTMLElement} none shown if last week has no winners, or the reader may not see them
   * @param {(star: string) => string} starURL
   */
  constructor(podium, none, starURL) {
    this.#podium = podium;
    this.#none = none;
    this.#noneText = none.textContent ?? '';
    this.#starURL = starURL;
  }

  /**
   * @param {string} period the current one
   * @param {import('../../kit/rankcast.js').Info} [info] of the board
   */
  setPeriod(period, info) {
    this.#formats = formatsOf(info);
    if (period === this.#period) return;
    this.#period = period;
    this.#poll.start();
  }

  /** Points the links to the stars' present URLs. */
  updateLinks() {
    for (const link of this.#podium.querySelectorAll('a')) link.href = this.#starURL(link.dataset.star ?? '');
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    /** @type {Entry[]} */
    let top = [];
    let none = this.#noneText;
    try {
      ({ top } = await fetchJSON(`v1/boards/${show?.board}@-1/top?limit=3`, signal));
    } catch (error) {
      // The period does not exist: this week is the first, or the server keeps no earlier ones.
      if (!(error instanceof HTTPError && error.status < 500)) throw error;
      none = refusalText(error) || none;
    }
    setText(this.#none, none);
    // Links that stay keep the focus.
    const json = JSON.stringify(top);
    if (json === this.#shown) return;
    this.#shown = json;
    this.#none.hidden = top.length > 0;
    this.#podium.hidden = top.length === 0;
    this.#podium.replaceChildren(...top.slice(0, 3).map((entry) => this.#newStep(entry)));
    this.#podium.firstElementChild?.prepend(createIcon('crown'));
  }

  /** @param {Entry} entry */
  #newStep(entry) {
    const { rank, member, name, avatar, score } = entry;
    const flowers = createElement('span', 'podium-score');
    if (this.#formats.heads) renderScore(flowers, entry, this.#formats);
    else setText(flowers, countedText('stars_flowers', score));
    const portrait = new Portrait();
    portrait.render(member, name || member, avatar);
    const link = createElement('a', 'podium-name', name || member);
    link.href = this.#starURL(member);
    link.dataset.star = member;
    link.title = name || member;
    const step = createElement('span', 'podium-rank', numbers.format(rank));
    step.title = text('stars_rank', { n: rank });
    return createElement(
      'li',
      'podium-step',
      portrait.element,
      link,
      ' ',
      flowers,
      step,
    );
  }
}
