// @ts-check

/**
 * A WebSocket that reconnects, and that detects a server that is gone without a close frame. With
 * credentials (authentication.js), it is open once the server has accepted them. It knows nothing of
 * boards. connection.js uses one for each session.
 *
 * @import {Authentication} from './authentication.js'
 * @import {LoadCredentials} from './connection.js'
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

  owner;
  #url;
  #credentials;
  /** @type {Authentication | null} */
  #authentication = null;
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

  /**
   * @param {string} url
   * @param {Owner} owner
   * @param {LoadCredentials | undefined} credentials undefined: the page gives none
   */
  constructor(url, owner, credentials) {
    this.#url = url;
    this.owner = owner;
    this.#credentials = credentials;
  }

  /** @returns {AbortSignal} of the end of the WebSocket, or of the attempt to open one */
  get signal() {
    return this.#socketListeners.signal;
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
    this.problem = this.tokenProblem = this.#authentication = null;
    this.#attempt = 0;
  }

  /**
   * @param {{ type: string, [field: string]: unknown }} frame dropped unless the socket is open
   * @param {(answer: Answer | null) => void} [onAnswer] null: the socket was lost, or was not open
   */
  send(frame, onAnswer) {
    if (this.phase === 'open') this.post(frame, onAnswer);
    else onAnswer?.(null);
  }

  /**
   * @param {{ type: string, [field: string]: unknown }} frame
   * @param {(answer: Answer | null) => void} [onAnswer]
   */
  post(frame, onAnswer) {
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

  async #connect() {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#byeMs = 0;
    const credentials = this.#credentials;
    if (!credentials) {
      this.#dial('');
      return;
    }
    this.#socketListeners = new AbortController();
    const query = await this.attempt(async () => (this.#authentication ??= (await credentials()).of(this)).query());
    if (query !== undefined) this.#dial(query);
  }

  /**
   * @template T
   * @param {() => Promise<T>} task gets something from the page's function
   * @returns {Promise<T | undefined>} undefined: there is nothing more to do
   */
  async attempt(task) {
    const { signal } = this;
    try {
      const result = await task();
      if (signal.aborted) return;
      this.tokenProblem = null;
      return result;
    } catch (error) {
      if (signal.aborted) return;
      this.tokenProblem = new RankcastError({ code: 'no_token', message: `The page's function gave no token: ${error}` });
      this.lose();
    }
  }

  /** @param {string} query of the address */
  #dial(query) {
    /** @type {WebSocket} */
    let socket;
    try {
      socket = new WebSocket(this.#url + query, 'rankcast.v1');
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
    socket.addEventListener('close', ({ code, reason }) => this.lose(code, reason), { signal });
    this.#timer = setTimeout(() => this.lose(), CONNECT_MS);
  }

  #onOpen() {
    this.#openedAt = this.#receivedAt = Date.now();
    if (this.#authentication) this.#authentication.begin();
    else this.begin();
  }

  /** The server has accepted the page. */
  begin() {
    this.#watchSilence();
    this.#setPhase('open');
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
      this.lose();
      return;
    }
    if (frame.type === 'bye') this.#byeMs = Math.min(frame.retry_ms ?? 0, MAX_RETRY_MS);
    this.owner.onFrame(frame);
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
      if (this.#receivedAt === before) this.lose();
      else this.#watchSilence();
    }, ANSWER_MS);
  }

  /**
   * @param {number} [code] close code; 0: this side gave up
   * @param {string} [reason]
   */
  lose(code = 0, reason) {
    const now = Date.now();
    if (this.phase === 'open' && now - this.#openedAt >= STABLE_MS) this.#attempt = 0;
    if (code === UNAUTHORIZED_CLOSE) this.#authentication?.drop();
    if (code === 1008 || code === 1013) this.#attempt = Math.max(this.#attempt, OVERLOADED_ATTEMPT);
    this.#detach();
    if (code >= 4500 && code <= 4999) {
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

  /** @param {Refusal} refusal of the credentials */
  refuse(refusal) {
    this.#detach();
    this.#stop(refusal);
  }

  /** @param {Refusal} refusal */
  #stop(refusal) {
    this.problem = new RankcastError(refusal);
    this.#setPhase('stopped');
  }

  /** @param {Phase} phase */
  #setPhase(phase) {
    this.phase = phase;
    this.owner.onPhase();
  }

  // The close event of a half-open socket may come a minute later. The kit handles a lost
  // connection without it.
  #detach() {
    this.#socketListeners.abort();
    clearTimeout(this.#timer);
    this.#authentication?.end();
    this.#socket?.close();
    this.#socket = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const onAnswer of waiting) onAnswer(null);
  }
}
