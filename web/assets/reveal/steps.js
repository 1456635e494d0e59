// @ts-check

/**
 * The steps of a reveal, as the host takes them: one at a time, each of the member that the host sees. So a request that is sent
 * again after a lost answer names the same member, and is no second step.
 *
 * public, pending: as everybody sees the member, and as it will be; null: it has no place there
 * @typedef {{ rank: number | null, score: number, columns?: { [name: string]: number } }} Place
 * @typedef {{ member: string, name?: string, avatar?: string, public: Place | null, pending: Place | null }} Pending
 * rank, score: null if the member has left
 * @typedef {{ member: string, name?: string, rank: number | null, score: number | null, columns?: { [name: string]: number },
 *   previous: Place | null }} Revealed
 */

import { lengthOf } from '../../kit/steps.js';
import { request } from '../console/api.js';
import { encodeSegment } from '../shared/links.js';

/** What comes next, and some of what comes after. */
const LISTED = 8;
/** A second press within this time, as of a double click or of a worn remote, is none. */
const SETTLE_MS = 800;
/** The places of a list of ten, and that below it from which a member enters. */
const PLACES = 11;

export class Steps {
  #path;
  #onChange;
  /** null: not known now. @type {Pending[] | null} */
  entries = null;
  /** The reveals that are left. */
  left = 0;
  /** undefined: the board is not frozen. @type {import('../../kit/rankcast.js').Frozen | undefined} */
  frozen = undefined;
  /** What the last step revealed. @type {Revealed | null} */
  last = null;
  /** Why the last step may not have happened. @type {unknown} */
  problem = undefined;
  isBusy = false;
  #pressedAt = -Infinity;
  /** When everybody has seen the last step. */
  #seenAt = -Infinity;

  /**
   * @param {string} board
   * @param {() => void} onChange
   */
  constructor(board, onChange) {
    this.#path = `v1/boards/${encodeSegment(board)}`;
    this.#onChange = onChange;
  }

  /** How long everybody still watches the last step, ms. */
  get wait() {
    return Math.max(0, this.#seenAt - performance.now());
  }

  /** @param {AbortSignal} [signal] */
  async load(signal) {
    const answer = await request('GET', `${this.#path}/pending`, { query: { order: 'reveal', limit: LISTED }, signal });
    // An answer that was on its way during a step may be of before it.
    if (this.isBusy) return;
    ({ entries: this.entries, total: this.left, frozen: this.frozen } = answer);
    this.#onChange();
  }

  /**
   * Reveals what comes next, unless a step is under way, or everybody still watches the last one.
   *
   * @returns {Promise<boolean>} whether it was asked for; `problem` says why it may not have happened
   */
  async next() {
    const [next] = this.entries ?? [];
    const now = performance.now();
    if (!next || this.isBusy || this.wait > 0 || now - this.#pressedAt < SETTLE_MS) return false;
    this.#pressedAt = now;
    await this.#send({ members: [next.member] });
    return true;
  }

  /**
   * Reveals all that is left.
   *
   * @param {{ reason: string } | undefined} reason
   */
  async all(reason) {
    await this.#send({ all: true, ...reason });
    if (this.problem) throw this.problem;
  }

  /** @param {object} body */
  async #send(body) {
    this.isBusy = true;
    this.problem = undefined;
    this.#onChange();
    try {
      const { revealed, left, frozen } = await request('POST', `${this.#path}/reveal`, { body });
      this.last = revealed.length === 1 ? revealed[0] : null;
      const to = this.last?.rank ?? PLACES;
      if (to < PLACES) this.#seenAt = performance.now() + lengthOf({ from: Math.min(this.last?.previous?.rank ?? PLACES, PLACES), to });
      this.left = left;
      this.frozen = frozen;
      // What the host saw is public now. The next answer says what comes next.
      this.entries = left === 0 ? [] : null;
    } catch (error) {
      this.problem = error;
    } finally {
      this.isBusy = false;
      this.#onChange();
    }
  }
}
