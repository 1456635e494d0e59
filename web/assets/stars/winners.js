// @ts-check

/** The first three of the period before: a podium. */

import { numbers } from '../../kit/format.js';
import { newIcon } from './icon.js';
import { make, Poll, read, RefusedError } from '../shared/page.js';
import { Portrait } from './portrait.js';
import { counted, text } from '../shared/texts.js';

/** @typedef {import('../../kit/rankcast.js').Entry} Entry */

export class Winners {
  #podium;
  #none;
  #address;
  /** @type {string | null} */
  #period = null;
  /** As they were read. */
  #shown = '';
  /** They are final: read once, and when a period has ended. */
  #poll = new Poll(Infinity, (signal) => this.#load(signal));

  /**
   * @param {HTMLElement} podium
   * @param {HTMLElement} none says that there are none
   * @param {(star: string) => string} address of a star's page
   */
  constructor(podium, none, address) {
    this.#podium = podium;
    this.#none = none;
    this.#address = address;
  }

  /** @param {string} period the current one */
  hear(period) {
    if (period === this.#period) return;
    this.#period = period;
    this.#poll.start();
  }

  /** The address of a star's page is another. */
  point() {
    for (const link of this.#podium.querySelectorAll('a')) link.href = this.#address(link.dataset.star ?? '');
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    /** @type {Entry[]} */
    let top = [];
    try {
      ({ top } = await read('v1/boards/stars@-1/top?limit=3', signal));
    } catch (error) {
      // No such period: it is the first, or none is kept.
      if (!(error instanceof RefusedError && error.status < 500)) throw error;
    }
    // What is shown may have the focus.
    const found = JSON.stringify(top);
    if (found === this.#shown) return;
    this.#shown = found;
    this.#none.hidden = top.length > 0;
    this.#podium.hidden = top.length === 0;
    this.#podium.replaceChildren(...top.slice(0, 3).map((entry) => this.#newStep(entry)));
    this.#podium.firstElementChild?.prepend(newIcon('crown'));
  }

  /** @param {Entry} entry */
  #newStep({ rank, member, name, avatar, score }) {
    const portrait = new Portrait();
    portrait.write(member, name || member, avatar);
    const link = make('a', 'podium-name', name || member);
    link.href = this.#address(member);
    link.dataset.star = member;
    link.title = name || member;
    const place = make('span', 'podium-rank', numbers.format(rank));
    place.title = text('stars_rank', { n: rank });
    return make('li', 'podium-step', portrait.element, link, ' ', make('span', 'podium-score', counted('stars_flowers', score)), place);
  }
}
