// @ts-check

/**
 * `<live-leaderboard board="stars" top="10" me="u4">`: one board, live.
 *
 * Attributes
 * - `board`: the board as named on the wire: `stars`, `fans:s17`, `stars@2026-W46`
 * - `top`: entries shown, 1 to 1,000, default 10
 * - `me`: the member to follow: marked in the list, or in a row of its own
 *   under it, which stays in view while the list is scrolled; default: none
 * - `server`: URL of `/v1/live`; default: that of the server this module came from
 * - `data-state` (set by the element): connecting, live, stale, away or stopped
 * - `data-final` (set by the element): there while a period is shown that has closed
 *
 * A board with periods shows the current one, and turns over to the next by itself.
 *
 * Parts: header, state, dot, total, period (with period-name and ends), list, row,
 * rank, avatar, member, gap, score, note, pinned (the room under the list), and me: the
 * followed member's row, wherever it is. A row of the list carries `data-member`, the one under it `data-me`;
 * `data-podium` (1, 2 or 3) is on the first three ranks of the list.
 *
 * A member is shown by its name where it has one, and by its id else, which the name has
 * for a title. An avatar shows where it is a path of this site, or an https URL that the
 * page's Content-Security-Policy lets load; the pages of Rankcast itself load none of others.
 *
 * Custom properties: --rankcast-ink, -quiet, -line, -surface, -accent, -warn,
 * -me (behind the followed member's row), -gold, -silver, -bronze, -row-height.
 * Light and dark follow the page's `color-scheme`.
 */

import { Announcer } from './announcer.js';
import { timeLeft } from './countdown.js';
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
  ['unknown_period', 'There is no such period: it has not begun yet, or is kept no longer.'],
  ['unauthorized', 'This board asks for a sign-in.'],
  ['forbidden', 'This board is not open to you.'],
]);

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const times = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');

export class LiveLeaderboard extends HTMLElement {
  static observedAttributes = ['board', 'top', 'me', 'server'];

  #state = part('span', 'state');
  #total = part('span', 'total');
  #period = part('div', 'period');
  #periodName = part('span', 'period-name');
  #ends = part('span', 'ends');
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
  /** How the period before ended, until the next has scores. */
  #result = '';
  /** @type {LiveConnection | null} */
  #live = null;
  /** @type {(() => void) | null} */
  #unsubscribe = null;
  #frame = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #ticker;
  /** Ends the element's listeners outside of it. */
  #left = new AbortController();

  constructor() {
    super();
    const header = part('div', 'header');
    const state = part('span', 'connection');
    state.append(part('span', 'dot'), this.#state);
    // A timer is read out when asked for, not each time that it changes.
    this.#ends.setAttribute('role', 'timer');
    this.#period.append(this.#periodName, ' ', this.#ends);
    header.append(this.#period, state, this.#total);
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
    this.#left = new AbortController();
    document.addEventListener('visibilitychange', () => this.#renderEnds(), { signal: this.#left.signal });
    this.#watch();
  }

  disconnectedCallback() {
    this.#unwatch();
    this.#left.abort();
    clearTimeout(this.#ticker);
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
    this.#live = LiveConnection.to(this.server);
    this.#unsubscribe = this.#live.subscribe(this.board, wish, {
      onSnapshot: (snapshot) => {
        const before = this.#snapshot;
        if (before?.period && snapshot.period && before.period !== snapshot.period) this.#turn(before, snapshot);
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

  /**
   * @param {Snapshot} before
   * @param {Snapshot} now
   */
  #turn(before, now) {
    this.#own = null;
    this.#result = describeResult(before);
    const begins = now.final ? `${now.period} is shown now.` : `${now.period} has begun.`;
    this.#announcer.turn(`${this.#result} ${begins}`.trim());
  }

  #forget() {
    this.#snapshot = null;
    this.#result = '';
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
    const final = this.#snapshot?.final === true;
    this.toggleAttribute('data-final', final);
    const since = connection !== 'stale' ? '' : this.#asOf ? `, as of ${times.format(new Date(this.#asOf))}` : '…';
    setText(this.#state, connection === 'live' && final ? 'Final' : STATE_TEXT[connection] + since);
    setText(this.#total, this.#snapshot ? describeTotal(this.#snapshot) : '');
    setText(this.#periodName, this.#snapshot?.period ?? '');
    this.#renderEnds();
    setText(this.#note, this.#noteText());
    setAttribute(this.#list.element, 'aria-label', `Top ${this.top} of ${this.board}`);
  }

  // By itself once a second at most, and never where nobody looks.
  #renderEnds() {
    clearTimeout(this.#ticker);
    const { ends, final, period } = this.#snapshot ?? {};
    this.#period.hidden = !ends && !period;
    if (!ends || final) {
      setText(this.#ends, ends ? `ended ${dates.format(new Date(ends))}` : '');
      return;
    }
    const at = new Date(ends);
    const { text, changesIn } = timeLeft(at.getTime() - (this.#live?.now() ?? Date.now()));
    setText(this.#ends, text ? `ends in ${text}` : 'ends now');
    this.#ends.title = dates.format(at);
    if (changesIn < Infinity && document.visibilityState === 'visible') {
      this.#ticker = setTimeout(() => this.#renderEnds(), changesIn);
    }
  }

  #noteText() {
    if (this.#problem) return PROBLEM_TEXT.get(this.#problem.code) ?? this.#problem.message;
    const wrong = problemOf(this.me);
    if (wrong) return wrong;
    if (this.#snapshot?.final) return this.#snapshot.top.length === 0 ? 'No scores' : '';
    if (this.#snapshot) return this.#snapshot.top.length === 0 ? `${this.#result} No scores yet`.trim() : '';
    return this.#connection === 'away' ? 'The server can’t be reached. Trying again…' : '';
  }
}

/** @param {Snapshot} snapshot */
function describeTotal({ total }) {
  return `${numbers.format(total)} ${total === 1 ? 'member' : 'members'}`;
}

/**
 * @param {Snapshot} snapshot
 * @returns {string} how a period ended; '' where that was not seen
 */
function describeResult({ period, final, top }) {
  if (!final) return '';
  const [first] = top;
  return first ? `${period} is over: ${first.name || first.member} was first with ${numbers.format(first.score)}.` : `${period} is over.`;
}

customElements.define('live-leaderboard', LiveLeaderboard);
