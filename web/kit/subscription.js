// @ts-check

/**
 * One subscription to a board: what was asked for, and what is held.
 *
 * @import {Callbacks, Entry, Me, Problem, Snapshot, State, Wish} from './rankcast.js'
 * @import {Line} from './connection.js'
 *
 * @typedef {{ type: 'snapshot' } & Snapshot} SnapshotFrame
 * @typedef {{ type: 'delta', board: string, from: number, seq: number, total: number, rows: [place: number, entry: Entry][], len: number }} Delta
 * @typedef {{ type: 'feed', feed: string, items: { at: string, data: any }[], skipped: number }} Feed
 * @typedef {{ type: 'ok' | 'pong', id: number, now?: string } | { type: 'result', id: number, results?: any[] } | { type: 'error', id: number } & Problem} Answer
 * @typedef {Answer | SnapshotFrame | Delta | { type: 'me', board: string } & Me | Feed
 *   | { type: 'status', stale: boolean, as_of?: string } | { type: 'bye', retry_ms?: number }} Frame
 */

import { backoff } from './socket.js';

/** Refusals that time heals. */
export const TEMPORARY = new Set(['unavailable', 'rate_limited']);

/**
 * @param {Snapshot | null} held
 * @param {SnapshotFrame | Delta} frame
 * @returns {Snapshot | null} null: the delta does not fit (a gap), only a new snapshot helps
 */
function fold(held, frame) {
  if (frame.type === 'snapshot') return frame;
  if (held?.seq !== frame.from) return null;
  const top = held.top.slice(0, frame.len);
  for (const [place, entry] of frame.rows) top[place] = entry;
  // A place left empty, one beyond the end or a member in two places cannot
  // come from the list that the server thinks is held here.
  const members = new Set(Array.from(top, (entry) => entry?.member));
  if (members.size !== frame.len || top.length !== frame.len || members.has(/** @type {any} */ (undefined))) return null;
  return { ...held, seq: frame.seq, total: frame.total, top };
}

/**
 * Calls back. A mistake of one must not keep others from being told.
 *
 * @param {() => void} tell
 */
export function safely(tell) {
  try {
    tell();
  } catch (error) {
    reportError(error);
  }
}

/**
 * What is held outlives a lost connection, and is offered when the board is asked
 * for again (`resume`), so that the server need only send what changed since.
 */
export class Subscription {
  #board;
  #line;
  #wish;
  #on;
  #asked = false;
  /** Frames count from the answer on: those before it were for what was asked earlier. */
  #answered = false;
  #resuming = false;
  /** The list is what the server shows, as far as can be known. */
  #fresh = false;
  /** A delta did not fit, so the list is not to be built upon. */
  #torn = false;
  /** @type {Snapshot | null} */
  #list = null;
  /** @type {Me | null} */
  #own = null;
  /** @type {Problem | null} */
  #problem = null;
  #told = '';
  #attempt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {string} board
   * @param {Line} line
   * @param {Wish} wish
   * @param {Callbacks} on
   */
  constructor(board, line, { top = 10, me = '', around = 0 }, on) {
    this.#board = board;
    this.#line = line;
    this.#wish = { top, ...(me && { me, ...(around && { around }) }) };
    this.#on = on;
  }

  /** Asks, over an open connection. */
  ask() {
    clearTimeout(this.#timer);
    const list = this.#torn ? null : this.#list;
    // A board that does not exist yet has no epoch.
    const resume = list?.epoch ? { epoch: list.epoch, seq: list.seq } : undefined;
    this.#asked = true;
    this.#answered = false;
    this.#resuming = resume !== undefined;
    this.#problem = null;
    this.#line.send({ type: 'subscribe', board: this.#board, ...this.#wish, resume }, (answer) => {
      if (answer?.type === 'ok') this.#answered = true;
      else if (answer?.type === 'error') this.#refused(answer);
    });
    this.tell();
  }

  /** Nothing more comes, and what is held stays: the connection is gone or lets the board rest. */
  rest() {
    clearTimeout(this.#timer);
    if (this.#asked) this.#line.send({ type: 'unsubscribe', board: this.#board });
    this.#asked = this.#answered = this.#fresh = false;
    this.tell();
  }

  /** Ends it: nobody is called back any more. */
  end() {
    this.#on = {};
    this.rest();
  }

  /** @param {Frame} frame of this board */
  hear(frame) {
    if (!this.#answered) return;
    if (frame.type === 'me' && this.#fresh) {
      this.#own = frame;
      safely(() => this.#on.onMe?.(frame));
    } else if (frame.type === 'snapshot' || frame.type === 'delta') {
      this.#fold(frame);
    }
  }

  /** @param {SnapshotFrame | Delta} frame */
  #fold(frame) {
    // A delta must build on a list that the server knows to be held here.
    if (frame.type === 'delta' && !this.#fresh && !this.#resuming) return;
    const before = this.#list;
    const list = fold(before, frame);
    if (!list) {
      this.#torn = true;
      this.#askLater();
      return;
    }
    this.#list = list;
    this.#fresh = true;
    this.#torn = false;
    // Only a delta that fits shows that the next gap is not the same again.
    if (frame.type === 'delta') this.#attempt = 0;
    this.tell();
    safely(() => this.#on.onTop?.(list));
    // An own place comes after each snapshot. The one from before it may be of
    // another epoch, where seq was counted anew.
    const own = this.#own;
    if (frame.type === 'snapshot' && own) {
      this.#own = frame.period === before?.period ? { ...own, seq: -1 } : null;
      if (this.#own) safely(() => this.#on.onMe?.({ ...own, seq: -1 }));
    }
  }

  /** @param {Problem} problem */
  #refused({ code, message, field }) {
    this.#asked = false;
    if (TEMPORARY.has(code)) {
      this.#askLater();
      return;
    }
    this.#problem = { code, message, field };
    this.tell();
  }

  #askLater() {
    this.rest();
    this.#timer = setTimeout(() => this.ask(), backoff(this.#attempt++));
  }

  /** Tells the state, where it is another than was told. */
  tell() {
    const { phase, problem, paused, staleAsOf } = this.#line;
    const refused = problem ?? this.#problem;
    /** @type {State} */
    let state = this.#fresh ? 'live' : 'connecting';
    if (refused) state = 'stopped';
    else if (paused) state = 'paused';
    else if (phase === 'away') state = 'away';
    else if (staleAsOf !== null) state = 'stale';
    const detail = refused ? { problem: refused } : state === 'stale' ? { asOf: staleAsOf ?? '' } : {};
    const told = state + JSON.stringify(detail);
    if (told === this.#told) return;
    this.#told = told;
    safely(() => this.#on.onState?.(state, detail));
  }
}
