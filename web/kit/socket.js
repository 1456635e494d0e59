// @ts-check

/**
 * A WebSocket that keeps itself up: it comes back after it was lost, and notices
 * when the other end is gone without a word. It knows no boards.
 *
 * @import {Problem} from './rankcast.js'
 * @import {Answer, Frame} from './subscription.js'
 *
 * idle: not wanted; away: lost, and tried again; stopped: refused for good
 * @typedef {'idle' | 'connecting' | 'open' | 'away' | 'stopped'} Phase
 *
 * @typedef {object} Owner
 * @property {() => void} onPhase
 * @property {(frame: Frame) => void} onFrame
 */

/** Upper bound of the first wait before reconnecting; it doubles each time. */
const FIRST_WAIT_MS = 250;
/** Upper bound of every wait: a server that comes back is found within this. */
const LONGEST_WAIT_MS = 15_000;
/** A connection that lasted this long was a good one: waits start small again. */
const STABLE_MS = 5_000;
/** An attempt into a black hole gets no answer at all. */
const CONNECT_MS = 10_000;
/** A quiet board sends nothing, so silence alone proves nothing: ask. */
const QUIET_MS = 20_000;
/** How long the answer to that may take. */
const ANSWER_MS = 5_000;
/** A server that says when to come back is not believed beyond this. */
const LONGEST_RETRY_MS = 60_000;
/** First doubling after "overloaded" (1013): up to 4 s. */
const OVERLOADED_ATTEMPT = 4;

/**
 * Exponential, with full jitter, so that clients cut off together do not come back together.
 *
 * @param {number} attempt 0 for the first
 */
export function backoff(attempt) {
  return Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
}

export class Socket {
  /** @type {Phase} */
  phase = 'idle';
  /** Why it is stopped. @type {Problem | null} */
  problem = null;

  #url;
  #owner;
  /** @type {WebSocket | null} */
  #socket = null;
  /** Ends the listeners on the socket, and on the page. */
  #socketEnd = new AbortController();
  #wakeEnd = new AbortController();
  #byeMs = 0;
  #attempt = 0;
  #openedAt = 0;
  #heardAt = 0;
  /** The server asked not to be tried before this. */
  #notBefore = 0;
  #lastID = 0;
  /** @type {Map<number, (answer: Answer | null) => void>} */
  #asked = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retryTimer;
  /** Connect, quiet and answer time-outs: one at a time. @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {string} url
   * @param {Owner} owner
   */
  constructor(url, owner) {
    this.#url = url;
    this.#owner = owner;
  }

  /** Opens it, unless it is wanted already. */
  begin() {
    if (this.phase !== 'idle') return;
    this.phase = 'connecting';
    this.#wakeEnd = new AbortController();
    const { signal } = this.#wakeEnd;
    const wake = () => this.#wake();
    addEventListener('online', wake, { signal });
    document.addEventListener('visibilitychange', wake, { signal });
    this.#dial();
  }

  /** Closes it; {@link begin} may open it anew. */
  end() {
    this.#detach();
    this.#wakeEnd.abort();
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.phase = 'idle';
    this.problem = null;
    this.#attempt = 0;
  }

  /**
   * @param {{ type: string, [field: string]: unknown }} frame dropped unless the socket is open
   * @param {(answer: Answer | null) => void} [onAnswer] null: the socket is lost, or was not open
   */
  send(frame, onAnswer) {
    if (this.phase !== 'open' || this.#socket?.readyState !== WebSocket.OPEN) {
      onAnswer?.(null);
      return;
    }
    const id = ++this.#lastID;
    if (onAnswer) this.#asked.set(id, onAnswer);
    this.#socket.send(JSON.stringify({ ...frame, id }));
  }

  // A timer may have been held back for minutes by a hidden tab or a sleeping
  // machine; somebody is looking now.
  #wake() {
    if (document.visibilityState === 'hidden') return;
    if (this.#retryTimer !== undefined) {
      if (Date.now() >= this.#notBefore) this.#dial();
    } else if (this.phase === 'open' && Date.now() - this.#heardAt > ANSWER_MS) {
      this.#probe();
    }
  }

  #dial() {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#byeMs = 0;
    /** @type {WebSocket} */
    let socket;
    try {
      socket = new WebSocket(this.#url, 'rankcast.v1');
    } catch (error) {
      // A URL that is none, or one that this page may never open.
      this.#stop('cannot_connect', String(error));
      return;
    }
    this.#socket = socket;
    this.#socketEnd = new AbortController();
    const { signal } = this.#socketEnd;
    socket.addEventListener('open', () => this.#opened(), { signal });
    socket.addEventListener('message', ({ data }) => this.#heard(data), { signal });
    socket.addEventListener('close', ({ code, reason }) => this.#lost(code, reason), { signal });
    this.#timer = setTimeout(() => this.#lost(), CONNECT_MS);
  }

  #opened() {
    this.#openedAt = this.#heardAt = Date.now();
    this.#listenOn();
    this.#enter('open');
  }

  /** @param {unknown} data */
  #heard(data) {
    this.#heardAt = Date.now();
    /** @type {Frame | null} */
    let frame = null;
    try {
      frame = JSON.parse(String(data));
    } catch {
      // no frame either
    }
    if (typeof frame?.type !== 'string') {
      this.#lost();
      return;
    }
    if (frame.type === 'bye') this.#byeMs = Math.min(frame.retry_ms ?? 0, LONGEST_RETRY_MS);
    this.#owner.onFrame(frame);
    if (!('id' in frame) || !frame.id) return;
    const onAnswer = this.#asked.get(frame.id);
    this.#asked.delete(frame.id);
    onAnswer?.(frame);
  }

  // One timer looks at the clock now and then, instead of one set anew for
  // every frame.
  #listenOn() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // The clock may have been set back meanwhile.
      if (Math.abs(Date.now() - this.#heardAt) >= QUIET_MS) this.#probe();
      else this.#listenOn();
    }, Math.max(0, this.#heardAt + QUIET_MS - Date.now()));
  }

  // A half-open connection looks like a quiet one until it is asked.
  #probe() {
    clearTimeout(this.#timer);
    const before = this.#heardAt;
    this.send({ type: 'ping' });
    this.#timer = setTimeout(() => {
      if (this.#heardAt === before) this.#lost();
      else this.#listenOn();
    }, ANSWER_MS);
  }

  /**
   * @param {number} [code] close code; none: given up from this side
   * @param {string} [reason]
   */
  #lost(code, reason) {
    const now = Date.now();
    if (this.phase === 'open' && now - this.#openedAt >= STABLE_MS) this.#attempt = 0;
    if (code === 1013) this.#attempt = Math.max(this.#attempt, OVERLOADED_ATTEMPT);
    this.#detach();
    if (code && code >= 4500 && code <= 4999) {
      this.#stop('closed', reason || `The server closed the connection (${code}).`);
      return;
    }
    let wait = backoff(this.#attempt++);
    this.#notBefore = 0;
    if (this.#byeMs) {
      wait = this.#byeMs * (1 + Math.random() / 2);
      this.#notBefore = now + this.#byeMs;
    }
    this.#retryTimer = setTimeout(() => this.#dial(), wait);
    this.#enter('away');
  }

  /**
   * @param {string} code
   * @param {string} message
   */
  #stop(code, message) {
    this.problem = { code, message };
    this.#enter('stopped');
  }

  /** @param {Phase} phase */
  #enter(phase) {
    this.phase = phase;
    this.#owner.onPhase();
  }

  // The close event of a half-open socket can be a minute away, so what
  // follows from a lost connection does not wait for it.
  #detach() {
    this.#socketEnd.abort();
    clearTimeout(this.#timer);
    this.#socket?.close();
    this.#socket = null;
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    for (const onAnswer of asked) onAnswer(null);
  }
}
