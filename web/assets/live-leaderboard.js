// @ts-check

/**
 * `<live-leaderboard board="stars" top="10">`: one board, live.
 *
 * Attributes
 * - `board`: the board as named on the wire
 * - `top`: entries shown, 1 to 1,000, default 10
 * - `server`: URL of `/v1/live`; default: that of the server this module came from
 * - `data-state` (set by the element): connecting, live, stale, away or stopped
 *
 * Parts: header, state, dot, total, list, row, rank, member, score, note.
 * A row carries `data-member`, and `data-podium` (1, 2 or 3) on the first three ranks.
 *
 * Custom properties: --rankcast-ink, -quiet, -line, -surface, -accent, -warn,
 * -gold, -silver, -bronze, -row-height. Light and dark follow the page's
 * `color-scheme`.
 */

import { LiveConnection } from './live.js';
import { sheet } from './live-leaderboard.css.js';

/** @typedef {import('./frames.js').Entry} Entry */
/** @typedef {import('./frames.js').Snapshot} Snapshot */
/** @typedef {import('./subscription.js').State} State */
/** @typedef {import('./frames.js').Problem} Problem */

const DEFAULT_TOP = 10;
const MAX_TOP = 1_000;

/** Long enough to follow with the eye, short enough to end between two changes of a busy board. */
const GLIDE_MS = 380;
const FLASH_MS = 900;
/** A lead that changes hands all the time would otherwise talk over everything else. */
const ANNOUNCE_MS = 10_000;

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

const numbers = new Intl.NumberFormat();
const times = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');

/**
 * A row belongs to a member for as long as the member is shown.
 *
 * @typedef {object} Row
 * @property {HTMLLIElement} element
 * @property {HTMLElement} rank
 * @property {HTMLElement} member
 * @property {HTMLElement} score
 * @property {Entry | null} entry as written into the elements
 * @property {number} place as laid out; -1: not yet
 * @property {Animation | null} glide
 * @property {Animation | null} flash
 */

export class LiveLeaderboard extends HTMLElement {
  static observedAttributes = ['board', 'top', 'server'];

  #state = part('span', 'state');
  #total = part('span', 'total');
  #list = part('ol', 'list');
  #note = part('p', 'note');
  #announcer = part('p', 'announcer');

  /** @type {Map<string, Row>} */
  #rows = new Map();
  /** @type {Snapshot | null} */
  #snapshot = null;
  /** @type {State} */
  #connection = 'connecting';
  #asOf = '';
  /** @type {Problem | null} */
  #problem = null;
  /** @type {(() => void) | null} */
  #unsubscribe = null;
  #frame = 0;

  /** @type {Entry | null} the leader that was said, or seen first */
  #leader = null;
  #announcedAt = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #announceTimer;

  constructor() {
    super();
    const header = part('div', 'header');
    const state = part('span', 'connection');
    state.append(part('span', 'dot'), this.#state);
    header.append(state, this.#total);
    // Without the role, Safari takes a list without markers for no list.
    this.#list.setAttribute('role', 'list');
    this.#announcer.setAttribute('role', 'status');
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    root.append(header, this.#list, this.#note, this.#announcer);
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
    clearTimeout(this.#announceTimer);
    this.#announceTimer = undefined;
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
    if (name !== 'top') this.#forget();
    this.#watch();
  }

  #watch() {
    if (this.#unsubscribe || !this.board) return;
    this.#unsubscribe = LiveConnection.to(this.server).subscribe(this.board, { top: this.top }, {
      onSnapshot: (snapshot) => {
        this.#snapshot = snapshot;
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
    this.#leader = null;
    clearTimeout(this.#announceTimer);
    this.#announceTimer = undefined;
    this.#renderSoon();
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
    const moves = this.#rows.size > 0 && !lessMotion.matches;
    this.#renderRows(this.#snapshot?.top ?? [], moves);
    this.#renderHeader();
    this.#renderLeader();
  }

  #renderHeader() {
    const connection = this.#connection;
    setAttribute(this, 'data-state', connection);
    const since = connection !== 'stale' ? '' : this.#asOf ? `, as of ${times.format(new Date(this.#asOf))}` : '…';
    setText(this.#state, STATE_TEXT[connection] + since);
    setText(this.#total, this.#snapshot ? describeTotal(this.#snapshot) : '');
    setText(this.#note, this.#noteText());
    setAttribute(this.#list, 'aria-label', `Top ${this.top} of ${this.board}`);
  }

  #noteText() {
    if (this.#problem) return PROBLEM_TEXT.get(this.#problem.code) ?? this.#problem.message;
    if (this.#snapshot) return this.#snapshot.top.length === 0 ? 'No scores yet' : '';
    return this.#connection === 'away' ? 'The server can’t be reached. Trying again…' : '';
  }

  /**
   * Glides by FLIP: measure, write, measure, and animate from where a row was
   * seen to where it now belongs. All reads come before or after all writes,
   * so that a render costs one layout.
   *
   * @param {readonly Entry[]} entries
   * @param {boolean} moves
   */
  #renderRows(entries, moves) {
    /** @type {Map<string, Row>} */
    const rows = new Map();
    for (const { member } of entries) rows.set(member, this.#rows.get(member) ?? newRow(member));
    const order = [...rows.values()];

    /** @type {Map<Row, number>} */
    const seenAt = new Map();
    if (moves) {
      order.forEach((row, place) => {
        if (row.place >= 0 && row.place !== place) seenAt.set(row, row.element.getBoundingClientRect().top);
      });
    }

    for (const [member, row] of this.#rows) {
      if (!rows.has(member)) row.element.remove();
    }
    const digits = String(entries.at(-1)?.rank ?? 1).length;
    if (this.#list.style.getPropertyValue('--_digits') !== `${digits}`) {
      this.#list.style.setProperty('--_digits', `${digits}`);
    }
    /** @type {Row[]} */
    const entered = [];
    let there = this.#list.firstElementChild;
    order.forEach((row, place) => {
      if (there === row.element) there = there.nextElementSibling;
      else this.#list.insertBefore(row.element, there);
      if (row.place < 0) entered.push(row);
      else if (seenAt.has(row)) row.element.style.zIndex = place < row.place ? '1' : '0';
      row.place = place;
    });
    for (const entry of entries) {
      const row = rows.get(entry.member);
      if (row) writeRow(row, entry);
    }
    this.#rows = rows;

    if (!moves) return;
    for (const row of seenAt.keys()) row.glide?.cancel();
    /** @type {[Row, number][]} */
    const distances = [];
    for (const [row, before] of seenAt) {
      const now = row.element.getBoundingClientRect().top;
      if (before !== now && (isNearView(before) || isNearView(now))) distances.push([row, before - now]);
    }
    for (const [row, distance] of distances) glide(row, distance);
    for (const row of entered) fadeIn(row);
  }

  #renderLeader() {
    const leader = this.#snapshot?.top[0] ?? null;
    if (!leader || this.#announceTimer !== undefined) return;
    if (!this.#leader) this.#leader = leader;
    if (leader.member === this.#leader.member || this.#connection !== 'live') return;
    this.#announceTimer = setTimeout(() => this.#announce(), this.#announcedAt + ANNOUNCE_MS - performance.now());
  }

  // Says who leads now, not who led when the wait began.
  #announce() {
    this.#announceTimer = undefined;
    const leader = this.#snapshot?.top[0];
    if (!leader || leader.member === this.#leader?.member) return;
    this.#leader = leader;
    this.#announcedAt = performance.now();
    setText(this.#announcer, `${leader.name ?? leader.member} leads with ${numbers.format(leader.score)}`);
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} name
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function part(tag, name) {
  const element = document.createElement(tag);
  element.setAttribute('part', name);
  return element;
}

/**
 * @param {string} member
 * @returns {Row}
 */
function newRow(member) {
  const element = part('li', 'row');
  element.dataset.member = member;
  const rank = part('span', 'rank');
  const name = part('span', 'member');
  const score = part('span', 'score');
  // Words read aloud, or copied, need the spaces that the layout does not.
  element.append(rank, ' ', name, ' ', score);
  return { element, rank, member: name, score, entry: null, place: -1, glide: null, flash: null };
}

/**
 * @param {Row} row
 * @param {Entry} entry
 */
function writeRow(row, entry) {
  const before = row.entry;
  if (before === entry) return;
  row.entry = entry;
  if (before?.rank !== entry.rank) {
    setText(row.rank, numbers.format(entry.rank));
    if (entry.rank <= 3) row.element.dataset.podium = String(entry.rank);
    else delete row.element.dataset.podium;
  }
  setText(row.member, entry.name || entry.member);
  row.member.title = entry.member;
  if (before?.score !== entry.score) {
    setText(row.score, numbers.format(entry.score));
    if (before) flash(row);
  }
}

/**
 * @param {Row} row
 * @param {number} distance pixels from where it belongs to where it was seen
 */
function glide(row, distance) {
  row.glide = row.element.animate([{ transform: `translateY(${distance}px)` }, { transform: 'none' }], {
    duration: GLIDE_MS,
    easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)',
  });
}

/** @param {Row} row */
function fadeIn(row) {
  row.glide = row.element.animate([{ opacity: 0, transform: 'translateY(0.5em)' }, { opacity: 1, transform: 'none' }], {
    duration: GLIDE_MS,
    easing: 'ease-out',
  });
}

/** @param {Row} row */
function flash(row) {
  row.flash?.cancel();
  row.flash = row.score.animate([{ opacity: 1 }, { opacity: 0 }], {
    duration: FLASH_MS,
    easing: 'ease-out',
    pseudoElement: '::before',
  });
}

// A thousand rows may move at once; only those that can be seen are animated.
/** @param {number} y pixels from the top of the window */
function isNearView(y) {
  return y > -innerHeight / 2 && y < innerHeight * 1.5;
}

/** @param {Snapshot} snapshot */
function describeTotal({ total, period }) {
  const members = `${numbers.format(total)} ${total === 1 ? 'member' : 'members'}`;
  return period ? `${period} · ${members}` : members;
}

/**
 * @param {HTMLElement} element
 * @param {string} text
 */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * @param {HTMLElement} element
 * @param {string} name
 * @param {string} value
 */
function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

customElements.define('live-leaderboard', LiveLeaderboard);
