// @ts-check

/**
 * `<live-leaderboard board="stars" top="10" me="u4">`: one board, live.
 *
 * Attributes
 * - `board`: the board as named on the wire
 * - `top`: entries shown, 1 to 1,000, default 10
 * - `me`: the member to follow: marked in the list, or in a row of its own
 *   under it, which stays in view while the list is scrolled; default: none
 * - `server`: URL of `/v1/live`; default: that of the server this module came from
 * - `data-state` (set by the element): connecting, live, stale, away or stopped
 *
 * Parts: header, state, dot, total, list, row, rank, member, gap, score, note,
 * pinned (the room under the list), and me: the followed member's row, wherever
 * it is. A row of the list carries `data-member`, the one under it `data-me`;
 * `data-podium` (1, 2 or 3) is on the first three ranks of the list.
 *
 * Custom properties: --rankcast-ink, -quiet, -line, -surface, -accent, -warn,
 * -me (behind the followed member's row), -gold, -silver, -bronze, -row-height.
 * Light and dark follow the page's `color-scheme`.
 */

import { Announcer } from './announcer.js';
import { part, setAttribute, setText } from './dom.js';
import { LiveConnection } from './live.js';
import { sheet } from './live-leaderboard.css.js';
import { problemOf } from './member.js';
import { ownPlace } from './own-place.js';
import { PinnedRow } from './pinned-row.js';
import { glide, numbers } from './row.js';
import { RowList } from './row-list.js';

/** @typedef {import('./frames.js').Me} Me */
/** @typedef {import('./frames.js').Problem} Problem */
/** @typedef {import('./frames.js').Snapshot} Snapshot */
/** @typedef {import('./own-place.js').OwnPlace} OwnPlace */
/** @typedef {import('./row.js').Row} Row */
/** @typedef {import('./subscription.js').State} State */

const DEFAULT_TOP = 10;
const MAX_TOP = 1_000;

const STATE_TEXT = {
  connecting: 'Connecting…',
  live: 'Live',
  stale: 'Store away',
  away: 'Reconnecting…',
  stopped: 'Stopped',
};

const PROBLEM_TEXT = new Map([
  ['unknown_board', 'There is no such board.'],
  ['unauthorized', 'This board asks for a sign-in.'],
  ['forbidden', 'This board is not open to you.'],
]);

const times = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');

export class LiveLeaderboard extends HTMLElement {
  static observedAttributes = ['board', 'top', 'me', 'server'];

  #state = part('span', 'state');
  #total = part('span', 'total');
  #list = new RowList();
  #note = part('p', 'note');
  #pinned = new PinnedRow();
  #announcer = new Announcer();

  /** @type {Snapshot | null} */
  #snapshot = null;
  /** @type {Me | null} */
  #own = null;
  /** Where the followed member was shown. @type {Row | null} */
  #ownRow = null;
  /** @type {State} */
  #connection = 'connecting';
  #asOf = '';
  /** @type {Problem | null} */
  #problem = null;
  /** @type {(() => void) | null} */
  #unsubscribe = null;
  #frame = 0;

  constructor() {
    super();
    const header = part('div', 'header');
    const state = part('span', 'connection');
    state.append(part('span', 'dot'), this.#state);
    header.append(state, this.#total);
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    root.append(header, this.#list.element, this.#note, this.#pinned.element, this.#announcer.element);
  }

  get board() {
    return this.getAttribute('board') ?? '';
  }

  set board(board) {
    this.setAttribute('board', board);
  }

  get top() {
    const top = Number.parseInt(this.getAttribute('top') ?? '', 10);
    return Number.isNaN(top) ? DEFAULT_TOP : Math.min(Math.max(top, 1), MAX_TOP);
  }

  set top(top) {
    this.setAttribute('top', String(top));
  }

  get me() {
    return this.getAttribute('me') ?? '';
  }

  set me(me) {
    this.setAttribute('me', me);
  }

  /** The member to follow: one whose id can be none is nobody. */
  get #followed() {
    return problemOf(this.me) ? '' : this.me;
  }

  get server() {
    const server = this.getAttribute('server');
    return server ? new URL(server, document.baseURI).href : new URL('../v1/live', import.meta.url).href;
  }

  set server(server) {
    this.setAttribute('server', server);
  }

  connectedCallback() {
    this.#watch();
  }

  disconnectedCallback() {
    this.#unwatch();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#announcer.pause();
  }

  /**
   * @param {string} name
   * @param {string | null} before
   * @param {string | null} now
   */
  attributeChangedCallback(name, before, now) {
    if (before === now || !this.isConnected) return;
    this.#unwatch();
    // What is shown belongs to the board that was named before.
    if (name === 'me') this.#forgetOwn();
    else if (name !== 'top') this.#forget();
    this.#watch();
  }

  #watch() {
    if (this.#unsubscribe || !this.board) return;
    const wish = { top: this.top, me: this.#followed, around: 1 };
    this.#unsubscribe = LiveConnection.to(this.server).subscribe(this.board, wish, {
      onSnapshot: (snapshot) => {
        this.#snapshot = snapshot;
        this.#renderSoon();
      },
      onMe: (me) => {
        this.#own = me;
        this.#renderSoon();
      },
      onState: (state, asOf) => {
        this.#connection = state;
        this.#asOf = asOf;
        if (state !== 'stopped') this.#problem = null;
        this.#renderSoon();
      },
      onError: (problem) => {
        this.#problem = problem;
        this.#renderSoon();
      },
    });
    this.#renderSoon();
  }

  #unwatch() {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
  }

  #forget() {
    this.#snapshot = null;
    this.#connection = 'connecting';
    this.#problem = null;
    this.#own = null;
    this.#ownRow = null;
    this.#announcer.forget();
    this.#renderSoon();
  }

  #forgetOwn() {
    this.#own = null;
    this.#ownRow = null;
    this.#announcer.forgetOwn();
  }

  #renderSoon() {
    if (this.#frame === 0 && this.isConnected) {
      this.#frame = requestAnimationFrame(() => {
        this.#frame = 0;
        this.#render();
      });
    }
  }

  #render() {
    // Before the first snapshot of a board nothing has been seen to move.
    const moves = this.#list.rows.size > 0 && !lessMotion.matches;
    const entries = this.#snapshot?.top ?? [];
    const digits = String(entries.at(-1)?.rank ?? 1).length;
    const me = this.#followed;
    const place = ownPlace(me, this.#snapshot, this.#own);
    const before = this.#ownRow;
    const seenAt = moves && before?.element.getBoundingClientRect().top;

    this.#list.write(entries, digits, moves);
    const listed = (place.kind === 'listed' && this.#list.rows.get(me)) || null;
    this.#list.mark(listed, place.kind === 'listed' ? place.toNext : null);
    this.#pinned.write(me, place, digits, moves);
    this.#renderHeader();
    if (this.#connection === 'live') this.#announcer.hear({ leader: entries[0] ?? null, own: this.#ownNews(place) });

    // Into the list or out of it, it is seen to go there.
    const row = this.#ownRow = listed ?? (this.#pinned.row.element.hidden ? null : this.#pinned.row);
    if (row && row !== before && typeof seenAt === 'number') {
      row.glide?.cancel();
      glide(row, seenAt - row.element.getBoundingClientRect().top);
    }
  }

  /** @param {OwnPlace} place */
  #ownNews(place) {
    const name = this.#pinned.name;
    const { kind } = place;
    if (kind === 'absent') return { kind, name, rank: null, score: null };
    if (kind === 'listed') return { kind, name, rank: place.entry.rank, score: place.entry.score };
    return kind === 'below' && place.rank !== null ? { kind, name, rank: place.rank, score: place.score } : null;
  }

  #renderHeader() {
    const connection = this.#connection;
    setAttribute(this, 'data-state', connection);
    const since = connection !== 'stale' ? '' : this.#asOf ? `, as of ${times.format(new Date(this.#asOf))}` : '…';
    setText(this.#state, STATE_TEXT[connection] + since);
    setText(this.#total, this.#snapshot ? describeTotal(this.#snapshot) : '');
    setText(this.#note, this.#noteText());
    setAttribute(this.#list.element, 'aria-label', `Top ${this.top} of ${this.board}`);
  }

  #noteText() {
    if (this.#problem) return PROBLEM_TEXT.get(this.#problem.code) ?? this.#problem.message;
    const wrong = problemOf(this.me);
    if (wrong) return wrong;
    if (this.#snapshot) return this.#snapshot.top.length === 0 ? 'No scores yet' : '';
    return this.#connection === 'away' ? 'The server can’t be reached. Trying again…' : '';
  }
}

/** @param {Snapshot} snapshot */
function describeTotal({ total, period }) {
  const members = `${numbers.format(total)} ${total === 1 ? 'member' : 'members'}`;
  return period ? `${period} · ${members}` : members;
}

customElements.define('live-leaderboard', LiveLeaderboard);
