// @ts-check

/**
 * The credentials of a connection, which a function of the page gives: a token or a ticket. All
 * sessions of the connection use one token. A ticket opens one socket. connection.js makes a
 * Credentials for each connection with such a function.
 *
 * @import {TokenFunction} from './rankcast.js'
 * @import {Socket} from './socket.js'
 */

import { Authentication } from './authentication.js';
import { claimsOf, isTicket } from './claims.js';

/** A function that does not answer within this time has failed. */
const ASK_MS = 10_000;
export class Credentials {
  #ask;
  #now;
  /** @type {string | null} */
  #token = null;
  /** The last call of the page's function. @type {Promise<unknown>} */
  #last = Promise.resolve();

  /**
   * @param {TokenFunction} ask
   * @param {() => number} now the server's clock, ms since 1970
   */
  constructor(ask, now) {
    this.#ask = ask;
    this.#now = now;
  }

  /** @param {Socket} socket which they open */
  of(socket) {
    return new Authentication(this, socket);
  }

  /**
   * @returns {Promise<string | null>} the token that the sessions use, else what the page's function gives; null: none
   * @throws {Error} the function failed
   */
  get() {
    return this.#inTurn(() => (this.#token && this.timeLeft(this.#token) > 0 ? this.#token : this.#call()));
  }

  /**
   * @param {string} token which is about to expire
   * @returns {Promise<string | null>} the token that another session has got meanwhile, else what the page's function gives; null: none
   * @throws {Error} the function failed
   */
  renew(token) {
    return this.#inTurn(() => (this.#token && this.#token !== token ? this.#token : this.#call()));
  }

  /** @param {string | null} token which the server does not accept any more */
  drop(token) {
    if (this.#token === token) this.#token = null;
  }

  /**
   * @param {string} token
   * @returns {number} the time until the token expires, ms; Infinity: it does not say
   */
  timeLeft(token) {
    const { exp } = claimsOf(token);
    return typeof exp === 'number' ? exp * 1_000 - this.#now() : Infinity;
  }

  /**
   * Runs one task at a time: the second of two sessions uses the token that the first one gets.
   *
   * @param {() => string | Promise<string | null>} task
   */
  #inTurn(task) {
    const turn = this.#last.then(task);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #call() {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    /** @type {Promise<never>} */
    const limit = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${ASK_MS / 1_000} s`)), ASK_MS);
    });
    try {
      const ask = this.#ask;
      const credential = await Promise.race([ask(), limit]);
      if (credential !== null && (typeof credential !== 'string' || credential === ''))
        throw new TypeError('it returned neither a text nor null');
      this.#token = credential === null || isTicket(credential) ? null : credential;
      return credential;
    } finally {
      clearTimeout(timer);
    }
  }
}
