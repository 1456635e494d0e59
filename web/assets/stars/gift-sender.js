// @ts-check

/**
 * Gifts that were sent and are not answered yet. Each is sent under one id until it is, also by
 * the page that is there after a reload, so that it counts once. So does a double tap: it is
 * the same gift.
 *
 * @typedef {{ id: string, star: string, user: string, flowers: number, at: number }} Gift at: ms since 1970
 * @typedef {import('../../kit/rankcast.js').Problem} Problem
 */

import { newID, RETRY_MS } from '../../kit/connection.js';
import { ROOT } from '../shared/page.js';

/** A tap so soon after another is the second half of a double tap, even if the first is answered. */
const TAP_MS = 700;
/** More than anybody taps while a connection comes back. */
const MOST = 12;
const STORED_AS = `rankcast gifts ${ROOT.pathname}`;

export class Gifts {
  /** By what makes two of them the same. @type {Map<string, Gift>} */
  #unanswered = new Map();
  /** Tapped just now. @type {Set<string>} */
  #tapped = new Set();
  #send;
  #on;

  /**
   * @param {(gift: { id: string, star: string, user: string, flowers: number }, within: number) => Promise<any[]>} send
   * @param {object} on
   * @param {() => void} on.change
   * @param {(gift: Gift, results: any[]) => void} on.taken
   * @param {(gift: Gift, problem: Problem) => void} on.refused
   */
  constructor(send, on) {
    this.#send = send;
    this.#on = on;
  }

  /** Sends what the page before this one has left. */
  resume() {
    for (const gift of restore()) this.#begin(gift);
  }

  /** How many there are. */
  get size() {
    return this.#unanswered.size;
  }

  get full() {
    return this.size >= MOST;
  }

  /**
   * @param {string} star
   * @param {string} user
   * @param {number} flowers
   * @returns {boolean} whether giving this now would be the same gift as one before
   */
  isOnItsWay(star, user, flowers) {
    const key = keyOf(star, user, flowers);
    return this.#unanswered.has(key) || this.#tapped.has(key);
  }

  /**
   * Gives it, unless it is on its way.
   *
   * @param {string} star
   * @param {string} user
   * @param {number} flowers
   * @returns {boolean} whether it did
   */
  give(star, user, flowers) {
    if (this.isOnItsWay(star, user, flowers)) return false;
    const key = keyOf(star, user, flowers);
    this.#tapped.add(key);
    setTimeout(() => {
      this.#tapped.delete(key);
      this.#on.change();
    }, TAP_MS);
    this.#begin({ id: newID(), star, user, flowers, at: Date.now() });
    return true;
  }

  /** @param {Gift} gift */
  async #begin(gift) {
    const { id, star, user, flowers, at } = gift;
    const key = keyOf(star, user, flowers);
    this.#unanswered.set(key, gift);
    this.#store();
    this.#on.change();
    /** @type {() => void} */
    let tell;
    try {
      const results = await this.#send({ id, star, user, flowers }, RETRY_MS - (Date.now() - at));
      const refusal = results.find(({ board }) => board === 'stars')?.error;
      tell = refusal ? () => this.#on.refused(gift, refusal) : () => this.#on.taken(gift, results);
    } catch (problem) {
      tell = () => this.#on.refused(gift, /** @type {Problem} */ (problem));
    }
    this.#unanswered.delete(key);
    this.#store();
    this.#on.change();
    tell();
  }

  #store() {
    try {
      sessionStorage.setItem(STORED_AS, JSON.stringify([...this.#unanswered.values()]));
    } catch {
      // It is full, or not allowed: then a reload forgets them.
    }
  }
}

/**
 * @param {string} star
 * @param {string} user
 * @param {number} flowers
 */
function keyOf(star, user, flowers) {
  return JSON.stringify([star, user, flowers]);
}

/** @returns {Gift[]} what was stored and may still be sent */
function restore() {
  try {
    /** @type {Gift[]} */
    const gifts = JSON.parse(sessionStorage.getItem(STORED_AS) ?? '[]');
    const now = Date.now();
    return gifts.slice(0, MOST).filter(
      ({ id, star, user, flowers, at }) =>
        [id, star, user].every((field) => typeof field === 'string' && field !== '') && Number.isSafeInteger(flowers) && at <= now && now - at < RETRY_MS,
    );
  } catch {
    return [];
  }
}
