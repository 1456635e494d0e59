// @ts-check

/**
 * One subscription to a board: what was asked for, what is held, and who
 * watches it.
 *
 * What a watcher is told about its board:
 * - `connecting`: first attempt, or connected and waiting for the list
 * - `live`: what was handed over last is what the server shows
 * - `stale`: connected, but the server has lost its store
 * - `away`: the connection is lost and will be tried again
 * - `stopped`: refused for good; nothing more will come
 * @typedef {'connecting' | 'live' | 'stale' | 'away' | 'stopped'} State
 *
 * @typedef {object} Watcher
 * @property {(snapshot: Snapshot) => void} onSnapshot the whole list, after every frame
 * @property {(me: Me) => void} [onMe] the own place, after every change; with `seq` -1 it is older than the list
 * @property {(state: State, asOf: string) => void} [onState] `asOf`: with `stale`, the time (RFC 3339) of the last known data, or ''
 * @property {(problem: Problem) => void} [onError] why the state is about to be `stopped`
 *
 * @typedef {object} Wish what one watcher wants of a board
 * @property {number} top entries, 1 to 1,000
 * @property {string} [me] the member to follow; '' or absent: none
 * @property {number} [around] neighbours of `me` on each side, 0 (the default) to 20
 *
 * @typedef {object} Health of the connection that the subscription goes over
 * @property {Phase} phase
 * @property {string | null} staleAsOf null unless the server has lost its store
 * @property {Problem | null} problem
 */

import { fold } from './frames.js';
import { backoff } from './socket.js';

/** @typedef {import('./frames.js').Delta} Delta */
/** @typedef {import('./frames.js').Me} Me */
/** @typedef {import('./frames.js').Problem} Problem */
/** @typedef {import('./frames.js').ServerFrame} ServerFrame */
/** @typedef {import('./frames.js').Snapshot} Snapshot */
/** @typedef {import('./socket.js').Phase} Phase */

/** Refusals that time heals; all others are final for the subscription. */
const TEMPORARY = new Set(['unavailable', 'rate_limited']);

/**
 * One watcher and what it was told last.
 *
 * @typedef {object} Watch
 * @property {Required<Wish>} wish
 * @property {Watcher} watcher
 * @property {string} state
 * @property {Snapshot | null} snapshot
 * @property {Me | null} own
 * @property {Problem | null} problem
 */

/**
 * Several watchers share it: it asks for the largest `top` and `around` among
 * them, and each gets its own first part of the list. They follow one member,
 * or none.
 *
 * The list and the own place outlive a lost connection. What is held is offered
 * when the board is asked for again (`resume`), so that the server need only
 * send what has changed since.
 */
export class Subscription {
  #board;
  #send;
  /** @type {Set<Watch>} */
  #watches = new Set();

  /** @type {Required<Wish> | null} null: not asked on this connection */
  #asked = null;
  #askedID = 0;
  #resuming = false;
  /**
   * Frames count from the answer on: those before it were meant for what was
   * asked earlier.
   * @type {'silent' | 'asked' | 'answered' | 'flowing'}
   */
  #stage = 'silent';

  /** @type {Snapshot | null} */
  #list = null;
  /** The `top` that the list was asked for with. */
  #listTop = 0;
  /** The list is what the server shows, as far as can be known. */
  #fresh = false;
  /** A delta did not fit, so the list is not to be built upon. */
  #torn = false;
  /** @type {Me | null} */
  #own = null;
  #ownMember = '';

  /** @type {Problem | null} */
  #problem = null;
  #attempt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {string} board
   * @param {(frame: { type: string, [field: string]: unknown }) => number} send returns the id it was sent with
   */
  constructor(board, send) {
    this.#board = board;
    this.#send = send;
  }

  get watched() {
    return this.#watches.size > 0;
  }

  /** The member that its watchers follow, or ''. */
  get me() {
    for (const { wish } of this.#watches) {
      if (wish.me) return wish.me;
    }
    return '';
  }

  /**
   * @param {Wish} wish its `me`, if any, is {@link me}, if any
   * @param {Watcher} watcher
   * @returns {() => boolean} ends it; false when it had ended already
   */
  add({ top, me = '', around = 0 }, watcher) {
    /** @type {Watch} */
    const watch = { wish: { top, me, around }, watcher, state: '', snapshot: null, own: null, problem: null };
    this.#watches.add(watch);
    return () => this.#watches.delete(watch);
  }

  /** Asks, over an open connection, for what the watchers want and was not asked for yet. */
  settle() {
    const { top, me, around } = this.#wanted();
    const asked = this.#asked;
    if (asked?.top !== top || asked.me !== me || asked.around !== around) this.#ask();
  }

  /** Ends it over an open connection, for lack of watchers. */
  end() {
    if (this.#asked) this.#send({ type: 'unsubscribe', board: this.#board });
    this.lose();
  }

  /** The connection is gone; what is held stays. */
  lose() {
    clearTimeout(this.#timer);
    this.#asked = null;
    this.#stage = 'silent';
    this.#fresh = false;
  }

  /** @param {ServerFrame} frame of this board, or with an id */
  hear(frame) {
    switch (frame.type) {
      case 'ok':
        if (frame.id === this.#askedID && this.#stage === 'asked') this.#stage = 'answered';
        break;
      case 'snapshot':
      case 'delta':
        if (this.#stage === 'answered' || this.#stage === 'flowing') this.#fold(frame);
        break;
      case 'me':
        if (this.#stage === 'flowing' && this.#asked?.me) {
          this.#own = frame;
          this.#ownMember = this.#asked.me;
        }
        break;
      case 'error':
        if (frame.id === this.#askedID && this.#stage === 'asked') this.#refused(frame);
        break;
    }
  }

  /** @param {Snapshot | Delta} frame */
  #fold(frame) {
    // A delta must build on a list that the server knows to be held here.
    if (frame.type === 'delta' && this.#stage === 'answered' && !this.#resuming) return;

    const list = fold(this.#list, frame);
    if (list === null) {
      this.#torn = true;
      this.#send({ type: 'unsubscribe', board: this.#board });
      this.#askLater();
      return;
    }
    // An own place comes after each snapshot. The one from before it may be
    // of another epoch, where seq was counted anew.
    if (frame.type === 'snapshot' && this.#own) {
      this.#own = frame.period === this.#list?.period ? { ...this.#own, seq: -1 } : null;
    }
    this.#list = list;
    this.#listTop = this.#asked?.top ?? 0;
    this.#stage = 'flowing';
    this.#fresh = true;
    this.#torn = false;
    // Only a delta that fits shows that the next gap is not the same again.
    if (frame.type === 'delta') this.#attempt = 0;
  }

  /** @param {Problem} problem */
  #refused({ code, message }) {
    if (TEMPORARY.has(code)) {
      this.#askLater();
    } else {
      this.#stage = 'silent';
      this.#problem = { code, message };
    }
  }

  #ask() {
    clearTimeout(this.#timer);
    const wanted = this.#wanted();
    const { top, me, around } = wanted;
    if (me !== this.#ownMember) this.#own = null;
    const resume = this.#resumeFor(top);
    this.#problem = null;
    this.#asked = wanted;
    this.#stage = 'asked';
    this.#resuming = resume !== undefined;
    this.#askedID = this.#send({
      type: 'subscribe',
      board: this.#board,
      top,
      ...(me && { me }),
      ...(around && { around }),
      ...(resume && { resume }),
    });
  }

  #askLater() {
    this.#stage = 'silent';
    this.#fresh = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), backoff(this.#attempt++));
  }

  /** @param {number} top */
  #resumeFor(top) {
    const list = this.#list;
    // A board that does not exist yet has no epoch.
    if (!list?.epoch || this.#torn || this.#listTop < top) return undefined;
    return { epoch: list.epoch, seq: list.seq };
  }

  /** @returns {Required<Wish>} */
  #wanted() {
    const wanted = { top: 0, me: this.me, around: 0 };
    for (const { wish } of this.#watches) {
      wanted.top = Math.max(wanted.top, wish.top);
      if (wish.me) wanted.around = Math.max(wanted.around, wish.around);
    }
    return wanted;
  }

  /**
   * Tells each watcher what it does not know yet.
   *
   * @param {Health} health
   */
  tell(health) {
    const problem = health.problem ?? this.#problem;
    const state = this.#state(health);
    const asOf = health.staleAsOf ?? '';
    const list = this.#list;
    for (const watch of this.#watches) {
      const { watcher, wish } = watch;
      const own = wish.me === this.#ownMember ? this.#own : null;
      if (problem !== watch.problem) {
        watch.problem = problem;
        if (problem) this.#call(watch, () => watcher.onError?.(problem));
      }
      if (state + asOf !== watch.state) {
        watch.state = state + asOf;
        this.#call(watch, () => watcher.onState?.(state, asOf));
      }
      if (list && list !== watch.snapshot) {
        watch.snapshot = list;
        this.#call(watch, () => watcher.onSnapshot(firstOf(list, wish.top)));
      }
      if (own && wish.me && own !== watch.own) {
        watch.own = own;
        this.#call(watch, () => watcher.onMe?.(own));
      }
    }
  }

  /**
   * @param {Health} health
   * @returns {State}
   */
  #state({ phase, staleAsOf }) {
    if (phase === 'stopped' || this.#problem) return 'stopped';
    if (phase === 'away') return 'away';
    if (phase !== 'open') return 'connecting';
    if (staleAsOf !== null) return 'stale';
    return this.#fresh ? 'live' : 'connecting';
  }

  /**
   * Calls a watcher that has not left meanwhile. Its mistakes must not keep the
   * others from being told.
   *
   * @param {Watch} watch
   * @param {() => void} tell
   */
  #call(watch, tell) {
    if (!this.#watches.has(watch)) return;
    try {
      tell();
    } catch (error) {
      reportError(error);
    }
  }
}

/**
 * @param {Snapshot} list
 * @param {number} top
 * @returns {Snapshot}
 */
function firstOf(list, top) {
  return list.top.length > top ? { ...list, top: list.top.slice(0, top) } : list;
}
