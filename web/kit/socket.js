// @ts-check

/**
 * A WebSocket that reconnects, and that detects a server that is gone without a close frame. With
 * credentials, it is open once the server has accepted them. It knows nothing of boards.
 * connection.js uses one for each session.
 *
 * @import {Credentials} from './credentials.js'
 * @import {Problem} from './rankcast.js'
 * @import {Answer, Frame, Refusal} from './subscription.js'
 *
 * idle: not opened; away: lost, a reconnect is due; stopped: refused for good
 * @typedef {'idle' | 'connecting' | 'open' | 'away' | 'stopped'} Phase
 *
 * @typedef {object} Owner
 * @property {() => void} onPhase
 * @property {(frame: Frame) => void} onFrame
 * @property {() => void} onRenewal the open socket has a new token, which may allow more
 */

import { isTicket } from './credentials.js';

/** Upper bound of the first wait before a reconnect. The bound doubles with each attempt. */
const FIRST_WAIT_MS = 250;
/** Upper bound of every wait: the page finds a server that returns within this time. */
const MAX_WAIT_MS = 15_000;
/** A connection that lasted this long was sound: waits start small again. */
const STABLE_MS = 5_000;
/** An attempt may get no answer at all, not even a refusal. */
const CONNECT_MS = 10_000;
/** A board without changes sends nothing, so after this long a ping tests the connection. */
const QUIET_MS = 20_000;
/** How long the answer to that ping may take. */
const ANSWER_MS = 5_000;
/** Upper bound of the wait that a server may ask for. */
const MAX_RETRY_MS = 60_000;
/** The number of the first attempt after "too many messages" (1008) or "overloaded" (1013): a wait of up to 4 s. */
const OVERLOADED_ATTEMPT = 4;
/** The close code for credentials that have expired, and for a ticket that is not valid. */
const UNAUTHORIZED_CLOSE = 4401;
/** A token is renewed at least this long before it expires, and in the last tenth of its time. */
const RENEWAL_MS = 30_000;
/** The least time from one renewal to the next. */
const MIN_RENEWAL_MS = 5_000;
/** A browser's timers wait no longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Codes of refusals after which the kit tries again. */
export const TEMPORARY = new Set(['unavailable', 'overloaded', 'rate_limited', 'limit_reached']);
/** Codes of refusals that another token may end. */
export const RIGHTS = new Set(['unauthorized', 'forbidden']);

/**
 * Exponential, with full jitter, so that clients that were cut off together do not come back together.
 *
 * @param {number} attempt 0 for the first
 * @returns {number} how long to wait, ms
 */
export function backoff(attempt) {
  return Math.random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
}

/** A refusal, as `Problem` of rankcast.d.ts describes it. */
export class RankcastError extends Error {
  name = /** @type {const} */ ('RankcastError');

  /** @param {{ code: string, message: string, field?: string }} refusal of the server, or of the kit */
  constructor({ code, message, field }) {
    super(message);
    this.code = code;
    this.field = field;
  }
}

export class Socket {
  /** @type {Phase} */
  phase = 'idle';
  /** Why the socket is stopped. @type {Problem | null} */
  problem = null;
  /** Why the last attempt to connect got no token from the page. @type {Problem | null} */
  tokenProblem = null;

  #url;
  #owner;
  #credentials;
  /** The token that the server has got; null: none, or a ticket. @type {string | null} */
  #token = null;
  /** The server has refused a token, and accepted none since. */
  #refused = false;
  /** @type {WebSocket | null} */
  #socket = null;
  /** Removes the listeners on the WebSocket. */
  #socketListeners = new AbortController();
  /** Removes the listeners on the page. */
  #pageListeners = new AbortController();
  #byeMs = 0;
  #attempt = 0;
  #openedAt = 0;
  #receivedAt = 0;
  /** The server asked for no attempt before this time. */
  #notBefore = 0;
  #lastID = 0;
  /** What waits for an answer, by id. @type {Map<number, (answer: Answer | null) => void>} */
  #waiting = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retryTimer;
  /** The connect, quiet and answer time-outs: one at a time. @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #renewalTimer;

  /**
   * @param {string} url
   * @param {Owner} owner
   * @param {Credentials | null} credentials null: the page gives none
   */
  constructor(url, owner, credentials) {
    this.#url = url;
    this.#owner = owner;
    this.#credentials = credentials;
  }

  /** Opens the socket, and keeps it open until {@link close}. */
  open() {
    if (this.phase !== 'idle') return;
    this.phase = 'connecting';
    this.#pageListeners = new AbortController();
    const { signal } = this.#pageListeners;
    const wake = () => this.#wake();
    addEventListener('online', wake, { signal });
    document.addEventListener('visibilitychange', wake, { signal });
    this.#connect();
  }

  /** Closes the socket. {@link open} may open it again. */
  close() {
    this.#detach();
    this.#pageListeners.abort();
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.phase = 'idle';
    this.problem = this.tokenProblem = null;
    this.#refused = false;
    this.#attempt = 0;
  }

  /**
   * @param {{ type: string, [field: string]: unknown }} frame dropped unless the socket is open
   * @param {(answer: Answer | null) => void} [onAnswer] null: the socket was lost, or was not open
   */
  send(frame, onAnswer) {
    if (this.phase === 'open') this.#post(frame, onAnswer);
    else onAnswer?.(null);
  }

  /**
   * @param {{ type: string, [field: string]: unknown }} frame
   * @param {(answer: Answer | null) => void} [onAnswer]
   */
  #post(frame, onAnswer) {
    if (this.#socket?.readyState !== WebSocket.OPEN) {
      onAnswer?.(null);
      return;
    }
    const id = ++this.#lastID;
    if (onAnswer) this.#waiting.set(id, onAnswer);
    this.#socket.send(JSON.stringify({ ...frame, id }));
  }

  // A hidden tab or a sleeping machine may have delayed a timer by minutes, and the page is
  // visible now.
  #wake() {
    if (document.hidden) return;
    if (this.#retryTimer !== undefined) {
      if (Date.now() >= this.#notBefore) this.#connect();
    } else if (this.phase === 'open' && Date.now() - this.#receivedAt > ANSWER_MS) {
      this.#probe();
    }
  }

  #connect() {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#byeMs = 0;
    if (this.#credentials) this.#requestToken(this.#credentials, (token) => this.#dial(token));
    else this.#dial(null);
  }

  /**
   * @param {Credentials} credentials
   * @param {(token: string | null) => void} use unless the attempt has ended meanwhile
   */
  async #requestToken(credentials, use) {
    if (!this.#socket) this.#socketListeners = new AbortController();
    const { signal } = this.#socketListeners;
    let token = null;
    try {
      token = await credentials.get();
      this.tokenProblem = null;
    } catch (error) {
      if (signal.aborted) return;
      this.tokenProblem = new RankcastError({ code: 'no_token', message: `The page's function gave no token: ${error}` });
      this.#onClose();
      return;
    }
    if (!signal.aborted) use(token);
  }

  /** @param {string | null} credential */
  #dial(credential) {
    const ticket = credential !== null && isTicket(credential);
    this.#token = ticket ? null : credential;
    /** @type {WebSocket} */
    let socket;
    try {
      socket = new WebSocket(ticket ? `${this.#url}?ticket=${encodeURIComponent(credential)}` : this.#url, 'rankcast.v1');
    } catch (error) {
      // The URL is invalid, or the page may not open it.
      this.#stop({ code: 'cannot_connect', message: String(error) });
      return;
    }
    this.#socket = socket;
    this.#socketListeners = new AbortController();
    const { signal } = this.#socketListeners;
    socket.addEventListener('open', () => this.#onOpen(), { signal });
    socket.addEventListener('message', ({ data }) => this.#onMessage(data), { signal });
    socket.addEventListener('close', ({ code, reason }) => this.#onClose(code, reason), { signal });
    this.#timer = setTimeout(() => this.#onClose(), CONNECT_MS);
  }

  #onOpen() {
    this.#openedAt = this.#receivedAt = Date.now();
    if (this.#token) this.#authenticate(this.#token);
    else this.#begin();
  }

  #begin() {
    this.#watchSilence();
    this.#setPhase('open');
  }

  /** @param {string} token the first one of this WebSocket, or its renewal */
  #authenticate(token) {
    this.#token = token;
    this.#post({ type: 'auth', token }, (answer) => {
      if (answer?.type === 'error') {
        this.#onRefusal(token, answer);
      } else if (answer) {
        this.#refused = false;
        this.#scheduleRenewal(token);
        if (this.phase === 'open') this.#owner.onRenewal();
        else this.#begin();
      }
    });
  }

  /**
   * @param {string} token
   * @param {Refusal} refusal
   */
  #onRefusal(token, refusal) {
    const credentials = this.#credentials;
    if (TEMPORARY.has(refusal.code)) {
      // The server cannot check the token now. The token of before is valid until it expires.
      if (this.phase === 'open') this.#renewLater(MIN_RENEWAL_MS + backoff(0), () => this.#authenticate(token));
      else this.#onClose();
      return;
    }
    credentials?.drop(token);
    if (!credentials || this.#refused || refusal.code !== 'unauthorized') {
      this.#detach();
      this.#stop(refusal);
      return;
    }
    // The token may have expired on its way, or its key may be gone: once, another one may help.
    this.#refused = true;
    this.#requestToken(credentials, (next) => {
      if (next !== null && !isTicket(next)) this.#authenticate(next);
      else this.#onClose();
    });
  }

  /** @param {string} token which the server has accepted */
  #scheduleRenewal(token) {
    const left = this.#credentials?.timeLeft(token) ?? Infinity;
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
    const { signal } = this.#socketListeners;
    /** @type {string | null | undefined} */
    let next;
    try {
      next = await this.#credentials?.renew(token);
    } catch {
      // The server closes the socket with 4401 if no attempt gets a token in time.
      next = token;
    }
    if (signal.aborted) return;
    if (next === token) this.#renewLater(MIN_RENEWAL_MS + backoff(attempt), () => this.#renew(token, attempt + 1));
    else if (next && !isTicket(next)) this.#authenticate(next);
  }

  /**
   * @param {number} ms
   * @param {() => void} renew
   */
  #renewLater(ms, renew) {
    clearTimeout(this.#renewalTimer);
    this.#renewalTimer = setTimeout(renew, Math.min(ms, MAX_TIMER_MS));
  }

  /** @param {unknown} data */
  #onMessage(data) {
    this.#receivedAt = Date.now();
    /** @type {Frame | null} */
    let frame = null;
    try {
      frame = JSON.parse(String(data));
    } catch {
      // The message is not a frame.
    }
    if (typeof frame?.type !== 'string') {
      this.#onClose();
      return;
    }
    if (frame.type === 'bye') this.#byeMs = Math.min(frame.retry_ms ?? 0, MAX_RETRY_MS);
    this.#owner.onFrame(frame);
    if (!('id' in frame) || !frame.id) return;
    const onAnswer = this.#waiting.get(frame.id);
    this.#waiting.delete(frame.id);
    onAnswer?.(frame);
  }

  // One timer reads the clock from time to time, so that a frame does not have to set a timer.
  #watchSilence() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // The clock may have been set back in the meantime.
      if (Math.abs(Date.now() - this.#receivedAt) >= QUIET_MS) this.#probe();
      else this.#watchSilence();
    }, Math.max(0, this.#receivedAt + QUIET_MS - Date.now()));
  }

  // Only a ping tells a half-open connection from a quiet one.
  #probe() {
    clearTimeout(this.#timer);
    const before = this.#receivedAt;
    this.send({ type: 'ping' });
    this.#timer = setTimeout(() => {
      if (this.#receivedAt === before) this.#onClose();
      else this.#watchSilence();
    }, ANSWER_MS);
  }

  /**
   * @param {number} [code] close code; absent: this side gave up
   * @param {string} [reason]
   */
  #onClose(code, reason) {
    const now = Date.now();
    if (this.phase === 'open' && now - this.#openedAt >= STABLE_MS) this.#attempt = 0;
    if (code === UNAUTHORIZED_CLOSE) this.#credentials?.drop(this.#token);
    if (code === 1008 || code === 1013) this.#attempt = Math.max(this.#attempt, OVERLOADED_ATTEMPT);
    this.#detach();
    if (code && code >= 4500 && code <= 4999) {
      this.#stop({ code: 'closed', message: reason || `The server closed the connection (${code}).` });
      return;
    }
    let wait = backoff(this.#attempt++);
    this.#notBefore = 0;
    if (this.#byeMs) {
      wait = this.#byeMs * (1 + Math.random() / 2);
      this.#notBefore = now + this.#byeMs;
    }
    this.#retryTimer = setTimeout(() => this.#connect(), wait);
    this.#setPhase('away');
  }

  /** @param {Refusal} refusal */
  #stop(refusal) {
    this.problem = new RankcastError(refusal);
    this.#setPhase('stopped');
  }

  /** @param {Phase} phase */
  #setPhase(phase) {
    this.phase = phase;
    this.#owner.onPhase();
  }

  // The close event of a half-open socket may come a minute later. The kit handles a lost
  // connection without it.
  #detach() {
    this.#socketListeners.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#renewalTimer);
    this.#socket?.close();
    this.#socket = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const onAnswer of waiting) onAnswer(null);
  }
}
