// @ts-check

/**
 * Sends gifts, and keeps each until the server has answered it. The page that a reload opens goes
 * on with the same ids, so that each gift counts once. A double tap is one gift. gift-buttons.js
 * uses it.
 *
 * @typedef {{ id: string, star: string, user: string, flowers: number, at: number }} Gift at: ms since 1970
 * @typedef {import('../../kit/rankcast.js').Problem} Problem
 */

import { newID, RETRY_MS } from '../../kit/connection.js';
import { ROOT } from '../shared/links.js';

/** A tap within this time after another is the second half of a double tap, even if the server has answered the first. */
const DOUBLE_TAP_MS = 700;
/** More gifts than a viewer taps while a connection comes back. */
const MAX_PENDING = 12;
const STORAGE_KEY = `rankcast gifts ${ROOT.pathname}`;

export class GiftSender {
  /** Gifts without an answer, by what makes two gifts the same. @type {Map<string, Gift>} */
  #pending = new Map();
  /** Gifts tapped within DOUBLE_TAP_MS. @type {Set<string>} */
  #recent = new Set();
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
  }

  /** Sends the gifts that the last page left without an answer. */
  resume() {
    for (const gift of restore()) this.#start(gift);
  }

  /** The number of gifts without an answer. */
  get pending() {
    return this.#pending.size;
  }

  get full() {
    return this.pending >= MAX_PENDING;
  }

  /**
   * @param {string} star
   * @param {string} user
   * @param {number} flowers
   * @returns {boolean} whether another such gift would be the same gift as one before
   */
  isPending(star, user, flowers) {
    const key = keyOf(star, user, flowers);
    return this.#pending.has(key) || this.#recent.has(key);
  }

  /**
   * Sends a gift, unless the same gift is pending.
   *
   * @param {string} star
   * @param {string} user
   * @param {number} flowers
   * @returns {boolean} whether it was sent
   */
  send(star, user, flowers) {
    if (this.isPending(star, user, flowers)) return false;
    const key = keyOf(star, user, flowers);
    this.#recent.add(key);
    setTimeout(() => {
      this.#recent.delete(key);
      this.#callbacks.onChange();
    }, DOUBLE_TAP_MS);
    this.#start({ id: newID(), star, user, flowers, at: Date.now() });
    return true;
  }

  /** @param {Gift} gift */
  async #start(gift) {
    const { id, star, user, flowers, at } = gift;
    const key = keyOf(star, user, flowers);
    this.#pending.set(key, gift);
    this.#store();
    this.#callbacks.onChange();
    /** @type {() => void} */
    let report;
    try {
      const results = await this.#send({ id, star, user, flowers }, RETRY_MS - (Date.now() - at));
      const refusal = results.find(({ board }) => board === 'stars')?.error;
      report = refusal ? () => this.#callbacks.onRefused(gift, refusal) : () => this.#callbacks.onAccepted(gift, results);
    } catch (problem) {
      report = () => this.#callbacks.onRefused(gift, /** @type {Problem} */ (problem));
    }
    this.#pending.delete(key);
    this.#store();
    this.#callbacks.onChange();
    report();
  }

  #store() {
    try {
      sessionStorage.setItem(STORAGE_KEY, JSON.stringify([...this.#pending.values()]));
    } catch {
      // The storage is full or not allowed. A reload then forgets the gifts.
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

/** @returns {Gift[]} the stored gifts whose ids the server still knows */
function restore() {
  try {
    /** @type {Gift[]} */
    const gifts = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '[]');
    const now = Date.now();
    return gifts.slice(0, MAX_PENDING).filter(
      ({ id, star, user, flowers, at }) =>
        [id, star, user].every((field) => typeof field === 'string' && field !== '') && Number.isSafeInteger(flowers) && at <= now && now - at < RETRY_MS,
    );
  } catch {
    return [];
  }
}
