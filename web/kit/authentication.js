// @ts-check

/**
 * The credentials of one socket (socket.js): the token or ticket with which it opens, the first message, and renewals.
 *
 * @import {Credentials} from './credentials.js'
 * @import {Socket} from './socket.js'
 * @import {Refusal} from './subscription.js'
 */

import { isTicket } from './claims.js';
import { backoff, TEMPORARY } from './socket.js';

/** A token is renewed at least this long before it expires, and in the last tenth of its time. */
const RENEWAL_MS = 30_000;
/** The least time from one renewal to the next. */
const MIN_RENEWAL_MS = 5_000;
/** A browser's timers wait no longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class Authentication {
  #credentials;
  #socket;
  /** The token that the server has got; null: none, or a ticket. @type {string | null} */
  #token = null;
  /** The server has refused a token, and accepted none since. */
  #refused = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {Credentials} credentials
   * @param {Socket} socket
   */
  constructor(credentials, socket) {
    this.#credentials = credentials;
    this.#socket = socket;
  }

  /**
   * @returns {Promise<string>} the query with which the WebSocket opens
   * @throws {Error} the page's function failed
   */
  async query() {
    const credential = await this.#credentials.get();
    const ticket = credential !== null && isTicket(credential);
    this.#token = ticket ? null : credential;
    return ticket ? `?ticket=${encodeURIComponent(credential)}` : '';
  }

  /** The WebSocket is open. */
  begin() {
    if (this.#token) this.#send(this.#token);
    else this.#socket.begin();
  }

  /** The server does not accept the token any more. */
  drop() {
    this.#credentials.drop(this.#token);
  }

  /** The WebSocket is gone. */
  end() {
    clearTimeout(this.#timer);
  }

  /** @param {string} token the first one of this WebSocket, or its renewal */
  #send(token) {
    const socket = this.#socket;
    this.#token = token;
    socket.post({ type: 'auth', token }, (answer) => {
      if (answer?.type === 'error') {
        this.#onRefusal(token, answer);
      } else if (answer) {
        this.#refused = false;
        this.#scheduleRenewal(token);
        if (socket.phase === 'open') socket.owner.onRenewal();
        else socket.begin();
      }
    });
  }

  /**
   * @param {string} token
   * @param {Refusal} refusal
   */
  async #onRefusal(token, refusal) {
    const socket = this.#socket;
    if (TEMPORARY.has(refusal.code)) {
      // The server cannot check the token now. The token of before is valid until it expires.
      if (socket.phase === 'open') this.#renewLater(MIN_RENEWAL_MS + backoff(0), () => this.#send(token));
      else socket.lose();
      return;
    }
    this.#credentials.drop(token);
    if (this.#refused || refusal.code !== 'unauthorized') {
      socket.refuse(refusal);
      return;
    }
    // The token may have expired on its way, or its key may be gone: once, another one may help.
    this.#refused = true;
    const next = await socket.attempt(() => this.#credentials.get());
    if (next === undefined) return;
    if (next !== null && !isTicket(next)) this.#send(next);
    else socket.lose();
  }

  /** @param {string} token which the server has accepted */
  #scheduleRenewal(token) {
    const left = this.#credentials.timeLeft(token);
    if (left === Infinity) return;
    // At a random time, so that pages that came together do not renew together.
    const lead = Math.min(left / 2, RENEWAL_MS + Math.random() * Math.max(0, left / 10 - RENEWAL_MS));
    this.#renewLater(Math.max(left - lead, MIN_RENEWAL_MS), () => this.#renew(token, 0));
  }

  /**
   * @param {string} token
   * @param {number} attempt
   */
  async #renew(token, attempt) {
    const { signal } = this.#socket;
    /** @type {string | null} */
    let next;
    try {
      next = await this.#credentials.renew(token);
    } catch {
      // The server closes the socket with 4401 if no attempt gets a token in time.
      next = token;
    }
    if (signal.aborted) return;
    if (next === token) this.#renewLater(MIN_RENEWAL_MS + backoff(attempt), () => this.#renew(token, attempt + 1));
    else if (next && !isTicket(next)) this.#send(next);
  }

  /**
   * @param {number} ms
   * @param {() => void} renew
   */
  #renewLater(ms, renew) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(renew, Math.min(ms, MAX_TIMER_MS));
  }
}
