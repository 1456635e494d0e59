// @ts-check

/**
 * What the overlay says over the picture for some seconds: each gift of at least some amount, with who sent it and for whom, and
 * a new leader, if there is room. A gift is an event that counts on the overlay's board.
 */

import { fetchJSON, HTTPError } from '../shared/api.js';
import { fieldOf, findDefinition } from '../shared/board-name.js';
import { connectWithToken } from '../shared/connection.js';
import { byId, setText } from '../shared/dom.js';
import { readProfile } from '../shared/member-name.js';
import { Poll } from '../shared/poll.js';
import { Portrait } from '../shared/portrait.js';
import { text } from '../shared/texts.js';

/**
 * weight: the less, the sooner an alert gives way to others that wait; line: below the name; amount: beside it
 * @typedef {{ weight: number, id: string, name: string, avatar?: string, line: string, amount: string }} Alert
 *
 * @typedef {{ event: string, sender?: string, show?: { board: string }, updates: Update[] }} Definition of an event
 * @typedef {{ board: string, member: string, score: string | number }} Update
 * @typedef {{ [field: string]: unknown }} Data of an event
 */

const SHOWN_MS = 5_000;
/** While others wait. */
const SHORT_MS = 3_000;
/** An event that is missing may be defined later. */
const RETRY_MS = 30_000;
/** Beyond this number, that of the least weight is left out. */
const MAX_WAITING = 10;

export class Alerts {
  #element = byId('alert', HTMLElement);
  /** @type {Portrait | undefined} */
  #portrait;
  /** @type {Alert[]} */
  #waiting = [];
  #isShown = false;

  /** @param {Alert} alert */
  show(alert) {
    this.#waiting.push(alert);
    if (this.#waiting.length > MAX_WAITING) {
      const least = this.#waiting.reduce((least, other) => (other.weight < least.weight ? other : least));
      this.#waiting.splice(this.#waiting.indexOf(least), 1);
    }
    if (!this.#isShown) this.#showNext();
  }

  #showNext() {
    const alert = this.#waiting.shift();
    this.#isShown = alert !== undefined;
    this.#element.hidden = true;
    if (!alert) return;
    this.#portrait ??= new Portrait(this.#element.querySelector('.portrait'));
    this.#portrait.render(alert.id, alert.name, alert.avatar);
    setText(byId('alert-name', HTMLElement), alert.name);
    setText(byId('alert-line', HTMLElement), alert.line);
    setText(byId('alert-amount', HTMLElement), alert.amount);
    // The next one enters anew.
    requestAnimationFrame(() => (this.#element.hidden = false));
    setTimeout(() => this.#showNext(), this.#waiting.length > 0 ? SHORT_MS : SHOWN_MS);
  }
}

/**
 * Alerts of gifts.
 *
 * @param {Alerts} alerts
 * @param {{ event: string, board: string, least: number, format: (amount: number) => string, onFault: (fault: string) => void }} page
 *   event: '': the first one that counts on the board; least: amount of a gift that is shown; onFault: why there are no gifts;
 *   '': there are
 */
export function watchGifts(alerts, { event, board, least, format, onFault }) {
  const [own] = board.split('@');
  /** Alerts stand in the order of their gifts, whichever profiles come first. */
  let shown = Promise.resolve();
  const poll = new Poll(RETRY_MS, async (signal) => {
    /** @type {{ events: Definition[] }} */
    const { events } = await fetchJSON('v1/events', signal).catch((error) => {
      if (error instanceof HTTPError && error.code) refuse();
      throw error;
    });
    const definition = events.find((is) => (!event || is.event === event) && findDefinition(is.updates, own));
    if (!definition) return onFault(event ? text('overlay_gifts_none', { event }) : text('overlay_gifts_nothing'));
    poll.stop();
    onFault('');
    connectWithToken().feed(definition.event, {
      onItems: (items) => {
        for (const { data } of items) if (amountOf(definition, own, data) >= least) showGift(definition, data);
      },
      onError: refuse,
    });
  });
  poll.start();

  function refuse() {
    onFault(text('overlay_gifts_refused'));
  }

  /**
   * @param {Definition} definition
   * @param {Data} data
   */
  function showGift(definition, data) {
    const { updates, sender, show } = definition;
    const fields = updates.map(({ member }) => fieldOf(member)).filter(Boolean);
    const star = fieldOf(updates.find(({ board }) => board === show?.board)?.member);
    const from = sender || fields.find((field) => field !== star) || fields[0] || '';
    const to = star || fields.find((field) => field !== from) || '';
    const weight = amountOf(definition, own, data);
    const profiles = Promise.all([profileOf(definition, from, data), profileOf(definition, to, data)]);
    shown = shown.then(async () => {
      const [giver, taker] = await profiles;
      document.dispatchEvent(new Event('gift')); // for the sound
      alerts.show({ ...giver, weight, line: taker.name && text('overlay_gift_to', { name: taker.name }), amount: format(weight) });
    });
  }
}

/**
 * @param {Definition} definition
 * @param {string} own
 * @param {Data} data
 * @returns {number} what the event counts on the board; NaN: it does not
 */
function amountOf({ updates }, own, data) {
  const update = updates.find(({ board }) => filled(board, data) === own);
  return update ? Number(filled(String(update.score), data)) : NaN;
}

/**
 * @param {Definition} definition
 * @param {string} field that holds a member; '': none
 * @param {Data} data
 * @returns {Promise<{ id: string, name: string, avatar?: string }>}
 */
async function profileOf({ updates }, field, data) {
  const id = field ? String(data[field] ?? '') : '';
  const counted = updates.find(({ member }) => fieldOf(member) === field);
  const { name, avatar } = id && counted ? await readProfile(filled(counted.board, data), id) : {};
  return { id, name: name ?? id, avatar };
}

/**
 * @param {string} template
 * @param {Data} data
 */
function filled(template, data) {
  return template.replace(/\{(\w+)\}/g, (_, field) => String(data[field] ?? ''));
}
