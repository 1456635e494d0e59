// @ts-check

/**
 * `connect` and `subscribe` of the kit: all elements and scripts of a page share one connection
 * to a server. A connection has one session or more: a session is one socket with its boards,
 * feeds and events.
 *
 * A socket has at most one subscription to a board. So a page that shows a board twice has two
 * sessions; every other page has one.
 *
 * @import {Credentials} from './credentials.js'
 * @import {Callbacks, Connection as PublicConnection, ConnectOptions, FeedCallbacks, Found, Problem, SearchOptions, TokenFunction,
 *   Wish} from './rankcast.js'
 * @import {Answer, ErrorFrame, Frame, Refusal} from './subscription.js'
 *
 * @typedef {() => Promise<Credentials>} LoadCredentials
 */

import { loadOnDemand } from './load.js';
import { backoff, RankcastError, RIGHTS, Socket, TEMPORARY } from './socket.js';
import { safely, Subscription } from './subscription.js';

/** An unused socket stays open this long: an element that moves within the page disconnects and connects at once. */
const LINGER_MS = 1_000;
/** The connection is paused when the tab has been hidden for this long. */
const HIDDEN_MS = 5_000;
/** Servers refuse more subscriptions on one socket. */
const MAX_SUBSCRIPTIONS = 100;
/** Servers know the id of an event for at least ten minutes. After this time the kit does not send it again. */
export const RETRY_MS = 540_000;

/** Stands for no token function. */
const noToken = () => null;

/** By token function, and then by URL. A page may make a function for each call. @type {WeakMap<TokenFunction, Map<string, Connection>>} */
const connections = new WeakMap();

/**
 * The kit of a server is at kit/rankcast.js or kit/v1/rankcast.js below its root. A module of another address belongs to
 * a bundle, which has the page's own origin for its server.
 *
 * @param {string | URL} [server]
 * @param {ConnectOptions} [options]
 * @returns {PublicConnection}
 */
export function connect(server = /.*\/(?=kit\/(v1\/)?rankcast\.js)/.exec(import.meta.url)?.[0] ?? '/', { token } = {}) {
  const root = new URL(server, document.baseURI);
  if (!root.pathname.endsWith('/')) root.pathname += '/';
  const url = new URL('v1/live', root);
  url.protocol = url.protocol.replace('http', 'ws');
  let byURL = connections.get(token ?? noToken);
  if (!byURL) connections.set(token ?? noToken, (byURL = new Map()));
  let connection = byURL.get(url.href);
  if (!connection) byURL.set(url.href, (connection = new Connection(url.href, token)));
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
  /** Undefined: the page gives none. @type {LoadCredentials | undefined} */
  #credentials;
  /** The server's time when `performance.now()` was 0; null: not known yet. @type {number | null} */
  #origin = null;
  /** @type {Session[]} */
  #sessions = [];
  #paused = false;

  /**
   * @param {string} url
   * @param {TokenFunction} [token]
   */
  constructor(url, token) {
    this.#url = url;
    /** @type {Credentials | undefined} */
    let credentials;
    this.#credentials = token && (async () => {
      const { Credentials } = await loadOnDemand();
      return (credentials ??= new Credentials(token, () => this.now()));
    });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const onVisibility = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => this.#pause(true), HIDDEN_MS);
      else this.#pause(false);
    };
    document.addEventListener('visibilitychange', onVisibility);
    onVisibility();
  }

  /** @param {boolean} paused */
  #pause(paused) {
    this.#paused = paused;
    for (const session of this.#sessions) session.pause(paused);
  }

  now() {
    return this.#origin === null ? Date.now() : this.#origin + performance.now();
  }

  ping() {
    const from = performance.now();
    const session = this.#sessions.find(({ phase }) => phase === 'open');
    return new Promise((/** @type {(ms: number | null) => void} */ resolve) => {
      if (session) session.send({ type: 'ping' }, (answer) => resolve(answer && performance.now() - from));
      else resolve(null);
    });
  }

  /**
   * @param {string} board
   * @param {Wish} wish
   * @param {Callbacks} callbacks
   */
  subscribe(board, wish, callbacks) {
    return this.#session((session) => !session.boards.has(board)).subscribe(board, wish, callbacks);
  }

  /**
   * @param {string} name
   * @param {FeedCallbacks} callbacks
   */
  feed(name, callbacks) {
    return this.#session((session) => !session.feeds.has(name)).feed(name, callbacks);
  }

  /**
   * @param {string} event
   * @param {{ id?: string, [field: string]: unknown }} data
   * @param {number} [within]
   * @returns {Promise<any[]>}
   */
  send(event, data, within) {
    return (this.#sessions[0] ?? this.#session(() => true)).sendEvent(event, { ...data, id: data.id ?? newID() }, within);
  }

  /**
   * @param {string} board
   * @param {string} query
   * @param {SearchOptions} [options]
   * @returns {Promise<Found>}
   */
  async search(board, query, options) {
    const { search } = await loadOnDemand();
    return search(this.#url, await this.#credentials?.(), board, query, options);
  }

  /**
   * @param {(session: Session) => boolean} fits
   * @returns {Session} one that fits and has room: an existing one, or a new one
   */
  #session(fits) {
    let session = this.#sessions.find((session) => session.boards.size + session.feeds.size < MAX_SUBSCRIPTIONS && fits(session));
    if (!session) {
      session = new Session(this.#url, this.#credentials, (now) => {
        const time = Date.parse(now ?? '');
        if (time) this.#origin = time - performance.now();
      });
      session.paused = this.#paused;
      this.#sessions.push(session);
    }
    return session;
  }
}

/** One socket with its boards, feeds and events. The socket is open while there is at least one of them. */
export class Session {
  /** @type {Map<string, Subscription>} */
  boards = new Map();
  /** @type {Map<string, FeedCallbacks>} */
  feeds = new Map();
  /** Feeds that the server has refused, and that another token may allow. @type {Set<string>} */
  #refusedFeeds = new Set();
  paused = false;
  /** The time of the server's last data (RFC 3339) or ''; null unless the server has lost its store. @type {string | null} */
  staleAsOf = null;

  /** Sends each event that has no answer yet. @type {Set<() => void>} */
  #events = new Set();
  #socket;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #closeTimer;

  /**
   * @param {string} url
   * @param {LoadCredentials | undefined} credentials
   * @param {(now: string | undefined) => void} onTime
   */
  constructor(url, credentials, onTime) {
    /** @type {import('./socket.js').Owner} */
    const owner = {
      onPhase: () => this.#onPhase(),
      onFrame: (frame) => this.#onFrame(frame, onTime),
      onRenewal: () => this.#onRenewal(),
    };
    this.#socket = new Socket(url, owner, credentials);
  }

  get phase() {
    return this.#socket.phase;
  }

  get problem() {
    return this.#socket.problem;
  }

  get tokenProblem() {
    return this.#socket.tokenProblem;
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
  subscribe(board, wish, callbacks) {
    const subscription = new Subscription(board, this, wish, callbacks);
    this.boards.set(board, subscription);
    // No callback runs before `subscribe` returns.
    queueMicrotask(() => {
      if (this.boards.get(board) !== subscription) return;
      this.#openOrClose();
      if (this.phase === 'open' && !this.paused) subscription.request();
      else subscription.reportState();
    });
    return () => {
      if (this.boards.get(board) !== subscription) return;
      this.boards.delete(board);
      subscription.end();
      this.#openOrClose();
    };
  }

  /**
   * @param {string} feed
   * @param {FeedCallbacks} callbacks
   */
  feed(feed, callbacks) {
    this.feeds.set(feed, callbacks);
    this.#requestFeed(feed);
    this.#openOrClose();
    return () => {
      if (this.feeds.get(feed) !== callbacks) return;
      this.feeds.delete(feed);
      this.#refusedFeeds.delete(feed);
      this.send({ type: 'unsubscribe', feed });
      this.#openOrClose();
    };
  }

  /** @param {string} feed */
  #requestFeed(feed) {
    if (this.paused) return;
    this.#refusedFeeds.delete(feed);
    this.send({ type: 'subscribe', feed }, (answer) => {
      if (answer?.type === 'error') this.#onFeedRefusal(feed, answer);
      else if (this.problem) this.#reportFeed(feed, this.problem);
    });
  }

  /**
   * @param {string} feed
   * @param {Refusal} refusal
   */
  #onFeedRefusal(feed, refusal) {
    if (!this.feeds.has(feed)) return;
    if (RIGHTS.has(refusal.code)) this.#refusedFeeds.add(feed);
    this.#reportFeed(feed, new RankcastError(refusal));
  }

  /**
   * @param {string} feed
   * @param {Problem} problem
   */
  #reportFeed(feed, problem) {
    safely(() => this.feeds.get(feed)?.onError?.(problem));
  }

  /**
   * Sends an event until the server answers it.
   *
   * @param {string} event
   * @param {{ [field: string]: unknown }} data
   * @param {number} [within] ms
   * @returns {Promise<any[]>}
   */
  sendEvent(event, data, within = RETRY_MS) {
    return new Promise((resolve, reject) => {
      const from = Date.now();
      let attempt = 0;
      /** @type {ReturnType<typeof setTimeout> | undefined} */
      let timer;
      const finish = (/** @type {Problem | any[]} */ outcome) => {
        clearTimeout(timer);
        clearTimeout(limit);
        this.#events.delete(send);
        this.#openOrClose();
        if (Array.isArray(outcome)) resolve(outcome);
        else reject(outcome);
      };
      const expire = () => finish(new RankcastError({ code: 'unavailable', message: 'No answer: the event may count or not.' }));
      const limit = setTimeout(expire, within);
      const send = () => {
        clearTimeout(timer);
        // By the wall clock: timers stop while a machine sleeps, and the server's memory does not.
        const since = Date.now() - from;
        if (this.problem) finish(this.problem);
        else if (since < 0 || since >= within) expire();
        else this.send({ type: 'event', event, data }, onAnswer);
      };
      const onAnswer = (/** @type {Answer | null} */ answer) => {
        if (!answer || !this.#events.has(send)) return;
        const outcome = answer.type === 'result' ? (answer.results ?? []) : [{ error: answer }];
        if (outcome.some(({ error }) => TEMPORARY.has(error?.code))) timer = setTimeout(send, backoff(++attempt));
        else finish(answer.type === 'error' ? new RankcastError(answer) : outcome);
      };
      this.#events.add(send);
      this.#openOrClose();
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
      else this.#requestFeed(feed);
    }
    for (const subscription of this.boards.values()) {
      if (paused) subscription.suspend();
      else subscription.request();
    }
  }

  #openOrClose() {
    clearTimeout(this.#closeTimer);
    if (this.boards.size + this.feeds.size + this.#events.size > 0) this.#socket.open();
    else this.#closeTimer = setTimeout(() => this.#socket.close(), LINGER_MS);
  }

  #onPhase() {
    this.staleAsOf = null;
    const open = this.phase === 'open' && !this.paused;
    for (const subscription of this.boards.values()) {
      if (open) subscription.request();
      else subscription.suspend();
    }
    if (open) for (const feed of this.feeds.keys()) this.#requestFeed(feed);
    if (this.problem) for (const feed of this.feeds.keys()) this.#reportFeed(feed, this.problem);
    if (this.phase !== 'away') for (const send of this.#events) send();
  }

  #onRenewal() {
    if (this.paused) return;
    for (const subscription of this.boards.values()) subscription.retryRefused();
    for (const feed of [...this.#refusedFeeds]) this.#requestFeed(feed);
  }

  /**
   * @param {Frame} frame
   * @param {(now: string | undefined) => void} onTime
   */
  #onFrame(frame, onTime) {
    if (frame.type === 'error') this.#onError(frame);
    else if ('board' in frame) this.boards.get(frame.board)?.onFrame(frame);
    else if (frame.type === 'ok' || frame.type === 'pong') onTime(frame.now);
    else if (frame.type === 'feed') safely(() => this.feeds.get(frame.feed)?.onItems(frame.items, frame.skipped));
    else if (frame.type === 'status') {
      this.staleAsOf = frame.stale ? (frame.as_of ?? '') : null;
      for (const subscription of this.boards.values()) subscription.reportState();
    }
  }

  /**
   * The answer to a request has an id, and the request handles it. An error without one ends a
   * subscription: the right to it was taken back.
   *
   * @param {ErrorFrame} error
   */
  #onError({ id, board, feed, ...refusal }) {
    if (id) return;
    if (board !== undefined) this.boards.get(board)?.onLoss(refusal);
    if (feed !== undefined) this.#onFeedRefusal(feed, refusal);
  }
}

/** @returns {string} 128 random bits in hex. A page by http has no `crypto.randomUUID`. */
export function newID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
