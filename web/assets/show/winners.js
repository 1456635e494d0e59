// @ts-check

/** The podium: the first three stars of the last period. */

import { numbers } from '../../kit/format.js';
import { fetchJSON, HTTPError } from '../shared/api.js';
import { formatsOf, renderScore } from '../shared/board-display.js';
import { byId, createElement, setText } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { Poll } from '../shared/poll.js';
import { Portrait } from '../shared/portrait.js';
import { periodTitle } from '../shared/period-title.js';
import { refusalText } from '../shared/refusal.js';
import { text } from '../shared/texts.js';
import { show } from './event.js';
import { createIcon, createSymbol, hasSymbol } from './symbol.js';

/** @typedef {import('../../kit/rankcast.js').Entry} Entry */

export class Winners {
  #section = byId('winners', HTMLElement);
  #name = byId('winners-period', HTMLElement);
  #podium = byId('podium', HTMLElement);
  /** Shown if the last period has no winners, or the reader may not see them. */
  #none = byId('no-winners', HTMLElement);
  #noneText = this.#none.textContent ?? '';
  #starURL;
  #formats = formatsOf();
  #hasSymbol = false;
  /** Whether the board has periods; undefined: not known. @type {boolean | undefined} */
  #hasPeriods;
  /** @type {string | null} */
  #period = null;
  /** The entries shown, as JSON. */
  #shown = '';
  /** A final result does not change: the page reads it once, and after each rollover. */
  #poll = new Poll(Infinity, (signal) => this.#load(signal));

  /** @param {(star: string) => string} starURL */
  constructor(starURL) {
    this.#starURL = starURL;
  }

  /** @param {boolean} isMissing whether the page has nothing to show */
  setHidden(isMissing) {
    if (isMissing || this.#hasPeriods !== undefined) this.#section.hidden = isMissing || !this.#hasPeriods;
  }

  /**
   * @param {string} period the current one
   * @param {import('../../kit/rankcast.js').Info} [info] of the board
   */
  setPeriod(period, info) {
    this.#formats = formatsOf(info);
    this.#hasSymbol = hasSymbol(info);
    this.#hasPeriods = period !== '';
    this.setHidden(false);
    setText(this.#name, periodTitle(info?.period?.every, 1));
    if (period === this.#period) return;
    this.#period = period;
    if (period) this.#poll.start();
    else this.#poll.stop();
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
      ({ top } = await fetchJSON(`v1/boards/${encodeSegment(show?.board ?? '')}@-1/top?limit=3`, signal));
    } catch (error) {
      // The period does not exist: this one is the first, or the server keeps no earlier ones.
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
    const { rank, member, name, avatar } = entry;
    const amount = createElement('span', '');
    renderScore(amount, entry, this.#formats);
    const portrait = new Portrait();
    portrait.render(member, name || member, avatar);
    const link = createElement('a', 'podium-name', name || member);
    link.href = this.#starURL(member);
    link.dataset.star = member;
    link.title = name || member;
    const step = createElement('span', 'podium-rank', numbers.format(rank));
    step.title = text('show_rank', { n: rank });
    return createElement(
      'li',
      'podium-step',
      portrait.element,
      link,
      ' ',
      createElement('span', 'podium-score', amount, ...(this.#hasSymbol ? [createSymbol()] : [])),
      step,
    );
  }
}
