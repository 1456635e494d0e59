// @ts-check

/**
 * One subscription to a board: the request to the server, and the list that the page holds.
 * It applies snapshots and deltas, and requests the board again after a gap. A session
 * (connection.js) has one for each of its boards.
 *
 * @import {Callbacks, Entry, Frozen, Info, Me, Problem, Snapshot, State, Wish} from './rankcast.js'
 * @import {Session} from './connection.js'
 *
 * @typedef {{ code: string, message: string, field?: string }} Refusal
 * @typedef {{ type: 'snapshot', life: string } & Snapshot} SnapshotFrame
 * @typedef {{ type: 'delta', board: string, from: number, seq: number, total: number, rows: [index: number, entry: Entry][],
 *   len: number }} Delta
 * @typedef {{ type: 'board', board: string, frozen: Frozen | null }} BoardFrame the board froze, or goes on
 * @typedef {{ type: 'feed', feed: string, items: { at: string, data: any }[], skipped: number }} Feed
 * @typedef {{ type: 'error', id?: number, board?: string, feed?: string } & Refusal} ErrorFrame
 * @typedef {{ type: 'ok' | 'pong', id: number, now?: string } | { type: 'result', id: number, results?: any[] } | ErrorFrame} Answer
 * @typedef {Answer | SnapshotFrame | Delta | BoardFrame | { type: 'me', board: string } & Me | Feed
 *   | { type: 'status', stale: boolean, as_of?: string } | { type: 'bye', retry_ms?: number }} Frame
 */

import { backoff, RankcastError, RIGHTS, TEMPORARY } from './socket.js';

/**
 * @param {SnapshotFrame | null} list
 * @param {SnapshotFrame | Delta | BoardFrame} frame
 * @returns {SnapshotFrame | null} the next list; null: the delta does not fit (a gap), and only a new snapshot helps
 */
function apply(list, frame) {
  if (frame.type === 'snapshot') return { ...frame, ...(!frame.info && list?.info && { info: infoOf(list, frame) }) };
  if (frame.type === 'board') return list && { ...list, frozen: frame.frozen ?? undefined };
  if (list?.seq !== frame.from) return null;
  const top = list.top.slice(0, frame.len);
  for (const [index, entry] of frame.rows) top[index] = entry;
  // The server would send no delta to this list that leaves an index empty, writes beyond the
  // end, or puts a member at two indexes.
  const members = new Set(Array.from(top, (entry) => entry?.member));
  if (members.size !== frame.len || top.length !== frame.len || members.has(/** @type {any} */ (undefined))) return null;
  return { ...list, seq: frame.seq, total: frame.total, top };
}

/**
 * @param {Snapshot} list the last one
 * @param {Snapshot} next without info
 * @returns {Info} that of the last list, with the period of the next one
 */
function infoOf({ info, period, ends }, next) {
  const known = /** @type {Info} */ (info);
  if (next.period === period || !known.period) return known;
  return { ...known, period: { ...known.period, name: next.period, opens: ends, ends: next.ends } };
}

/**
 * Calls a callback of the page. The kit reports its exception and goes on.
 *
 * @param {() => void} callback
 */
export function safely(callback) {
  try {
    callback();
  } catch (error) {
    reportError(error);
  }
}

/**
 * The list outlives a lost connection. The next request offers it (`resume`), so that the server
 * sends only the difference.
 */
export class Subscription {
  #board;
  #session;
  #wish;
  #callbacks;
  #requested = false;
  /** The server has answered the request. Frames before the answer belong to an earlier request. */
  #acknowledged = false;
  #resuming = false;
  /** The list is the server's, as far as the page can know. */
  #current = false;
  /** A delta did not fit, so no delta may be applied to the list. */
  #gap = false;
  /** @type {SnapshotFrame | null} */
  #list = null;
  /** @type {Me | null} */
  #own = null;
  /** @type {Problem | null} */
  #problem = null;
  #reported = '';
  #attempt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retryTimer;

  /**
   * @param {string} board
   * @param {Session} session
   * @param {Wish} wish
   * @param {Callbacks} callbacks
   */
  constructor(board, session, { top = 10, me = '', around = 0, info = false }, callbacks) {
    this.#board = board;
    this.#session = session;
    this.#wish = { top, ...(me && { me, ...(around && { around }) }), ...(info && { info }) };
    this.#callbacks = callbacks;
  }

  /** Requests the board. The session's socket must be open. */
  request() {
    clearTimeout(this.#retryTimer);
    const list = this.#gap ? null : this.#list;
    const resume = list ? { life: list.life, seq: list.seq } : undefined;
    this.#requested = true;
    this.#acknowledged = false;
    this.#resuming = resume !== undefined;
    this.#problem = null;
    this.#session.send({ type: 'subscribe', board: this.#board, ...this.#wish, resume }, (answer) => {
      if (answer?.type === 'ok') this.#acknowledged = true;
      else if (answer?.type === 'error') this.#onRefusal(answer);
    });
    this.reportState();
  }

  /** Requests the board if the server has refused it, and another token may allow it. */
  retryRefused() {
    if (this.#problem && RIGHTS.has(this.#problem.code)) this.request();
  }

  /** Stops the frames and keeps the list: the connection is lost or paused, or a retry follows. */
  suspend() {
    clearTimeout(this.#retryTimer);
    if (this.#requested) this.#session.send({ type: 'unsubscribe', board: this.#board });
    this.#requested = this.#acknowledged = this.#current = false;
    this.reportState();
  }

  /** Ends the subscription: it calls no callback any more. */
  end() {
    this.#callbacks = {};
    this.suspend();
  }

  /** @param {Frame} frame of this board */
  onFrame(frame) {
    if (!this.#acknowledged) return;
    if (frame.type === 'me' && this.#current) {
      this.#own = frame;
      safely(() => this.#callbacks.onMe?.(frame));
    } else if (frame.type === 'snapshot' || frame.type === 'delta' || frame.type === 'board') {
      this.#onList(frame);
    }
  }

  /** @param {SnapshotFrame | Delta | BoardFrame} frame */
  #onList(frame) {
    // A change applies only to a list that the server knows the page to hold.
    if (frame.type !== 'snapshot' && !this.#current && !this.#resuming) return;
    const before = this.#list;
    const list = apply(before, frame);
    if (!list) {
      this.#gap = true;
      this.#retry();
      return;
    }
    this.#list = list;
    this.#current = true;
    this.#gap = false;
    // Only a delta that fits shows that the cause of the last gap is gone.
    if (frame.type === 'delta') this.#attempt = 0;
    this.reportState();
    safely(() => this.#callbacks.onTop?.(list));
    // The server sends an own rank after each snapshot. The one from before the snapshot may be
    // of another epoch, in which seq counts anew.
    const own = this.#own;
    if (frame.type === 'snapshot' && own) {
      this.#own = frame.period === before?.period ? { ...own, seq: -1 } : null;
      if (this.#own) safely(() => this.#callbacks.onMe?.({ ...own, seq: -1 }));
    }
  }

  /** @param {Refusal} refusal of a subscription that the server accepted before */
  onLoss(refusal) {
    if (this.#acknowledged) this.#onRefusal(refusal);
  }

  /** @param {Refusal} refusal */
  #onRefusal(refusal) {
    this.#requested = this.#acknowledged = this.#current = false;
    if (TEMPORARY.has(refusal.code)) {
      this.#retry();
      return;
    }
    this.#problem = new RankcastError(refusal);
    this.reportState();
  }

  #retry() {
    this.suspend();
    this.#retryTimer = setTimeout(() => this.request(), backoff(this.#attempt++));
  }

  /** Calls `onState` if the state differs from the last one reported. */
  reportState() {
    const { phase, problem, tokenProblem, paused, staleAsOf } = this.#session;
    // The board's own refusal says more than that of the connection, which may follow from it.
    const refusal = this.#problem ?? problem;
    /** @type {State} */
    let state = this.#current ? 'live' : 'connecting';
    if (refusal) state = 'stopped';
    else if (paused) state = 'paused';
    else if (phase === 'away') state = 'away';
    else if (staleAsOf !== null) state = 'stale';
    const cause = refusal ?? (state === 'away' ? tokenProblem : null);
    const detail = cause ? { problem: cause } : state === 'stale' ? { asOf: staleAsOf ?? '' } : {};
    const report = state + JSON.stringify(detail) + cause;
    if (report === this.#reported) return;
    this.#reported = report;
    safely(() => this.#callbacks.onState?.(state, detail));
  }
}
