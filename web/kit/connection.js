// @ts-check

/**
 * The live connection to a server, shared by all on a page that watch boards of it.
 *
 * A socket has at most one subscription to a board. So a page that shows a board
 * twice has two sockets; every other page has one.
 *
 * @import {Callbacks, Connection as PublicConnection, FeedCallbacks, Problem, Wish} from './rankcast.js'
 * @import {Answer, Frame} from './subscription.js'
 */

import { backoff, Socket } from './socket.js';
import { safely, Subscription, TEMPORARY } from './subscription.js';

/** An element that is moved on the page leaves and comes back at once. */
const LINGER_MS = 1_000;
/** A tab that is hidden for longer is shown nothing. */
const HIDDEN_MS = 5_000;
/** More subscriptions to a socket are refused. */
const MOST = 100;
/** Servers know the id of an event for ten minutes at least; after that it is not sent again. */
export const RETRY_MS = 540_000;

/** @type {Map<string, Connection>} */
const connections = new Map();

/**
 * @param {string | URL} [server]
 * @returns {PublicConnection}
 */
export function connect(server = new URL('../', import.meta.url)) {
  const root = new URL(server, document.baseURI);
  if (!root.pathname.endsWith('/')) root.pathname += '/';
  const url = new URL('v1/live', root);
  url.protocol = url.protocol.replace('http', 'ws');
  let connection = connections.get(url.href);
  if (!connection) connections.set(url.href, (connection = new Connection(url.href)));
  return connection;
}

/**
 * @param {string} board
 * @param {Wish} wish
 * @param {Callbacks} callbacks
 */
export function subscribe(board, wish, callbacks) {
  return connect().subscribe(board, wish, callbacks);
}

/** @implements {PublicConnection} */
class Connection {
  #url;
  /** The server's clock when the page's, which only goes on, was 0. @type {number | null} */
  #origin = null;
  /** @type {Line[]} */
  #lines = [];

  /** @param {string} url */
  constructor(url) {
    this.#url = url;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const look = () => {
      clearTimeout(timer);
      if (document.visibilityState === 'hidden') timer = setTimeout(() => this.#pause(true), HIDDEN_MS);
      else this.#pause(false);
    };
    document.addEventListener('visibilitychange', look);
    if (document.visibilityState === 'hidden') look();
  }

  #paused = false;

  /** @param {boolean} paused */
  #pause(paused) {
    this.#paused = paused;
    for (const line of this.#lines) line.pause(paused);
  }

  now() {
    return this.#origin === null ? Date.now() : this.#origin + performance.now();
  }

  ping() {
    const from = performance.now();
    const line = this.#lines.find(({ phase }) => phase === 'open');
    return new Promise((/** @type {(ms: number | null) => void} */ resolve) => {
      if (line) line.send({ type: 'ping' }, (answer) => resolve(answer && performance.now() - from));
      else resolve(null);
    });
  }

  /**
   * @param {string} board
   * @param {Wish} wish
   * @param {Callbacks} callbacks
   */
  subscribe(board, wish, callbacks) {
    return this.#line((line) => !line.boards.has(board)).add(board, wish, callbacks);
  }

  /**
   * @param {string} name
   * @param {FeedCallbacks} callbacks
   */
  feed(name, callbacks) {
    return this.#line((line) => !line.feeds.has(name)).addFeed(name, callbacks);
  }

  /**
   * @param {string} event
   * @param {{ id?: string, [field: string]: unknown }} data
   * @param {number} [within]
   * @returns {Promise<any[]>}
   */
  send(event, data, within) {
    return (this.#lines[0] ?? this.#line(() => true)).post(event, { ...data, id: data.id ?? newID() }, within);
  }

  /** @param {(line: Line) => boolean} fits */
  #line(fits) {
    let line = this.#lines.find((line) => line.boards.size + line.feeds.size < MOST && fits(line));
    if (!line) {
      line = new Line(this.#url, (now) => {
        const at = Date.parse(now ?? '');
        if (at) this.#origin = at - performance.now();
      });
      line.paused = this.#paused;
      this.#lines.push(line);
    }
    return line;
  }
}

/** A socket and what goes over it. It is open while there is something. */
export class Line {
  /** @type {Map<string, Subscription>} */
  boards = new Map();
  /** @type {Map<string, FeedCallbacks>} */
  feeds = new Map();
  paused = false;
  /** @type {string | null} null unless the server has lost its store */
  staleAsOf = null;

  /** Events to be sent until they are answered. @type {Set<() => void>} */
  #events = new Set();
  #socket;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #idle;

  /**
   * @param {string} url
   * @param {(now: string | undefined) => void} onClock
   */
  constructor(url, onClock) {
    this.#socket = new Socket(url, {
      onPhase: () => this.#entered(),
      onFrame: (frame) => this.#heard(frame, onClock),
    });
  }

  get phase() {
    return this.#socket.phase;
  }

  get problem() {
    return this.#socket.problem;
  }

  /**
   * @param {{ type: string, [field: string]: unknown }} frame
   * @param {(answer: Answer | null) => void} [onAnswer]
   */
  send(frame, onAnswer) {
    this.#socket.send(frame, onAnswer);
  }

  /**
   * @param {string} board
   * @param {Wish} wish
   * @param {Callbacks} callbacks
   */
  add(board, wish, callbacks) {
    const subscription = new Subscription(board, this, wish, callbacks);
    this.boards.set(board, subscription);
    // Whoever subscribes is called back later, never from within.
    queueMicrotask(() => {
      if (this.boards.get(board) !== subscription) return;
      this.#settle();
      if (this.phase === 'open' && !this.paused) subscription.ask();
      else subscription.tell();
    });
    return () => {
      if (this.boards.get(board) !== subscription) return;
      this.boards.delete(board);
      subscription.end();
      this.#settle();
    };
  }

  /**
   * @param {string} feed
   * @param {FeedCallbacks} callbacks
   */
  addFeed(feed, callbacks) {
    this.feeds.set(feed, callbacks);
    this.#askFeed(feed);
    this.#settle();
    return () => {
      if (this.feeds.get(feed) !== callbacks) return;
      this.feeds.delete(feed);
      this.send({ type: 'unsubscribe', feed });
      this.#settle();
    };
  }

  /** @param {string} feed */
  #askFeed(feed) {
    if (this.paused) return;
    this.send({ type: 'subscribe', feed }, (answer) => {
      const problem = answer?.type === 'error' ? answer : this.problem;
      if (problem) safely(() => this.feeds.get(feed)?.onError?.(problem));
    });
  }

  /**
   * @param {string} event
   * @param {{ [field: string]: unknown }} data
   * @param {number} [within] ms
   * @returns {Promise<any[]>}
   */
  post(event, data, within = RETRY_MS) {
    return new Promise((resolve, reject) => {
      const from = Date.now();
      let attempt = 0;
      /** @type {ReturnType<typeof setTimeout> | undefined} */
      let timer;
      const end = (/** @type {Problem | any[]} */ outcome) => {
        clearTimeout(timer);
        clearTimeout(limit);
        this.#events.delete(send);
        this.#settle();
        if (Array.isArray(outcome)) resolve(outcome);
        else reject(outcome);
      };
      const expire = () => end({ code: 'unavailable', message: 'It is not known whether it counts.' });
      const limit = setTimeout(expire, within);
      const send = () => {
        clearTimeout(timer);
        // By the wall's clock: timers stand still while a machine sleeps, and servers forget meanwhile.
        const since = Date.now() - from;
        if (this.problem) end(this.problem);
        else if (since < 0 || since >= within) expire();
        else this.send({ type: 'event', event, data }, hear);
      };
      const hear = (/** @type {Answer | null} */ answer) => {
        if (!answer || !this.#events.has(send)) return;
        const outcome = answer.type === 'result' ? (answer.results ?? []) : [{ error: answer }];
        if (outcome.some(({ error }) => TEMPORARY.has(error?.code))) timer = setTimeout(send, backoff(++attempt));
        else end(answer.type === 'error' ? answer : outcome);
      };
      this.#events.add(send);
      this.#settle();
      send();
    });
  }

  /** @param {boolean} paused */
  pause(paused) {
    if (paused === this.paused) return;
    this.paused = paused;
    if (this.phase !== 'open') return;
    for (const feed of this.feeds.keys()) {
      if (paused) this.send({ type: 'unsubscribe', feed });
      else this.#askFeed(feed);
    }
    for (const subscription of this.boards.values()) {
      if (paused) subscription.rest();
      else subscription.ask();
    }
  }

  #settle() {
    clearTimeout(this.#idle);
    if (this.boards.size + this.feeds.size + this.#events.size > 0) this.#socket.begin();
    else this.#idle = setTimeout(() => this.#socket.end(), LINGER_MS);
  }

  #entered() {
    this.staleAsOf = null;
    const open = this.phase === 'open' && !this.paused;
    for (const subscription of this.boards.values()) {
      if (open) subscription.ask();
      else subscription.rest();
    }
    if (open) for (const feed of this.feeds.keys()) this.#askFeed(feed);
    if (this.problem) for (const { onError } of this.feeds.values()) safely(() => onError?.(/** @type {Problem} */ (this.problem)));
    if (this.phase !== 'away') for (const send of this.#events) send();
  }

  /**
   * @param {Frame} frame
   * @param {(now: string | undefined) => void} onClock
   */
  #heard(frame, onClock) {
    if ('board' in frame) this.boards.get(frame.board)?.hear(frame);
    else if (frame.type === 'ok' || frame.type === 'pong') onClock(frame.now);
    else if (frame.type === 'feed') safely(() => this.feeds.get(frame.feed)?.onItems(frame.items, frame.skipped));
    else if (frame.type === 'status') {
      this.staleAsOf = frame.stale ? (frame.as_of ?? '') : null;
      for (const subscription of this.boards.values()) subscription.tell();
    }
  }
}

/** @returns {string} of 128 random bits; randomUUID is not there on a page by http */
export function newID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
