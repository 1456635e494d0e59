// @ts-check

/**
 * The live connection to a Rankcast server, shared by everything on the page
 * that watches a board of it.
 *
 * Wire: `/v1/live`. A socket has at most one subscription to a board, and a
 * subscription follows at most one member. So a page that follows two members
 * of one board has two sockets; every other page has one.
 */

import { ServerClock } from './server-clock.js';
import { LiveSocket } from './socket.js';
import { Subscription } from './subscription.js';

/** @typedef {import('./frames.js').ServerFrame} ServerFrame */
/** @typedef {import('./socket.js').Phase} Phase */
/** @typedef {import('./subscription.js').Health} Health */
/** @typedef {import('./subscription.js').Watcher} Watcher */
/** @typedef {import('./subscription.js').Wish} Wish */

/** An element that is moved on the page leaves and comes back at once. */
const LINGER_MS = 1_000;

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
  #clock = new ServerClock();
  /** @type {Line[]} */
  #lines = [];

  /** @param {string} url a ws(s) URL; pages use {@link LiveConnection.to}, which shares */
  constructor(url) {
    this.#url = url;
  }

  /** @returns {number} the server's clock, by which periods end, ms since 1970 */
  now() {
    return this.#clock.now();
  }

  /**
   * Watches a board. The watcher is called later, never from within this call.
   *
   * @param {string} board
   * @param {Wish} wish
   * @param {Watcher} watcher
   * @returns {() => void} ends it; calling it again does nothing
   */
  subscribe(board, wish, watcher) {
    let line = this.#lines.find((line) => line.hasRoom(board, wish.me ?? ''));
    if (!line) {
      line = new Line(this.#url, this.#clock);
      this.#lines.push(line);
    }
    return line.subscribe(board, wish, watcher);
  }
}

/**
 * A socket and its subscriptions. It opens when there is something to watch and
 * closes when nothing is left.
 */
class Line {
  #socket;
  #clock;
  /** @type {Map<string, Subscription>} */
  #subscriptions = new Map();
  /** @type {string | null} null unless the server has lost its store */
  #staleAsOf = null;
  #settling = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #idleTimer;

  /**
   * @param {string} url
   * @param {ServerClock} clock
   */
  constructor(url, clock) {
    this.#clock = clock;
    this.#socket = new LiveSocket(url, {
      onPhase: (phase) => this.#entered(phase),
      onFrame: (frame) => this.#heard(frame),
    });
  }

  /**
   * @param {string} board
   * @param {string} me '': anybody's subscription will do
   */
  hasRoom(board, me) {
    const followed = this.#subscriptions.get(board)?.me;
    return !me || !followed || me === followed;
  }

  /**
   * @param {string} board
   * @param {Wish} wish
   * @param {Watcher} watcher
   * @returns {() => void}
   */
  subscribe(board, wish, watcher) {
    let subscription = this.#subscriptions.get(board);
    if (!subscription) {
      subscription = new Subscription(board, (frame) => this.#socket.send(frame));
      this.#subscriptions.set(board, subscription);
    }
    const leave = subscription.add(wish, watcher);
    this.#settleSoon();
    return () => {
      if (leave()) this.#settleSoon();
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
    for (const [board, subscription] of this.#subscriptions) {
      if (!subscription.watched) {
        this.#subscriptions.delete(board);
        subscription.end();
      } else if (this.#socket.phase === 'open') {
        subscription.settle();
      }
    }
    clearTimeout(this.#idleTimer);
    if (this.#subscriptions.size > 0) {
      this.#socket.begin();
    } else {
      this.#idleTimer = setTimeout(() => {
        this.#socket.end();
        this.#staleAsOf = null;
      }, LINGER_MS);
    }
    this.#tellAll();
  }

  /** @param {Phase} phase */
  #entered(phase) {
    this.#staleAsOf = null;
    for (const subscription of this.#subscriptions.values()) {
      if (phase !== 'open') subscription.lose();
      else if (subscription.watched) subscription.settle();
    }
    this.#tellAll();
  }

  /** @param {ServerFrame} frame */
  #heard(frame) {
    switch (frame.type) {
      case 'snapshot':
      case 'delta':
      case 'me':
        this.#hand(frame, this.#subscriptions.get(frame.board));
        break;
      case 'pong':
        this.#clock.hear(frame.now);
        break;
      case 'ok':
        this.#clock.hear(frame.now);
        for (const subscription of this.#subscriptions.values()) this.#hand(frame, subscription);
        break;
      case 'error':
        for (const subscription of this.#subscriptions.values()) this.#hand(frame, subscription);
        break;
      case 'status':
        this.#staleAsOf = frame.stale ? (frame.as_of ?? '') : null;
        this.#tellAll();
        break;
    }
  }

  /**
   * @param {ServerFrame} frame
   * @param {Subscription | undefined} subscription
   */
  #hand(frame, subscription) {
    subscription?.hear(frame);
    subscription?.tell(this.#health());
  }

  #tellAll() {
    for (const subscription of this.#subscriptions.values()) subscription.tell(this.#health());
  }

  /** @returns {Health} */
  #health() {
    return { phase: this.#socket.phase, staleAsOf: this.#staleAsOf, problem: this.#socket.problem };
  }
}
