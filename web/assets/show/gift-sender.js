// @ts-check

/**
 * Gathers quick taps on one choice into one gift, sends it, and keeps it until the server has
 * answered it. The page that a reload opens goes on with the same ids, so that each tap counts once.
 * The sender never changes a gift that it has sent. gift-buttons.js uses the sender.
 *
 * Gift: choice is what a tap gives; at is the time of the last tap or of the first sending, ms since 1970.
 * Run: the taps on one choice for one star, but those that were refused; it ends RUN_MS after its last answer. taken: what the server
 * has taken of them.
 *
 * @typedef {{ id: string, star: string, fan: string, choice: number, amount: number, at: number }} Gift
 * @typedef {{ star: string, fan: string, taps: number, taken: number, gifts: number, timer?: ReturnType<typeof setTimeout> }} Run
 * @typedef {import('../../kit/rankcast.js').Problem} Problem
 */

import { newID, RETRY_MS } from '../../kit/connection.js';
import { ROOT } from '../shared/links.js';

/** A pause this long ends a gift. */
const PAUSE_MS = 300;
/** A gift gathers no longer than this, so that the board moves while a viewer goes on tapping. */
const GATHER_MS = 5_000;
/** The taps of a viewer who goes on at a calm pace are one run. */
const RUN_MS = 1_500;
/** More gifts than a viewer taps while a connection comes back. */
const MAX_PENDING = 100;

export class GiftSender {
  /** Gifts without an answer, by id. @type {Map<string, Gift>} */
  #gifts = new Map();
  /**
   * Those of them that still gather taps, by star, fan and choice.
   * @type {Map<string, { gift: Gift, since: number, timer: ReturnType<typeof setTimeout> }>}
   */
  #gathering = new Map();
  /** By star, fan and choice. @type {Map<string, Run>} */
  #runs = new Map();
  #bound = Infinity;
  #key;
  #send;
  #callbacks;

  /**
   * @param {string} event
   * @param {(gift: { id: string, star: string, fan: string, amount: number }, within: number) => Promise<any[]>} send
   * @param {object} callbacks
   * @param {() => void} callbacks.onChange
   * @param {(gift: Gift, results: any[]) => void} callbacks.onAccepted
   * @param {(gift: Gift, problem: Problem) => void} callbacks.onRefused
   */
  constructor(event, send, callbacks) {
    this.#key = `rankcast gifts ${ROOT.pathname}show/${event}`;
    this.#send = send;
    this.#callbacks = callbacks;
    // The browser may end a hidden page without another event.
    addEventListener('pagehide', () => this.#sendAll());
    document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && this.#sendAll());
  }

  /** @param {number} max the largest amount of one event; the caller sets it before the first tap */
  setBound(max) {
    this.#bound = max;
  }

  /** Sends the gifts that the last page left without an answer. */
  resume() {
    for (const gift of restore(this.#key)) {
      this.#add(gift);
      this.#runOf(gift).taps += Math.ceil(gift.amount / gift.choice);
      this.#start(gift);
    }
  }

  /** The number of gifts without an answer. */
  get pending() {
    return this.#gifts.size;
  }

  get full() {
    return this.pending >= MAX_PENDING;
  }

  /**
   * @param {string} star
   * @param {string} fan
   * @param {number} choice
   * @returns {number} the taps of the run
   */
  taps(star, fan, choice) {
    return this.#runs.get(keyOf({ star, fan, choice }))?.taps ?? 0;
  }

  /**
   * @param {string} star
   * @param {string} fan
   * @returns {number} what the server has taken of the runs on all choices
   */
  taken(star, fan) {
    const runs = [...this.#runs.values()].filter((run) => run.star === star && run.fan === fan);
    return runs.reduce((sum, { taken }) => sum + taken, 0);
  }

  /**
   * Counts a tap.
   *
   * @param {string} star
   * @param {string} fan
   * @param {number} choice
   */
  tap(star, fan, choice) {
    const key = keyOf({ star, fan, choice });
    for (let left = choice; left > 0; ) {
      const amount = Math.min(left, this.#bound);
      const before = this.#gathering.get(key);
      if (before && (before.gift.amount + amount > this.#bound || Date.now() - before.since >= GATHER_MS)) this.#seal(key);
      this.#gather(key, { star, fan, choice }, amount);
      left -= amount;
    }
    this.#runOf({ star, fan, choice }).taps++;
    this.#store();
    this.#callbacks.onChange();
  }

  /**
   * @param {string} key
   * @param {{ star: string, fan: string, choice: number }} of
   * @param {number} amount
   */
  #gather(key, of, amount) {
    const at = Date.now();
    const { gift, since, timer } = this.#gathering.get(key) ?? {
      gift: { id: newID(), ...of, amount: 0, at },
      since: at,
      timer: undefined,
    };
    clearTimeout(timer);
    if (!this.#gifts.has(gift.id)) this.#add(gift);
    gift.amount += amount;
    gift.at = at;
    this.#gathering.set(key, { gift, since, timer: setTimeout(() => this.#seal(key), PAUSE_MS) });
  }

  /** @param {string} key of a gift that gathers no more */
  #seal(key) {
    const { gift, timer } = /** @type {{ gift: Gift, timer: ReturnType<typeof setTimeout> }} */ (this.#gathering.get(key));
    clearTimeout(timer);
    this.#gathering.delete(key);
    // The bound may have become smaller since the taps.
    const parts = [gift];
    for (let left = gift.amount - this.#bound; left > 0; left -= this.#bound) {
      const rest = { ...gift, id: newID(), amount: Math.min(left, this.#bound) };
      this.#add(rest);
      parts.push(rest);
    }
    gift.amount = Math.min(gift.amount, this.#bound);
    for (const part of parts) {
      part.at = Date.now();
      this.#start(part);
    }
  }

  #sendAll() {
    for (const key of [...this.#gathering.keys()]) this.#seal(key);
  }

  /** @param {{ star: string, fan: string, choice: number }} of */
  #runOf(of) {
    const key = keyOf(of);
    const run = this.#runs.get(key) ?? { star: of.star, fan: of.fan, taps: 0, taken: 0, gifts: 0 };
    this.#runs.set(key, run);
    return run;
  }

  /** @param {Gift} gift */
  #add(gift) {
    this.#gifts.set(gift.id, gift);
    const run = this.#runOf(gift);
    clearTimeout(run.timer);
    run.gifts++;
  }

  /** @param {Gift} gift */
  async #start(gift) {
    const { id, star, fan, amount, at } = gift;
    this.#store();
    this.#callbacks.onChange();
    const run = this.#runOf(gift);
    /** @type {() => void} */
    let report;
    try {
      const results = await this.#send({ id, star, fan, amount }, RETRY_MS - (Date.now() - at));
      run.taken += amount;
      report = () => this.#callbacks.onAccepted(gift, results);
    } catch (problem) {
      run.taps -= Math.ceil(amount / gift.choice);
      report = () => this.#callbacks.onRefused(gift, /** @type {Problem} */ (problem));
    }
    this.#gifts.delete(id);
    if (--run.gifts === 0) run.timer = setTimeout(() => this.#endRun(gift), RUN_MS);
    this.#store();
    this.#callbacks.onChange();
    report();
  }

  /** @param {{ star: string, fan: string, choice: number }} of */
  #endRun(of) {
    this.#runs.delete(keyOf(of));
    this.#callbacks.onChange();
  }

  #store() {
    try {
      sessionStorage.setItem(this.#key, JSON.stringify([...this.#gifts.values()]));
    } catch {
      // The storage is full or not allowed. A reload then forgets the gifts.
    }
  }
}

/** @param {{ star: string, fan: string, choice: number }} of */
function keyOf({ star, fan, choice }) {
  return JSON.stringify([star, fan, choice]);
}

/**
 * @param {string} key
 * @returns {Gift[]} the stored gifts whose ids the server still knows
 */
function restore(key) {
  try {
    /** @type {Gift[]} */
    const gifts = JSON.parse(sessionStorage.getItem(key) ?? '[]');
    const now = Date.now();
    return gifts.filter(
      ({ id, star, fan, choice, amount, at }) =>
        [id, star, fan].every((field) => typeof field === 'string' && field !== '') &&
        choice > 0 &&
        Number.isSafeInteger(amount) &&
        at <= now &&
        now - at < RETRY_MS,
    );
  } catch {
    return [];
  }
}
