// @ts-check

/**
 * The kit, which a page imports to show boards of a Rankcast server. This module exports the
 * kit's functions and holds the element `<live-leaderboard>`. rankcast.d.ts describes them, with
 * the attributes, parts, properties and events of the element. What not every board needs is in
 * on-demand.js, columns.js and goal.js.
 *
 * @import {Goal} from './goal.js'
 * @import {Connection, Display, Entry, Me, Snapshot, State, StateDetail, TokenFunction} from './rankcast.js'
 * @import {Item} from './row.js'
 * @import {Show} from './show.js'
 */

import { connect } from './connection.js';
import { part, setAttribute, setProperty, setText } from './dom.js';
import { dates, fill, frozenText, memberCount, phrase, plainDates, textIn, timeLeft, times, words } from './format.js';
import { itemsOf } from './items.js';
import { loadColumns, loadGoal, loadOnDemand, RELOAD_MS } from './load.js';
import { periodText } from './period.js';
import { formatsOf, pickTemplate } from './row.js';
import { RowList } from './rows.js';
import { RankcastError } from './socket.js';
import sheet from './style.css' with { type: 'css' };
import { tokenFrom } from './token-url.js';

export { connect, subscribe } from './connection.js';
export { scoreFormat, textIn, timeLeft, words } from './format.js';
// For the server's own pages. rankcast.d.ts does not describe these, and they may change.
export { newID, RETRY_MS } from './connection.js';
export { dates, fill, frozenText, gapText, numbers, phrase, plurals, scorePieces, setLabelLanguage, tagIn, times } from './format.js';
export { setAttribute, setProperty, setText } from './dom.js';
export { periodText } from './period.js';
export { hueOf, initialOf, setAvatar } from './portrait.js';
export { backoff, Socket } from './socket.js';

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
/** How long a result stays after the end of a period, s. */
const HOLD_S = 15;
/** What happens at the end of a period is loaded at a random time of the last minute, so that not all pages ask at once. */
const [NEAR_MS, LEAST_NEAR_MS] = [60_000, 20_000];

export class LiveLeaderboard extends HTMLElement {
  static observedAttributes = ['board', 'top', 'me', 'around', 'server', 'token-url', 'format', 'unit', 'decimals', 'heading', 'goal'];

  #title = part('p', 'title');
  #stateText = part('span', 'state');
  #total = part('span', 'total');
  #name = part('span', 'period-name');
  #ends = part('span', 'ends');
  #period = part('div', 'period', this.#name, ' ', this.#ends);
  #list = new RowList();
  #note = part('p', 'note');
  #goalPart = part('div', 'goal');
  /** Fills in that part, once it is loaded. @type {Goal | null} */
  #goal = null;
  /** What happens on the board, once it is loaded. @type {Show | null} */
  #show = null;
  /** The end of a period is near if it is at most so far away, ms. */
  #near = LEAST_NEAR_MS + Math.random() * (NEAR_MS - LEAST_NEAR_MS);

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
  /** The followed member as last rendered with its rank. @type {Item | null} */
  #renderedOwn = null;
  /** Its neighbours then. @type {readonly Entry[] | undefined} */
  #renderedAround;
  /** The list is that of the page, and no frame has come yet. */
  #hasFirstRows = false;
  /** How the board says that its scores look. @type {Display} */
  #display = {};
  #formats = formatsOf({});
  /** The columns of the formats, as JSON; '': none. */
  #columns = '';
  /** Shows the first rows until those of the element are there. */
  #first = document.createElement('slot');
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
  /** The rows that the list had when the last period ended. */
  #rowsBefore = 0;
  /** Removes the element's listeners on the page. */
  #pageListeners = new AbortController();

  constructor() {
    super();
    // Screen readers read a timer only on request, not at each change.
    this.#ends.role = 'timer';
    const announcer = part('p', 'announcer');
    announcer.role = 'status';
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    this.#first.name = 'first';
    root.append(
      part('div', 'header', this.#title, this.#period, part('span', 'connection', part('span', 'dot'), this.#stateText), this.#total),
      part('p', 'moment'),
      this.#goalPart,
      part('div', 'stage', this.#list.element, this.#note, part('div', 'finish')),
      part('div', 'countdown'),
      announcer,
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
    this.shadowRoot?.prepend(this.#first);
    /** @type {Snapshot | null} */
    const list = JSON.parse(snapshot);
    if (list?.board !== this.getAttribute('board')) return this.#dropFirstRows();
    this.#snapshot = list;
    this.#own = JSON.parse(me);
    this.#hasFirstRows = true;
  }

  #dropFirstRows() {
    this.#first.remove();
    for (const part of this.querySelectorAll('[slot=first]')) part.remove();
  }

  disconnectedCallback() {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#pageListeners.abort();
    clearTimeout(this.#countdownTimer);
    clearTimeout(this.#paceTimer);
    this.#show?.pause();
    cancelAnimationFrame(this.#renderRequest);
    this.#renderRequest = 0;
  }

  /**
   * @param {string} name
   * @param {string | null} before
   * @param {string | null} now
   */
  attributeChangedCallback(name, before, now) {
    if (before === now || !this.isConnected) return;
    if (/^(format|unit|decimals|heading|goal)$/.test(name)) {
      this.#readFormat();
      this.#renderSoon();
    } else if (/^(board|server|token-url)$/.test(name)) {
      this.#changeSource();
    } else {
      if (name === 'top') this.#rowsBefore = 0;
      if (name === 'me') {
        this.#own = null;
        this.#show?.resetOwn();
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
    this.#show?.reset();
    this.#watch();
  }

  /**
   * Loads what happens on the board, the first time.
   *
   * @param {(show: Show) => void} use not called if the element shows another board once it is loaded
   */
  #withShow(use) {
    if (this.#show) {
      use(this.#show);
      return;
    }
    const watched = this.#unsubscribe;
    loadOnDemand().then(
      ({ Show }) => {
        if (watched !== this.#unsubscribe) return;
        const now = () => ({
          connection: this.#connection,
          formats: this.#formats,
          me: this.#me,
          hold: this.#number('hold', 0, 60, HOLD_S) * 1_000,
        });
        this.#show ??= new Show(this, this.#list, now, (list) => this.#take(list));
        use(this.#show);
        this.#renderEnds();
      },
      () => {}, // the next time may be better
    );
  }

  /**
   * @param {string | null | undefined} time of the end of a period
   * @returns {boolean} whether something may happen for it
   */
  #isNear(time) {
    const left = this.#timeLeft(time);
    return left > -NEAR_MS && left < this.#near;
  }

  /**
   * @param {string} name
   * @param {number} min
   * @param {number} max
   * @param {number} fallback
   */
  #number(name, min, max, fallback) {
    const n = parseInt(this.getAttribute(name) ?? '', 10);
    return isNaN(n) ? fallback : Math.min(Math.max(n, min), max);
  }

  get #me() {
    return this.getAttribute('me') ?? '';
  }

  #watch() {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#rendered = this.#renderedOwn = null;
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
          // What is revealed on a frozen board is shown in steps.
          if (!this.#show?.reveal?.(this.#snapshot, snapshot)) this.#take(snapshot);
        },
        onMe: (me) => {
          this.#own = this.#complete(me);
          if (this.#snapshot && this.hasAttribute('data-finish')) this.#show?.showResult(this.#snapshot, me);
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

  /** @param {Snapshot} snapshot the list from now on */
  #take(snapshot) {
    const before = this.#snapshot;
    // With another epoch it is the list of another store.
    if (before && (before.period !== snapshot.period || (before.epoch && before.epoch !== snapshot.epoch)))
      this.#onRollover(before, snapshot);
    this.#snapshot = snapshot;
    const isFirst = this.#hasFirstRows;
    if (this.#isNear(snapshot.ends) || this.#isNear(snapshot.info?.period?.opens ?? before?.ends))
      this.#withShow((show) => show.onPeriod(before, snapshot, isFirst));
    this.#hasFirstRows = false;
    const { frozen } = snapshot;
    const changed = before && !before.frozen !== !frozen;
    // It is loaded before something is revealed.
    if (frozen) this.#withShow((show) => show.freeze?.(changed ? frozenText(frozen) : ''));
    if (changed) this.#dispatch('freeze', { frozen: frozen ?? null });
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
    if (this.#columns) return;
    const { format, unit, decimals = 0 } = this.#display;
    this.#formats = formatsOf({
      format: this.getAttribute('format') ?? format,
      unit: this.getAttribute('unit') ?? unit,
      decimals: this.#number('decimals', 0, 15, decimals),
    });
  }

  /**
   * @param {Me} me
   * @returns {Me} with the last known values for those that the server sends later, so that nothing flickers
   */
  #complete(me) {
    const before = me.rank === null ? null : this.#own;
    const { to_next, to_next_columns } = me.to_next === undefined && me.score === before?.score ? before : me;
    return { ...me, to_next, to_next_columns, around: me.around ?? before?.around };
  }

  /**
   * @param {Snapshot} before of the period that is over, or of another store
   * @param {Snapshot} now
   */
  #onRollover(before, now) {
    const { period, final, top } = before;
    this.#own = this.#rendered = this.#renderedOwn = null;
    this.#lastResult = '';
    this.#show?.rollover('');
    this.#rowsBefore = top.length;
    const [first] = top;
    if (!period || !now.period || period === now.period) return;
    const values = { period: nameOf(before) };
    if (final) this.#lastResult = first ? phrase('was_first', { ...values, ...this.#textValues(first) }) : phrase('is_over', values);
    const text = `${this.#lastResult} ${phrase(now.final ? 'shown' : 'begins', { period: nameOf(now) })}`.trim();
    this.#withShow((show) => show.rollover(text));
  }

  /**
   * @param {string | null | undefined} ends of a period
   * @returns {number} ms; NaN if it does not end
   */
  #timeLeft(ends) {
    return Date.parse(ends ?? '') - (this.#connection?.now() ?? Date.now());
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
  #textValues(entry) {
    const { name, member, score } = entry;
    return { name: name || member, score: this.#formats.exact(score, entry) };
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

  /** @returns {boolean} whether the scores can be shown: those of columns wait for what shows them */
  #hasFormats() {
    const { columns, display = {} } = this.#snapshot?.info ?? {};
    if (JSON.stringify(display) !== JSON.stringify(this.#display)) {
      this.#display = display;
      this.#readFormat();
    }
    const json = columns ? JSON.stringify(columns) : '';
    if (json === this.#columns) return true;
    const list = this.#list.element;
    if (!columns) {
      this.#columns = '';
      setAttribute(/** @type {Element} */ (list.parentElement), 'data-room', false);
      this.#readFormat();
      return true;
    }
    loadColumns().then(
      ({ showColumns }) => {
        if (json === this.#columns || columns !== this.#snapshot?.info?.columns) return;
        this.#columns = json;
        this.#formats = showColumns(list, columns);
        this.#renderSoon();
      },
      () => setTimeout(() => this.#renderSoon(), RELOAD_MS),
    );
    return false;
  }

  #render() {
    if (!this.#hasFormats()) return this.#renderHeader();
    if (this.#first.isConnected) this.#dropFirstRows();
    const template = this.querySelector('template[slot=row]');
    if (template instanceof HTMLTemplateElement) this.#list.use(template.content);
    else if (this.hasAttribute('pickable')) this.#list.use(pickTemplate);
    const snapshot = this.#snapshot;
    const before = this.#rendered;
    const top = snapshot?.top ?? [];
    const { items, own } = itemsOf(snapshot, this.#own, this.#me, this.#number('around', 0, 20, 0) > 0, this.#formats.toNext);
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
    this.#renderGoal(own);
    this.#dispatch('update', { snapshot, me: this.#own, state: this.#state });
    if (this.#state !== 'live' || !snapshot) return;
    // The rank of a member that leaves the list is not known for a moment.
    const known = own && (own.rank !== null || own.score === null) ? own : null;
    const ownBefore = this.#renderedOwn;
    this.#rendered = snapshot;
    const moved =
      before && (top.some(({ member }, i) => before.top[i]?.member !== member) || (known && ownBefore && known.rank !== ownBefore.rank));
    if (moved || this.#show || this.hasAttribute('moments')) {
      const [aroundBefore, around] = [this.#renderedAround, this.#own?.around];
      const isWhole = top.length === snapshot.total;
      const change = { before: before?.top, top, isWhole, ownBefore, own: known, aroundBefore, around, moved: this.#list.moved };
      this.#withShow((show) => show.update(change));
    }
    if (!known) return;
    this.#renderedOwn = known;
    this.#renderedAround = this.#own?.around;
  }

  /** @param {Item | null} own */
  #renderGoal(own) {
    if (this.#goal) return this.#goal.update({ snapshot: this.#snapshot, own, isLive: this.#state === 'live', formats: this.#formats });
    if (!this.#me || !this.hasAttribute('goal')) return;
    loadGoal().then(
      ({ Goal }) => {
        this.#goal ??= new Goal(this, this.#goalPart);
        this.#renderSoon();
      },
      () => setTimeout(() => this.#renderSoon(), RELOAD_MS),
    );
  }

  /**
   * @param {string} type
   * @param {object} detail
   */
  #dispatch(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
  }

  #renderHeader() {
    const state = this.#state;
    const snapshot = this.#snapshot;
    setAttribute(this, 'data-state', state);
    setAttribute(this, 'data-final', snapshot?.final && '');
    setAttribute(this, 'data-frozen', snapshot?.frozen && '');
    const title = textIn(snapshot?.info?.title);
    setText(this.#title, this.getAttribute('heading') ?? title);
    this.#title.title = this.#title.textContent ?? '';
    setText(this.#stateText, this.#stateWords());
    setText(this.#total, snapshot ? memberCount(snapshot.total) : '');
    setText(this.#name, snapshot ? nameOf(snapshot) : '');
    this.#name.title = snapshot?.period ?? '';
    this.#renderEnds();
    setText(this.#note, this.#noteText());
    setAttribute(
      this.#list.element,
      'aria-label',
      phrase('top', { n: this.#number('top', 1, 1_000, 10), board: title || (this.getAttribute('board') ?? '') }),
    );
  }

  #stateWords() {
    const { final, frozen } = this.#snapshot ?? {};
    const { asOf } = this.#detail;
    if (asOf) return phrase('stale_since', { time: times.format(new Date(asOf)) });
    if (this.#state !== 'live') return words[this.#state];
    return final ? words.final : frozen ? frozenText(frozen) : words.live;
  }

  // The countdown renders itself at most once a second, and only in a visible tab.
  #renderEnds() {
    clearTimeout(this.#countdownTimer);
    const { ends, final, frozen, period } = this.#snapshot ?? {};
    this.#period.hidden = !ends && !period;
    const left = final ? NaN : this.#timeLeft(ends); // NaN: nothing is counted down
    if (this.#isNear(ends)) this.#withShow((show) => show.count(left));
    else this.#show?.count(NaN);
    if (!ends) return setText(this.#ends, '');
    const at = Date.parse(ends);
    const { text, changesIn } = timeLeft(left);
    // A period ends as the next one begins: its last day is that of the moment before.
    const isOver = final || (frozen && !text);
    setText(
      this.#ends,
      isOver ? phrase('ended', { time: plainDates.format(at - 1) }) : text ? phrase('ends', { left: text }) : words.ends_now,
    );
    this.#ends.title = dates.format(at);
    if (changesIn < Infinity && !document.hidden) this.#countdownTimer = setTimeout(() => this.#renderEnds(), changesIn);
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

/**
 * @param {Snapshot} list
 * @returns {string} the name of its period for people; '' on a board without periods
 */
function nameOf({ period, info }) {
  return (info?.period?.name === period && periodText(info.period)) || period;
}

customElements.get('live-leaderboard') ?? customElements.define('live-leaderboard', LiveLeaderboard);
