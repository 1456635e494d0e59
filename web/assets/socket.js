// @ts-check

/**
 * A WebSocket that keeps itself up: it comes back after it was lost, and it
 * notices when the other end is gone without a word. It knows no boards.
 *
 * Wire: JSON text, subprotocol `rankcast.v1`.
 *
 * - `idle`: not wanted
 * - `connecting`: first attempt
 * - `open`: messages come and go
 * - `away`: lost, and will be tried again
 * - `stopped`: refused for good
 * @typedef {'idle' | 'connecting' | 'open' | 'away' | 'stopped'} Phase
 *
 * @typedef {object} Owner
 * @property {(phase: Phase) => void} onPhase after each change but those that the owner made
 * @property {(frame: ServerFrame) => void} onFrame
 */

/** @typedef {import('./frames.js').Problem} Problem */
/** @typedef {import('./frames.js').ServerFrame} ServerFrame */

const PROTOCOL = 'rankcast.v1';

/** Upper bound of the first wait before reconnecting; it doubles each time. */
const FIRST_WAIT_MS = 250;
/** Upper bound of every wait: a server that comes back is found within this. */
const LONGEST_WAIT_MS = 15_000;
/** A connection that lasted this long was a good one: waits start small again. */
const STABLE_MS = 5_000;
/** An attempt into a black hole gets no answer at all, so it is given up. */
const CONNECT_MS = 10_000;
/** A quiet board sends nothing, so silence alone proves nothing: ask. */
const QUIET_MS = 20_000;
/** How long the answer to that question may take. */
const ANSWER_MS = 5_000;
/** A server that says when to come back is not believed beyond this. */
const LONGEST_RETRY_MS = 60_000;
/** First doubling after "overloaded" (1013): up to 4 s instead of 250 ms. */
const OVERLOADED_ATTEMPT = 4;

const CLOSE_OVERLOADED = 1013;

/**
 * Exponential back-off with full jitter: any wait up to the bound, so that
 * clients that were cut off together do not come back together.
 *
 * @param {number} attempt 0 for the first
 * @param {() => number} [random]
 * @returns {number} milliseconds
 */
export function backoff(attempt, random = Math.random) {
  return random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
}

/**
 * @param {number} code WebSocket close code
 * @returns {boolean} whether reconnecting is pointless
 */
export function isFinal(code) {
  return code >= 4500 && code <= 4999;
}

export class LiveSocket {
  #url;
  #owner;
  /** @type {Phase} */
  #phase = 'idle';
  /** @type {Problem | null} */
  #problem = null;
  /** @type {WebSocket | null} */
  #socket = null;
  /** Ends the socket's listeners, so that nothing late comes from it. */
  #socketEnd = new AbortController();
  /** Ends the page's listeners. */
  #wakeEnd = new AbortController();
  /** @type {number | null} */
  #byeRetryMs = null;
  #attempt = 0;
  #openedAt = 0;
  #heardAt = 0;
  /** The server asked not to be tried before this. */
  #notBefore = 0;
  #lastID = 0;

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retryTimer;
  /**
   * Connect, quiet and answer time-outs: a socket waits for one at a time.
   * @type {ReturnType<typeof setTimeout> | undefined}
   */
  #socketTimer;

  /**
   * @param {string} url a ws(s) URL
   * @param {Owner} owner
   */
  constructor(url, owner) {
    this.#url = url;
    this.#owner = owner;
  }

  get phase() {
    return this.#phase;
  }

  /** Why it is `stopped`. */
  get problem() {
    return this.#problem;
  }

  /** Opens the socket, unless it is wanted already. */
  begin() {
    if (this.#phase !== 'idle') return;
    this.#phase = 'connecting';
    this.#wakeEnd = new AbortController();
    const { signal } = this.#wakeEnd;
    const wake = () => this.#wake();
    globalThis.addEventListener?.('online', wake, { signal });
    globalThis.document?.addEventListener('visibilitychange', wake, { signal });
    this.#dial();
  }

  /** Closes the socket; {@link begin} may open it anew. */
  end() {
    this.#detach();
    this.#wakeEnd.abort();
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#phase = 'idle';
    this.#problem = null;
    this.#attempt = 0;
  }

  /**
   * @param {{ type: string, [field: string]: unknown }} frame dropped unless the socket is open
   * @returns {number} the id it was sent with
   */
  send(frame) {
    const id = ++this.#lastID;
    if (this.#socket?.readyState === WebSocket.OPEN) {
      this.#socket.send(JSON.stringify({ ...frame, id }));
    }
    return id;
  }

  // A timer may have been held back for minutes by a hidden tab or a sleeping
  // machine; somebody is looking now.
  #wake() {
    if (globalThis.document?.visibilityState === 'hidden') return;
    if (this.#retryTimer !== undefined) {
      if (Date.now() >= this.#notBefore) this.#dial();
    } else if (this.#phase === 'open' && Date.now() - this.#heardAt > ANSWER_MS) {
      this.#probe();
    }
  }

  #dial() {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#byeRetryMs = null;
    /** @type {WebSocket} */
    let socket;
    try {
      socket = new WebSocket(this.#url, PROTOCOL);
    } catch (error) {
      // A URL that is none, or one that this page may never open.
      this.#stop({ code: 'cannot_connect', message: String(error) });
      return;
    }
    this.#socket = socket;
    this.#socketEnd = new AbortController();
    const { signal } = this.#socketEnd;
    socket.addEventListener('open', () => this.#opened(), { signal });
    socket.addEventListener('message', (event) => this.#heard(event.data), { signal });
    socket.addEventListener('close', (event) => this.#lost(event.code, event.reason), { signal });
    this.#socketTimer = setTimeout(() => this.#lost(0, ''), CONNECT_MS);
  }

  #opened() {
    this.#openedAt = this.#heardAt = Date.now();
    this.#listenOn();
    this.#enter('open');
  }

  /** @param {unknown} data */
  #heard(data) {
    this.#heardAt = Date.now();
    /** @type {ServerFrame} */
    let frame;
    try {
      frame = JSON.parse(String(data));
    } catch {
      this.#lost(0, '');
      return;
    }
    if (frame.type === 'bye') this.#byeRetryMs = Math.min(frame.retry_ms ?? 0, LONGEST_RETRY_MS);
    this.#owner.onFrame(frame);
  }

  // One timer looks at the clock now and then, instead of one set anew for
  // every frame.
  #listenOn() {
    clearTimeout(this.#socketTimer);
    const quiet = Math.max(0, Date.now() - this.#heardAt);
    this.#socketTimer = setTimeout(() => {
      if (Date.now() - this.#heardAt >= QUIET_MS) this.#probe();
      else this.#listenOn();
    }, Math.max(0, QUIET_MS - quiet));
  }

  // A half-open connection looks like a quiet one until it is asked.
  #probe() {
    clearTimeout(this.#socketTimer);
    const before = this.#heardAt;
    this.send({ type: 'ping' });
    this.#socketTimer = setTimeout(() => {
      if (this.#heardAt === before) this.#lost(0, '');
      else this.#listenOn();
    }, ANSWER_MS);
  }

  /**
   * @param {number} code close code; 0: given up from this side
   * @param {string} reason
   */
  #lost(code, reason) {
    const now = Date.now();
    if (this.#phase === 'open' && now - this.#openedAt >= STABLE_MS) this.#attempt = 0;
    if (code === CLOSE_OVERLOADED) this.#attempt = Math.max(this.#attempt, OVERLOADED_ATTEMPT);
    this.#detach();

    if (isFinal(code)) {
      this.#stop({ code: 'closed', message: reason || `The server closed the connection (${code}).` });
      return;
    }
    let wait = backoff(this.#attempt++);
    this.#notBefore = 0;
    if (this.#byeRetryMs) {
      wait = this.#byeRetryMs * (1 + Math.random() / 2);
      this.#notBefore = now + this.#byeRetryMs;
    }
    this.#retryTimer = setTimeout(() => this.#dial(), wait);
    this.#enter('away');
  }

  /** @param {Problem} problem */
  #stop(problem) {
    this.#problem = problem;
    this.#enter('stopped');
  }

  /** @param {Phase} phase */
  #enter(phase) {
    this.#phase = phase;
    this.#owner.onPhase(phase);
  }

  // The close event of a half-open socket can be a minute away, so what
  // follows from a lost connection does not wait for it.
  #detach() {
    this.#socketEnd.abort();
    clearTimeout(this.#socketTimer);
    this.#socket?.close();
    this.#socket = null;
  }
}
