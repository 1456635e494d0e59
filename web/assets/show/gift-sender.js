// @ts-check

/**
 * Gathers quick taps on one size of gift into one gift, sends it, and keeps it until the server has
 * answered it. The page that a reload opens goes on with the same ids, so that each tap counts once.
 * The sender never changes a gift that it has sent. gift-buttons.js uses the sender.
 *
 * Gift: size is what a tap gives; at is the time of the last tap or of the first sending, ms since 1970.
 * Run: the taps on one size for one star until all of them are answered.
 *
 * @typedef {{ id: string, star: string, user: string, size: number, flowers: number, at: number }} Gift
 * @typedef {{ taps: number, gifts: number }} Run
 * @typedef {import('../../kit/rankcast.js').Problem} Problem
 */

import { newID, RETRY_MS } from '../../kit/connection.js';
import { ROOT } from '../shared/links.js';

/** A pause this long ends a gift. */
const PAUSE_MS = 300;
/** A gift gathers no longer than this, so that the board moves while a viewer goes on tapping. */
const GATHER_MS = 5_000;
/** The most flowers of a gift, where the event sets no bound: a hundred taps on the largest size. */
const MAX_FLOWERS = 9_900;
/** Until the bound of the event is known, the one of the documentation's example holds. */
const UNKNOWN_BOUND = 99;
/** More gifts than a viewer taps while a connection comes back. */
const MAX_PENDING = 100;
const STORAGE_KEY = `rankcast gifts ${ROOT.pathname}`;

export class GiftSender {
  /** Gifts without an answer, by id. @type {Map<string, Gift>} */
  #gifts = new Map();
  /**
   * Those of them that still gather taps, by star, user and size.
   * @type {Map<string, { gift: Gift, since: number, timer: ReturnType<typeof setTimeout> }>}
   */
  #gathering = new Map();
  /** By star, user and size. @type {Map<string, Run>} */
  #runs = new Map();
  #bound = UNKNOWN_BOUND;
  #send;
  #callbacks;

  /**
   * @param {(gift: { id: string, star: string, user: string, flowers: number }, within: number) => Promise<any[]>} send
   * @param {object} callbacks
   * @param {() => void} callbacks.onChange
   * @param {(gift: Gift, results: any[]) => void} callbacks.onAccepted
   * @param {(gift: Gift, problem: Problem) => void} callbacks.onRefused
   */
  constructor(send, callbacks) {
    this.#send = send;
    this.#callbacks = callbacks;
    // The browser may end a hidden page without another event.
    addEventListener('pagehide', () => this.#sendAll());
    document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && this.#sendAll());
  }

  /** @param {number | undefined} max the most flowers of one event; undefined: the event sets no bound; 0: not known */
  setBound(max = MAX_FLOWERS) {
    this.#bound = Math.min(max || UNKNOWN_BOUND, MAX_FLOWERS);
  }

  /** Sends the gifts that the last page left without an answer. */
  resume() {
    for (const gift of restore()) {
      this.#add(gift);
      this.#runOf(gift).taps += Math.ceil(gift.flowers / gift.size);
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
   * @param {string} user
   * @param {number} size
   * @returns {number} taps without an answer
   */
  taps(star, user, size) {
    return this.#runs.get(keyOf({ star, user, size }))?.taps ?? 0;
  }

  /**
   * Counts a tap.
   *
   * @param {string} star
   * @param {string} user
   * @param {number} size
   */
  tap(star, user, size) {
    const key = keyOf({ star, user, size });
    for (let left = size; left > 0; ) {
      const flowers = Math.min(left, this.#bound);
      const before = this.#gathering.get(key);
      if (before && (before.gift.flowers + flowers > this.#bound || Date.now() - before.since >= GATHER_MS)) this.#seal(key);
      this.#gather(key, { star, user, size }, flowers);
      left -= flowers;
    }
    this.#runOf({ star, user, size }).taps++;
    this.#store();
    this.#callbacks.onChange();
  }

  /**
   * @param {string} key
   * @param {{ star: string, user: string, size: number }} of
   * @param {number} flowers
   */
  #gather(key, of, flowers) {
    const at = Date.now();
    const { gift, since, timer } = this.#gathering.get(key) ?? {
      gift: { id: newID(), ...of, flowers: 0, at },
      since: at,
      timer: undefined,
    };
    clearTimeout(timer);
    if (!this.#gifts.has(gift.id)) this.#add(gift);
    gift.flowers += flowers;
    gift.at = at;
    this.#gathering.set(key, { gift, since, timer: setTimeout(() => this.#seal(key), PAUSE_MS) });
  }

  /** @param {string} key of a gift that gathers no more */
  #seal(key) {
    const { gift, timer } = /** @type {{ gift: Gift, timer: ReturnType<typeof setTimeout> }} */ (this.#gathering.get(key));
    clearTimeout(timer);
    this.#gathering.delete(key);
    // The bound may have become known, or smaller, since the taps.
    const parts = [gift];
    for (let left = gift.flowers - this.#bound; left > 0; left -= this.#bound) {
      const rest = { ...gift, id: newID(), flowers: Math.min(left, this.#bound) };
      this.#add(rest);
      parts.push(rest);
    }
    gift.flowers = Math.min(gift.flowers, this.#bound);
    for (const part of parts) {
      part.at = Date.now();
      this.#start(part);
    }
  }

  #sendAll() {
    for (const key of [...this.#gathering.keys()]) this.#seal(key);
  }

  /** @param {{ star: string, user: string, size: number }} of */
  #runOf(of) {
    const key = keyOf(of);
    const run = this.#runs.get(key) ?? { taps: 0, gifts: 0 };
    this.#runs.set(key, run);
    return run;
  }

  /** @param {Gift} gift */
  #add(gift) {
    this.#gifts.set(gift.id, gift);
    this.#runOf(gift).gifts++;
  }

  /** @param {Gift} gift */
  async #start(gift) {
    const { id, star, user, flowers, at } = gift;
    this.#store();
    this.#callbacks.onChange();
    /** @type {() => void} */
    let report;
    try {
      const results = await this.#send({ id, star, user, flowers }, RETRY_MS - (Date.now() - at));
      report = () => this.#callbacks.onAccepted(gift, results);
    } catch (problem) {
      report = () => this.#callbacks.onRefused(gift, /** @type {Problem} */ (problem));
    }
    this.#gifts.delete(id);
    if (--this.#runOf(gift).gifts === 0) this.#runs.delete(keyOf(gift));
    this.#store();
    this.#callbacks.onChange();
    report();
  }

  #store() {
    try {
      sessionStorage.setItem(STORAGE_KEY, JSON.stringify([...this.#gifts.values()]));
    } catch {
      // The storage is full or not allowed. A reload then forgets the gifts.
    }
  }
}

/** @param {{ star: string, user: string, size: number }} of */
function keyOf({ star, user, size }) {
  return JSON.stringify([star, user, size]);
}

/** @returns {Gift[]} the stored gifts whose ids the server still knows */
function restore() {
  try {
    /** @type {Gift[]} */
    const gifts = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '[]');
    const now = Date.now();
    return gifts.filter(
      ({ id, star, user, size, flowers, at }) =>
        [id, star, user].every((field) => typeof field === 'string' && field !== '') &&
        size > 0 &&
        Number.isSafeInteger(flowers) &&
        at <= now &&
        now - at < RETRY_MS,
    );
  } catch {
    return [];
  }
}
