// @ts-check

/**
 * The overlay's alerts: each gift of at least some amount stands over the picture for some seconds, with who sent it and for whom.
 * A gift is an event that counts on the overlay's board.
 */

import { fetchJSON } from '../shared/api.js';
import { formatsOf } from '../shared/board-display.js';
import { connectWithToken } from '../shared/connection.js';
import { byId, setText } from '../shared/dom.js';
import { readProfile } from '../shared/member-name.js';
import { Poll } from '../shared/poll.js';
import { Portrait } from '../shared/portrait.js';
import { text } from '../shared/texts.js';

/**
 * @typedef {{ event: string, sender?: string, show?: { board: string }, updates: Update[] }} Definition of an event
 * @typedef {{ board: string, member: string, score: string | number }} Update
 *
 * from, to: fields of the event; '': none
 * @typedef {{ amount: number, from: string, to: string, data: { [field: string]: unknown } }} Gift
 */

const SHOWN_MS = 5_000;
/** While others wait. */
const SHORT_MS = 3_000;
/** Beyond this number, the smallest of those that wait is left out. */
const MAX_WAITING = 10;

export class Alerts {
  #element = byId('alert', HTMLElement);
  #portrait = new Portrait(this.#element.querySelector('.portrait'));
  #board;
  #least;
  #format;
  /** @type {Definition | undefined} */
  #definition;
  /** @type {Gift[]} */
  #waiting = [];
  #isShown = false;

  /**
   * @param {string} event '': the first one that counts on the board
   * @param {string} board
   * @param {number} least amount of a gift that is shown
   * @param {{ format: () => import('../../kit/rankcast.js').Display, onMissing: () => void }} page format: of the board's scores now;
   *   onMissing: no event counts on the board
   */
  constructor(event, board, least, { format, onMissing }) {
    [this.#board] = board.split('@');
    this.#least = least;
    this.#format = format;
    const poll = new Poll(Infinity, async (signal) => {
      /** @type {{ events: Definition[] }} */
      const { events } = await fetchJSON('v1/events', signal);
      this.#definition = events.find((is) => (!event || is.event === event) && is.updates.some((update) => this.#mayCount(update)));
      if (!this.#definition) return onMissing();
      poll.stop();
      connectWithToken().feed(this.#definition.event, { onItems: (items) => items.forEach(({ data }) => this.#take(data)) });
    });
    poll.start();
  }

  /** @param {Update} update whether it may be one of the overlay's board */
  #mayCount({ board }) {
    const [name, ...parts] = board.split(':');
    const [own, ...ownParts] = this.#board.split(':');
    return name === own && parts.length === ownParts.length;
  }

  /** @param {{ [field: string]: unknown }} data of an event */
  #take(data) {
    const { updates, sender, show } = /** @type {Definition} */ (this.#definition);
    const own = updates.find(({ board }) => filled(board, data) === this.#board);
    const amount = Number(own && filled(String(own.score), data));
    if (!own || !(amount >= this.#least)) return;
    const fields = updates.map(({ member }) => fieldOf(member)).filter(Boolean);
    const star = fieldOf(updates.find(({ board }) => board === show?.board)?.member);
    const from = sender || fields.find((field) => field !== star) || fieldOf(own.member);
    this.#waiting.push({ amount, from, to: star || fields.find((field) => field !== from) || '', data });
    if (this.#waiting.length > MAX_WAITING) {
      const smallest = this.#waiting.reduce((least, gift) => (gift.amount < least.amount ? gift : least));
      this.#waiting.splice(this.#waiting.indexOf(smallest), 1);
    }
    if (!this.#isShown) this.#showNext();
  }

  async #showNext() {
    const gift = this.#waiting.shift();
    this.#isShown = gift !== undefined;
    if (!gift) {
      this.#element.hidden = true;
      return;
    }
    const [from, to] = await Promise.all([this.#profileOf(gift, gift.from), this.#profileOf(gift, gift.to)]);
    this.#portrait.render(from.id, from.name, from.avatar);
    setText(byId('alert-from', HTMLElement), from.name);
    setText(byId('alert-to', HTMLElement), to.name && text('overlay_gift_to', { name: to.name }));
    setText(byId('alert-amount', HTMLElement), formatsOf({ display: this.#format() }).short(gift.amount));
    // The next one enters anew.
    this.#element.hidden = true;
    requestAnimationFrame(() => (this.#element.hidden = false));
    document.dispatchEvent(new Event('gift')); // for the sound
    setTimeout(() => this.#showNext(), this.#waiting.length > 0 ? SHORT_MS : SHOWN_MS);
  }

  /**
   * @param {Gift} gift
   * @param {string} field that holds a member
   * @returns {Promise<{ id: string, name: string, avatar?: string }>}
   */
  async #profileOf({ data }, field) {
    const id = field ? String(data[field] ?? '') : '';
    const counted = this.#definition?.updates.find(({ member }) => fieldOf(member) === field);
    const { name, avatar } = id && counted ? await readProfile(filled(counted.board, data), id) : {};
    return { id, name: name ?? id, avatar };
  }
}

/** @param {string} [template] in which a field stands in braces; another one gives '' */
function fieldOf(template = '') {
  return /^\{(\w+)\}$/.exec(template)?.[1] ?? '';
}

/**
 * @param {string} template
 * @param {{ [field: string]: unknown }} data
 */
function filled(template, data) {
  return template.replace(/\{(\w+)\}/g, (_, field) => String(data[field] ?? ''));
}
