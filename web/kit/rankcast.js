// @ts-check

/**
 * The kit, which a page imports to show boards of a Rankcast server. This module exports the
 * kit's functions and holds the element `<live-leaderboard>`. rankcast.d.ts describes them, with
 * the attributes, parts, properties and events of the element.
 *
 * @import {Connection, Entry, Me, Snapshot, State, StateDetail, TokenFunction} from './rankcast.js'
 * @import {Item} from './row.js'
 */

import { Announcer } from './announcer.js';
import { connect } from './connection.js';
import { part, setAttribute, setProperty, setText } from './dom.js';
import { Finish } from './finish.js';
import { dates, datesIn, fill, memberCount, phrase, timeLeft, times, words } from './format.js';
import { itemsOf } from './items.js';
import { Moments } from './moments.js';
import { formatsOf, pickTemplate } from './row.js';
import { RowList } from './rows.js';
import { RankcastError } from './socket.js';
import sheet from './style.css' with { type: 'css' };
import { tokenFrom } from './token-url.js';

export { connect, subscribe } from './connection.js';
export { scoreFormat, textIn, timeLeft, words } from './format.js';
// For the server's own pages. rankcast.d.ts does not describe these, and they may change.
export { newID, RETRY_MS } from './connection.js';
export { claimsOf } from './credentials.js';
export { dates, fill, numbers, phrase, plurals, times } from './format.js';
export { setAttribute, setProperty, setText } from './dom.js';
export { hueOf, initialOf, setAvatar } from './portrait.js';
export { backoff } from './socket.js';

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
/** How long a result stays after the end of a period, s. */
const HOLD_S = 15;

export class LiveLeaderboard extends HTMLElement {
  static observedAttributes = ['board', 'top', 'me', 'around', 'server', 'token-url', 'format', 'unit', 'decimals'];

  #stateText = part('span', 'state');
  #total = part('span', 'total');
  #name = part('span', 'period-name');
  #ends = part('span', 'ends');
  #period = part('div', 'period', this.#name, ' ', this.#ends);
  #list = new RowList();
  #note = part('p', 'note');
  #announcer = new Announcer();
  #moments = new Moments((moment) => this.#dispatch('moment', moment));
  #finish = new Finish(() => setAttribute(this, 'data-finish', false));

  /** @type {Snapshot | null} */
  #snapshot = null;
  /** @type {Me | null} */
  #own = null;
  /** @type {State} */
  #state = 'connecting';
  /** @type {StateDetail} */
  #detail = {};
  /** The result of the last period, shown until the current one has scores. */
  #lastResult = '';
  /** The list as last rendered; null: nothing to compare with. @type {Snapshot | null} */
  #rendered = null;
  /** @type {number | null} */
  #renderedRank = null;
  /** The list is that of the page, and no frame has come yet. */
  #hasFirstRows = false;
  #formats = formatsOf({});
  /** @type {Connection | null} */
  #connection = null;
  /** @type {TokenFunction | null} */
  #token = null;
  /** @type {(() => void) | null} */
  #unsubscribe = null;
  #renderRequest = 0;
  #renderedAt = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #countdownTimer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #paceTimer;
  /** Ends the request of the last period's result. @type {(() => void) | undefined} */
  #endResult;
  /** The rows that the list had when the last period ended. */
  #rowsBefore = 0;
  /** Removes the element's listeners on the page. */
  #pageListeners = new AbortController();

  constructor() {
    super();
    // Screen readers read a timer only on request, not at each change.
    this.#ends.role = 'timer';
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    root.append(
      part('div', 'header', this.#period, part('span', 'connection', part('span', 'dot'), this.#stateText), this.#total),
      this.#moments.element,
      part('div', 'stage', this.#list.element, this.#note, this.#finish.element),
      this.#finish.countdown,
      this.#announcer.element,
    );
    root.addEventListener('click', ({ target }) => {
      const row = target instanceof Element && this.hasAttribute('pickable') && target.closest('[data-member]');
      if (row instanceof HTMLElement) this.#pick(row.dataset.member ?? '');
    });
  }

  get token() {
    return this.#token;
  }

  set token(token) {
    if (token === this.#token) return;
    this.#token = token;
    if (!this.isConnected) return;
    // The rows in the page are for everybody.
    if (this.#hasFirstRows) this.#watch();
    else this.#changeSource();
  }

  connectedCallback() {
    // A script may have set the property before the browser knew the element.
    if (Object.hasOwn(this, 'token')) {
      const { token } = this;
      delete (/** @type {{ token?: TokenFunction | null }} */ (this).token);
      this.#token = token;
    }
    this.#pageListeners = new AbortController();
    document.addEventListener('visibilitychange', () => this.#renderEnds(), { signal: this.#pageListeners.signal });
    this.#readFormat();
    this.#takeFirstRows();
    this.#watch();
    // A browser may lay out the page before the next frame, so the rows are there at once.
    if (this.#hasFirstRows) this.#render();
  }

  /** Takes over the rows that the server rendered into the page, until the first frame comes. */
  #takeFirstRows() {
    const table = this.querySelector('[data-snapshot]');
    if (!(table instanceof HTMLElement)) return;
    const { snapshot = 'null', me = 'null' } = table.dataset;
    for (const part of this.querySelectorAll('[slot=first]')) part.remove();
    /** @type {Snapshot | null} */
    const list = JSON.parse(snapshot);
    if (list?.board !== this.getAttribute('board')) return;
    this.#snapshot = list;
    this.#own = JSON.parse(me);
    this.#hasFirstRows = true;
  }

  disconnectedCallback() {
    this.#unsubscribe?.();
    this.#pageListeners.abort();
    clearTimeout(this.#countdownTimer);
    clearTimeout(this.#paceTimer);
    this.#endShow();
    cancelAnimationFrame(this.#renderRequest);
    this.#renderRequest = 0;
    this.#announcer.pause();
  }

  /**
   * @param {string} name
   * @param {string | null} before
   * @param {string | null} now
   */
  attributeChangedCallback(name, before, now) {
    if (before === now || !this.isConnected) return;
    if (/^(format|unit|decimals)$/.test(name)) {
      this.#readFormat();
    } else if (/^(board|server|token-url)$/.test(name)) {
      this.#changeSource();
    } else {
      if (name === 'top') this.#rowsBefore = 0;
      if (name === 'me') {
        this.#own = null;
        this.#announcer.resetOwn();
        this.#endShow();
      }
      this.#watch();
    }
  }

  // The data belong to the board of before, or to another viewer.
  #changeSource() {
    this.#snapshot = this.#own = null;
    this.#hasFirstRows = false;
    this.#lastResult = '';
    this.#rowsBefore = 0;
    this.#announcer.reset();
    this.#endShow();
    this.#watch();
  }

  /** Hides what belongs to another board, or a result that marks another member. */
  #endShow() {
    this.#moments.reset();
    this.#endResult?.();
    this.#finish.hide();
  }

  /**
   * @param {string} name
   * @param {number} min
   * @param {number} max
   * @param {number} fallback
   */
  #number(name, min, max, fallback) {
    const n = parseInt(this.getAttribute(name) ?? '', 10);
    return Number.isNaN(n) ? fallback : Math.min(Math.max(n, min), max);
  }

  get #me() {
    return this.getAttribute('me') ?? '';
  }

  #watch() {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#rendered = this.#renderedRank = null;
    const board = this.getAttribute('board');
    this.#state = 'connecting';
    this.#detail = {};
    try {
      const tokenURL = this.getAttribute('token-url');
      const token = this.#token ?? (tokenURL ? tokenFrom(tokenURL) : undefined);
      this.#connection = connect(this.getAttribute('server') ?? undefined, { token });
    } catch (error) {
      this.#connection = null;
      this.#stop('cannot_connect', String(error));
    }
    if (board === null) this.#stop('no_board', words.no_board);
    if (board && this.#connection) {
      const wish = { top: this.#number('top', 1, 1_000, 10), me: this.#me, around: this.#number('around', 1, 20, 1), info: true };
      this.#unsubscribe = this.#connection.subscribe(board, wish, {
        onTop: (snapshot) => {
          const before = this.#snapshot;
          // With another epoch it is the list of another store.
          if (before && (before.period !== snapshot.period || (before.epoch && before.epoch !== snapshot.epoch))) this.#onRollover(before, snapshot);
          this.#snapshot = snapshot;
          this.#onPeriod(before, snapshot);
          this.#hasFirstRows = false;
          this.#renderSoon();
        },
        onMe: (me) => {
          this.#own = this.#complete(me);
          if (this.#snapshot && this.hasAttribute('data-finish')) this.#showResult(this.#snapshot, me);
          this.#renderSoon();
        },
        onState: (state, detail) => {
          this.#state = state;
          this.#detail = detail;
          this.#renderSoon();
        },
      });
    }
    this.#renderSoon();
  }

  /**
   * @param {string} code
   * @param {string} message
   */
  #stop(code, message) {
    this.#state = 'stopped';
    this.#detail = { problem: new RankcastError({ code, message }) };
  }

  #readFormat() {
    const display = { format: this.getAttribute('format') ?? undefined, decimals: this.#number('decimals', 0, 15, 0) };
    this.#formats = formatsOf({ ...display, unit: this.getAttribute('unit') ?? undefined });
    this.#renderSoon();
  }

  /**
   * @param {Me} me
   * @returns {Me} with the last known values for those that the server sends later, so that nothing flickers
   */
  #complete(me) {
    const before = me.rank === null ? null : this.#own;
    const gap = me.to_next === undefined && me.score === before?.score ? before?.to_next : me.to_next;
    return { ...me, to_next: gap, around: me.around ?? before?.around };
  }

  /**
   * @param {Snapshot} before of the period that is over, or of another store
   * @param {Snapshot} now
   */
  #onRollover({ period, final, top }, now) {
    this.#own = this.#rendered = this.#renderedRank = null;
    this.#lastResult = '';
    this.#moments.reset();
    this.#rowsBefore = top.length;
    const [first] = top;
    if (!period || !now.period || period === now.period) return;
    if (final) this.#lastResult = first ? phrase('was_first', { period, ...this.#textValues(first) }) : phrase('is_over', { period });
    this.#announcer.rollover(`${this.#lastResult} ${phrase(now.final ? 'shown' : 'begins', { period: now.period })}`.trim());
  }

  /**
   * Shows the result of a period that has just ended, also to a viewer who comes some seconds later.
   *
   * @param {Snapshot | null} before the list of before
   * @param {Snapshot} now
   */
  #onPeriod(before, now) {
    const { board, period, final, info } = now;
    const same = before?.period === period;
    if (same && final && !before?.final) this.#showResult(now);
    // A list that was final before the rollover has been shown.
    if (final || before?.final || (same && !this.#hasFirstRows) || !period || board.includes('@')) return;
    if (!(this.#holdLeft(info?.period?.opens ?? before?.ends) > 0)) return;
    this.#endResult?.();
    /** @type {Snapshot} */
    let result;
    /** @param {Me} [own] */
    const show = (own) => {
      this.#showResult(result, own);
      // The name of the followed member comes with its neighbours, which may come after its rank.
      if (result.final && (own?.around || !this.#me)) this.#endResult?.();
    };
    this.#endResult = this.#connection?.subscribe(`${board}@-1`, { top: 3, me: this.#me, around: 1, info: true }, {
      onTop: (snapshot) => {
        result = snapshot;
        show();
      },
      onMe: show,
    });
  }

  /**
   * @param {string | null | undefined} ends of a period
   * @returns {number} ms; NaN if it does not end
   */
  #timeLeft(ends) {
    return Date.parse(ends ?? '') - (this.#connection?.now() ?? Date.now());
  }

  /**
   * @param {string | null | undefined} ends of a period
   * @returns {number} how long its result stays from now on, ms; NaN if it does not end
   */
  #holdLeft(ends) {
    return this.#timeLeft(ends) + this.#number('hold', 0, 60, HOLD_S) * 1_000;
  }

  /**
   * @param {Snapshot} result
   * @param {Me | null} own it follows the result
   */
  #showResult(result, own = null) {
    const { period, ends, final, top, info } = result;
    const left = this.#holdLeft(ends);
    if (!final || !ends || !(left > 0) || !top.length) return;
    const time = datesIn(info?.period?.timezone).format(new Date(ends));
    setAttribute(this, 'data-finish', '');
    const { items } = itemsOf(result, own, this.#me, false, this.#formats.gap);
    this.#finish.show(phrase('result', { time }), items, this.#formats, this.#list.template, left);
    if (!own) this.#dispatch('finish', { period, ends, top });
  }

  /** @param {string} member */
  #pick(member) {
    const item = this.#list.rows.get(member)?.item;
    this.#dispatch('pick', { member, entry: item?.score == null ? null : item });
  }

  /**
   * @param {Entry} entry
   * @returns {{ name: string, score: string }} the values for a text about it
   */
  #textValues({ name, member, score }) {
    return { name: name || member, score: this.#formats.exact(score) };
  }

  // At most one render per animation frame, and per `pace` ms. A change of state does not wait for `pace`.
  #renderSoon() {
    if (this.#renderRequest || !this.isConnected) return;
    this.#renderRequest = requestAnimationFrame(() => {
      this.#renderRequest = 0;
      clearTimeout(this.#paceTimer);
      const wait = this.#renderedAt + this.#number('pace', 0, 60_000, 0) - performance.now();
      if (wait > 0 && this.#rendered && this.dataset.state === this.#state) {
        this.#paceTimer = setTimeout(() => this.#renderSoon(), wait);
      } else {
        this.#renderedAt = performance.now();
        this.#render();
      }
    });
  }

  #render() {
    const template = this.querySelector('template[slot=row]');
    if (template instanceof HTMLTemplateElement) this.#list.use(template.content);
    else if (this.hasAttribute('pickable')) this.#list.use(pickTemplate);
    const snapshot = this.#snapshot;
    const before = this.#rendered;
    const top = snapshot?.top ?? [];
    const { items, own } = itemsOf(snapshot, this.#own, this.#me, this.#number('around', 0, 20, 0) > 0, this.#formats.gap);
    // The first list of a board does not glide in.
    const moves = this.#list.rows.size > 0 && !reducedMotion.matches && !this.hasAttribute('calm');
    setProperty(this.#list.element, '--_rank', String(items.at(-1)?.rank ?? top.at(-1)?.rank ?? '').length || 1);
    // The followed member can leave a list that does not hold all members.
    const below = this.#me && (!own || own.below || top.length !== snapshot?.total) ? 1 : 0;
    setProperty(this.#list.element, '--_rows', Math.max(top.length, this.#rowsBefore) + below);
    setProperty(this.#list.element, '--_below', below);
    // Colors of gains.
    setAttribute(this.#list.element, 'data-asc', snapshot?.info?.order && '');
    this.#list.render(items, this.#formats, { moves, marks: before !== null });
    this.#renderHeader();
    this.#dispatch('update', { snapshot, me: this.#own, state: this.#state });
    if (this.#state !== 'live' || !snapshot) return;
    const leader = top[0] && { member: top[0].member, ...this.#textValues(top[0]) };
    // The rank of a member that leaves the list is not known for a moment.
    const known = own && (own.rank !== null || own.score === null) ? own : null;
    this.#announcer.update(leader ?? null, known && { name: known.name || known.member, rank: known.rank, score: known.score });
    this.#rendered = snapshot;
    if (before) {
      this.#dispatchChanges(before.top, top, known);
      this.#moments.update(before.top, top, this.#formats.gap);
    }
    if (known) this.#renderedRank = known.rank;
  }

  /**
   * @param {readonly Entry[]} before
   * @param {readonly Entry[]} top
   * @param {Item | null} own
   */
  #dispatchChanges(before, top, own) {
    const listed = new Set(before.map(({ member }) => member));
    for (const entry of top) if (!listed.has(entry.member)) this.#dispatch('enter-top', { entry });
    if (top[0] && before[0] && top[0].member !== before[0].member) {
      this.#dispatch('new-leader', { entry: top[0], before: before[0] });
      this.#list.celebrate(top[0].member);
    }
    const from = this.#renderedRank;
    if (!own || own.rank === null || from === null || own.rank === from) return;
    const { member, rank } = own;
    if (rank < from) this.#dispatch('rank-up', { member, rank, before: from });
    else this.#dispatch('overtaken', { member, rank, before: from, by: this.#above(rank) });
  }

  /**
   * @param {string} type
   * @param {object} detail
   */
  #dispatch(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
  }

  /**
   * @param {number} rank
   * @returns {Entry | null} the member just above; null: not known, because neighbours may be older than the rank
   */
  #above(rank) {
    const top = this.#snapshot?.top;
    const list = [top, this.#own?.around].find((list) => list?.some((entry) => entry.member === this.#me && entry.rank === rank));
    const above = (list ?? top)?.findLast((entry) => entry.rank < rank);
    return above && (list || above.rank === rank - 1) ? above : null;
  }

  #renderHeader() {
    const state = this.#state;
    const snapshot = this.#snapshot;
    const { asOf } = this.#detail;
    setAttribute(this, 'data-state', state);
    setAttribute(this, 'data-final', snapshot?.final === true && '');
    setText(this.#stateText, state === 'live' && snapshot?.final ? words.final : asOf ? phrase('stale_since', { time: times.format(new Date(asOf)) }) : words[state]);
    setText(this.#total, snapshot ? memberCount(snapshot.total) : '');
    setText(this.#name, snapshot?.period ?? '');
    this.#renderEnds();
    setText(this.#note, this.#noteText());
    setAttribute(this.#list.element, 'aria-label', phrase('top', { n: this.#number('top', 1, 1_000, 10), board: this.getAttribute('board') ?? '' }));
  }

  // The countdown renders itself at most once a second, and only in a visible tab.
  #renderEnds() {
    clearTimeout(this.#countdownTimer);
    const { ends, final, period } = this.#snapshot ?? {};
    this.#period.hidden = !ends && !period;
    const left = this.#timeLeft(ends);
    this.#finish.count(final ? NaN : left);
    if (!ends) {
      setText(this.#ends, '');
      return;
    }
    const time = dates.format(new Date(ends));
    const { text, changesIn } = timeLeft(left);
    setText(this.#ends, final ? phrase('ended', { time }) : text ? phrase('ends', { left: text }) : words.ends_now);
    this.#ends.title = time;
    if (!final && changesIn < Infinity && !document.hidden) this.#countdownTimer = setTimeout(() => this.#renderEnds(), changesIn);
  }

  #noteText() {
    const { problem } = this.#detail;
    if (problem) {
      const word = /** @type {{ [word: string]: string }} */ (words)[problem.code];
      return word ? fill(word, { board: this.getAttribute('board') ?? '' }) : problem.message;
    }
    if (!this.#snapshot) return this.#state === 'away' ? words.unreachable : '';
    if (this.#snapshot.top.length > 0) return '';
    return this.#snapshot.final ? words.no_scores : `${this.#lastResult} ${words.no_scores_yet}`.trim();
  }
}

customElements.get('live-leaderboard') ?? customElements.define('live-leaderboard', LiveLeaderboard);
