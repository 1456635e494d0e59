// @ts-check

/**
 * The live connection to a Rankcast server: one WebSocket for each server,
 * shared by everything on the page that watches a board, kept up by itself.
 *
 * Wire: `/v1/live`, JSON text, subprotocol `rankcast.v1`.
 *
 * What a watcher is told about its board:
 * - `connecting`: first attempt, or connected and waiting for the snapshot
 * - `live`: what was handed over last is what the server shows
 * - `stale`: connected, but the server has lost its store
 * - `away`: the connection is lost and will be tried again
 * - `stopped`: refused for good; nothing more will come
 * @typedef {'connecting' | 'live' | 'stale' | 'away' | 'stopped'} State
 *
 * @typedef {object} Watcher
 * @property {(snapshot: Snapshot) => void} onSnapshot the whole list, after every frame
 * @property {(state: State, asOf: string) => void} [onState] `asOf`: with `stale`, the time (RFC 3339) of the last known data, or ''
 * @property {(problem: Problem) => void} [onError] why the state is about to be `stopped`
 */

import { fold } from './frames.js';

/** @typedef {import('./frames.js').Snapshot} Snapshot */
/** @typedef {import('./frames.js').Delta} Delta */
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
/** An element that is moved on the page leaves and comes back at once. */
const LINGER_MS = 1_000;
/** A server that says when to come back is not believed beyond this. */
const LONGEST_RETRY_MS = 60_000;
/** First doubling after "overloaded" (1013): up to 4 s instead of 250 ms. */
const OVERLOADED_ATTEMPT = 4;

const CLOSE_OVERLOADED = 1013;

/** Refusals that time heals; all others are final for the subscription. */
const TEMPORARY = new Set(['unavailable', 'rate_limited']);

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

/**
 * @typedef {object} Watch one watcher and what it was told last
 * @property {number} top
 * @property {Watcher} watcher
 * @property {string} state
 * @property {Snapshot | null} snapshot
 * @property {Problem | null} problem
 *
 * @typedef {object} Subscription the one subscription that a socket may have to a board
 * @property {string} board
 * @property {Set<Watch>} watches
 * @property {Snapshot | null} snapshot last list, kept over a lost connection
 * @property {boolean} fresh whether the list came over this connection without a gap
 * @property {number} askedTop 0: not asked on this connection
 * @property {number} askedID
 * @property {Problem | null} problem
 * @property {number} attempt
 * @property {ReturnType<typeof setTimeout> | undefined} timer
 */

/**
 * A connection opens when there is something to watch and closes when nothing
 * is left. Several watchers of a board share one subscription, asked for with
 * the largest `top` among them; each gets its own first part of the list.
 */
export class LiveConnection {
  /** @type {Map<string, LiveConnection>} */
  static #shared = new Map();

  /**
   * The page's connection to a server.
   *
   * @param {string | URL} url of `/v1/live`, absolute; http(s) or ws(s)
   * @returns {LiveConnection}
   */
  static to(url) {
    const socketURL = new URL(url);
    socketURL.protocol = socketURL.protocol.replace('http', 'ws');
    let connection = LiveConnection.#shared.get(socketURL.href);
    if (!connection) {
      connection = new LiveConnection(socketURL.href);
      LiveConnection.#shared.set(socketURL.href, connection);
    }
    return connection;
  }

  #url;
  /** @type {'idle' | 'connecting' | 'open' | 'away' | 'stopped'} */
  #phase = 'idle';
  /** @type {Map<string, Subscription>} */
  #subscriptions = new Map();
  /** @type {WebSocket | null} */
  #socket = null;
  /** Ends the socket's listeners, so that nothing late comes from it. */
  #socketEnd = new AbortController();
  /** Ends the page's listeners. */
  #wakeEnd = new AbortController();
  /** @type {Problem | null} */
  #problem = null;
  /** @type {string | null} null unless the server has lost its store */
  #staleAsOf = null;
  /** @type {number | null} */
  #byeRetryMs = null;
  #attempt = 0;
  #openedAt = 0;
  #heardAt = 0;
  /** The server asked not to be tried before this. */
  #notBefore = 0;
  #lastID = 0;
  #settling = false;

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retryTimer;
  /**
   * Connect, quiet and answer time-outs: a socket waits for one at a time.
   * @type {ReturnType<typeof setTimeout> | undefined}
   */
  #socketTimer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #idleTimer;

  /** @param {string} url a ws(s) URL; pages use {@link LiveConnection.to}, which shares */
  constructor(url) {
    this.#url = url;
  }

  /**
   * Watches a board. The watcher is called later, never from within this call.
   *
   * @param {string} board
   * @param {number} top entries wanted, 1 to 1,000
   * @param {Watcher} watcher
   * @returns {() => void} ends it; calling it again does nothing
   */
  subscribe(board, top, watcher) {
    let subscription = this.#subscriptions.get(board);
    if (!subscription) {
      subscription = {
        board,
        watches: new Set(),
        snapshot: null,
        fresh: false,
        askedTop: 0,
        askedID: 0,
        problem: null,
        attempt: 0,
        timer: undefined,
      };
      this.#subscriptions.set(board, subscription);
    }
    const { watches } = subscription;
    /** @type {Watch} */
    const watch = { top, watcher, state: '', snapshot: null, problem: null };
    watches.add(watch);
    this.#settleSoon();
    return () => {
      if (watches.delete(watch)) this.#settleSoon();
    };
  }

  // Leaving and joining within one task (an element that is moved, another
  // `top`) becomes one message or none.
  #settleSoon() {
    if (this.#settling) return;
    this.#settling = true;
    queueMicrotask(() => {
      this.#settling = false;
      this.#settle();
    });
  }

  #settle() {
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.watches.size === 0) {
        this.#subscriptions.delete(subscription.board);
        clearTimeout(subscription.timer);
        if (subscription.askedTop > 0) this.#send({ type: 'unsubscribe', board: subscription.board });
      } else if (subscription.askedTop !== wantedTop(subscription)) {
        this.#ask(subscription);
      }
    }
    clearTimeout(this.#idleTimer);
    if (this.#subscriptions.size === 0) {
      this.#idleTimer = setTimeout(() => this.#end(), LINGER_MS);
    } else if (this.#phase === 'idle') {
      this.#begin();
    }
    this.#tellAll();
  }

  #begin() {
    this.#phase = 'connecting';
    this.#wakeEnd = new AbortController();
    const { signal } = this.#wakeEnd;
    const wake = () => this.#wake();
    globalThis.addEventListener?.('online', wake, { signal });
    globalThis.document?.addEventListener('visibilitychange', wake, { signal });
    this.#dial();
  }

  #end() {
    this.#detach();
    this.#wakeEnd.abort();
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#phase = 'idle';
    this.#problem = null;
    this.#staleAsOf = null;
    this.#attempt = 0;
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
    this.#phase = 'open';
    this.#openedAt = this.#heardAt = Date.now();
    this.#listenOn();
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.watches.size > 0) this.#ask(subscription);
    }
    this.#tellAll();
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
    switch (frame.type) {
      case 'snapshot':
      case 'delta':
        this.#fold(frame);
        break;
      case 'error':
        this.#refused(frame);
        break;
      case 'status':
        this.#staleAsOf = frame.stale ? (frame.as_of ?? '') : null;
        this.#tellAll();
        break;
      case 'bye':
        this.#byeRetryMs = Math.min(frame.retry_ms ?? 0, LONGEST_RETRY_MS);
        break;
    }
  }

  /** @param {Snapshot | Delta} frame */
  #fold(frame) {
    const subscription = this.#subscriptions.get(frame.board);
    if (!subscription) return;
    // What was on its way before a gap was seen builds on nothing held here.
    if (frame.type === 'delta' && !subscription.fresh) return;

    const snapshot = fold(subscription.snapshot, frame);
    if (snapshot === null) {
      this.#send({ type: 'unsubscribe', board: frame.board });
      this.#askLater(subscription);
    } else {
      subscription.snapshot = snapshot;
      subscription.fresh = true;
      subscription.problem = null;
      // Only a delta that fits shows that the next gap is not the same again.
      if (frame.type === 'delta') subscription.attempt = 0;
    }
    this.#tell(subscription);
  }

  /** @param {{ id?: number } & Problem} frame */
  #refused({ id, code, message }) {
    for (const subscription of this.#subscriptions.values()) {
      if (id === undefined || subscription.askedID !== id) continue;
      if (TEMPORARY.has(code)) {
        this.#askLater(subscription);
      } else {
        subscription.problem = { code, message };
      }
      this.#tell(subscription);
    }
  }

  /** @param {Subscription} subscription */
  #ask(subscription) {
    if (this.#phase !== 'open') return;
    clearTimeout(subscription.timer);
    subscription.problem = null;
    subscription.askedTop = wantedTop(subscription);
    subscription.askedID = this.#send({
      type: 'subscribe',
      board: subscription.board,
      top: subscription.askedTop,
    });
  }

  /** @param {Subscription} subscription */
  #askLater(subscription) {
    subscription.fresh = false;
    clearTimeout(subscription.timer);
    subscription.timer = setTimeout(() => this.#ask(subscription), backoff(subscription.attempt++));
  }

  /**
   * @param {{ type: string, [field: string]: unknown }} frame
   * @returns {number} the id it was sent with
   */
  #send(frame) {
    const id = ++this.#lastID;
    if (this.#socket?.readyState === WebSocket.OPEN) {
      this.#socket.send(JSON.stringify({ ...frame, id }));
    }
    return id;
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
    this.#send({ type: 'ping' });
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
    this.#phase = 'away';
    this.#retryTimer = setTimeout(() => this.#dial(), wait);
    this.#tellAll();
  }

  /** @param {Problem} problem */
  #stop(problem) {
    this.#phase = 'stopped';
    this.#problem = problem;
    this.#tellAll();
  }

  // The close event of a half-open socket can be a minute away, so what
  // follows from a lost connection does not wait for it.
  #detach() {
    this.#socketEnd.abort();
    clearTimeout(this.#socketTimer);
    this.#socket?.close();
    this.#socket = null;
    this.#staleAsOf = null;
    for (const subscription of this.#subscriptions.values()) {
      clearTimeout(subscription.timer);
      subscription.fresh = false;
      subscription.askedTop = 0;
    }
  }

  #tellAll() {
    for (const subscription of this.#subscriptions.values()) this.#tell(subscription);
  }

  /** @param {Subscription} subscription */
  #tell(subscription) {
    const problem = this.#problem ?? subscription.problem;
    const state = this.#stateOf(subscription);
    const asOf = this.#staleAsOf ?? '';
    const { snapshot } = subscription;
    for (const watch of subscription.watches) {
      const { watcher } = watch;
      if (problem !== watch.problem) {
        watch.problem = problem;
        if (problem) call(subscription, watch, () => watcher.onError?.(problem));
      }
      if (state + asOf !== watch.state) {
        watch.state = state + asOf;
        call(subscription, watch, () => watcher.onState?.(state, asOf));
      }
      if (snapshot && snapshot !== watch.snapshot) {
        watch.snapshot = snapshot;
        call(subscription, watch, () => watcher.onSnapshot(firstOf(snapshot, watch.top)));
      }
    }
  }

  /**
   * @param {Subscription} subscription
   * @returns {State}
   */
  #stateOf(subscription) {
    if (this.#phase === 'stopped' || subscription.problem) return 'stopped';
    if (this.#phase === 'away') return 'away';
    if (this.#phase !== 'open') return 'connecting';
    if (this.#staleAsOf !== null) return 'stale';
    return subscription.fresh ? 'live' : 'connecting';
  }
}

/** @param {Subscription} subscription */
function wantedTop(subscription) {
  return Math.max(...[...subscription.watches].map((watch) => watch.top));
}

/**
 * @param {Snapshot} snapshot
 * @param {number} top
 * @returns {Snapshot}
 */
function firstOf(snapshot, top) {
  return snapshot.top.length > top ? { ...snapshot, top: snapshot.top.slice(0, top) } : snapshot;
}

/**
 * Calls a watcher that has not left meanwhile. Its mistakes must not keep the
 * others from being told.
 *
 * @param {Subscription} subscription
 * @param {Watch} watch
 * @param {() => void} tell
 */
function call(subscription, watch, tell) {
  if (!subscription.watches.has(watch)) return;
  try {
    tell();
  } catch (error) {
    reportError(error);
  }
}
