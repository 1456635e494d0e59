// @ts-check

/**
 * The kit: boards of a Rankcast server on any page. rankcast.d.ts tells what it offers, and the
 * attributes, parts, properties and events of `<live-leaderboard>`, which is here.
 *
 * @import {Connection, Entry, Me, Snapshot, State, StateDetail} from './rankcast.js'
 * @import {Item} from './rows.js'
 */

import { Announcer } from './announcer.js';
import { connect } from './connection.js';
import { dates, members, numbers, say, scoreFormat, timeLeft, timeOf, words } from './format.js';
import { part, RowList, setAttribute, setProperty, setText } from './rows.js';
import { sheet } from './style.js';

export { connect, subscribe } from './connection.js';
export { scoreFormat, timeLeft, words } from './format.js';

const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');

export class LiveLeaderboard extends HTMLElement {
  static observedAttributes = ['board', 'top', 'me', 'around', 'server', 'format', 'unit', 'decimals'];

  #state = part('span', 'state');
  #total = part('span', 'total');
  #name = part('span', 'period-name');
  #ends = part('span', 'ends');
  #period = part('div', 'period', this.#name, ' ', this.#ends);
  #list = new RowList();
  #note = part('p', 'note');
  #announcer = new Announcer();

  /** @type {Snapshot | null} */
  #snapshot = null;
  /** @type {Me | null} */
  #own = null;
  /** @type {State} */
  #connection = 'connecting';
  /** @type {StateDetail} */
  #detail = {};
  /** How the period before ended, until the next has scores. */
  #result = '';
  /** The list as it was rendered last; null: nothing to compare with. @type {Snapshot | null} */
  #rendered = null;
  /** @type {number | null} */
  #renderedRank = null;
  #format = scoreFormat({});
  /** @type {Connection | null} */
  #live = null;
  /** @type {(() => void) | null} */
  #unsubscribe = null;
  #frame = 0;
  #renderedAt = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #ticker;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #pacer;
  /** Ends the element's listeners outside of it. */
  #left = new AbortController();

  constructor() {
    super();
    // A timer is read out when asked for, not each time that it changes.
    this.#ends.setAttribute('role', 'timer');
    const connection = part('span', 'connection', part('span', 'dot'), this.#state);
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    root.append(part('div', 'header', this.#period, connection, this.#total), this.#list.element, this.#note, this.#announcer.element);
  }

  connectedCallback() {
    this.#left = new AbortController();
    document.addEventListener('visibilitychange', () => this.#renderEnds(), { signal: this.#left.signal });
    this.#readFormat();
    this.#watch();
  }

  disconnectedCallback() {
    this.#unsubscribe?.();
    this.#left.abort();
    clearTimeout(this.#ticker);
    clearTimeout(this.#pacer);
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
    if (name === 'format' || name === 'unit' || name === 'decimals') {
      this.#readFormat();
      return;
    }
    // What is shown belongs to the board that was named before.
    if (name === 'board' || name === 'server') {
      this.#snapshot = this.#own = null;
      this.#result = '';
      this.#announcer.forget();
    }
    if (name === 'me') {
      this.#own = null;
      this.#announcer.forgetOwn();
    }
    this.#watch();
  }

  /**
   * @param {string} name
   * @param {number} least
   * @param {number} most
   * @param {number} otherwise
   */
  #number(name, least, most, otherwise) {
    const n = parseInt(this.getAttribute(name) ?? '', 10);
    return Number.isNaN(n) ? otherwise : Math.min(Math.max(n, least), most);
  }

  get #me() {
    return this.getAttribute('me') ?? '';
  }

  #watch() {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#rendered = this.#renderedRank = null;
    const board = this.getAttribute('board');
    this.#connection = 'connecting';
    this.#detail = {};
    try {
      this.#live = connect(this.getAttribute('server') ?? undefined);
    } catch (error) {
      this.#live = null;
      this.#connection = 'stopped';
      this.#detail = { problem: { code: 'cannot_connect', message: String(error) } };
    }
    if (board && this.#live) {
      const wish = { top: this.#number('top', 1, 1_000, 10), me: this.#me, around: this.#number('around', 1, 20, 1) };
      this.#unsubscribe = this.#live.subscribe(board, wish, {
        onTop: (snapshot) => {
          const before = this.#snapshot;
          if (before && before.period !== snapshot.period) this.#turn(before, snapshot);
          this.#snapshot = snapshot;
          this.#renderSoon();
        },
        onMe: (me) => {
          this.#own = this.#completed(me);
          this.#renderSoon();
        },
        onState: (state, detail) => {
          this.#connection = state;
          this.#detail = detail;
          this.#renderSoon();
        },
      });
    }
    this.#renderSoon();
  }

  #readFormat() {
    this.#format = scoreFormat({
      format: this.getAttribute('format') ?? undefined,
      unit: this.getAttribute('unit') ?? undefined,
      decimals: this.#number('decimals', 0, 15, 0),
    });
    this.#renderSoon();
  }

  /**
   * What is not known at this moment is as it was, and follows: nothing comes and goes with each change.
   *
   * @param {Me} me
   * @returns {Me}
   */
  #completed(me) {
    const before = me.rank === null ? null : this.#own;
    const gap = me.to_next === undefined && me.score === before?.score ? before?.to_next : me.to_next;
    return { ...me, to_next: gap, around: me.around ?? before?.around };
  }

  /**
   * @param {Snapshot} before
   * @param {Snapshot} now
   */
  #turn({ period, final, top: [first] }, now) {
    this.#own = this.#rendered = this.#renderedRank = null;
    this.#result = '';
    if (!period || !now.period) return;
    if (final) this.#result = first ? say('was_first', { period, ...this.#of(first) }) : say('is_over', { period });
    this.#announcer.turn(`${this.#result} ${say(now.final ? 'shown' : 'begins', { period: now.period })}`.trim());
  }

  /** @param {Entry} entry */
  #of({ name, member, score }) {
    return { name: name || member, score: this.#format(score) };
  }

  // At most one render in a frame, and in `pace` milliseconds; the connection's state waits for no pace.
  #renderSoon() {
    if (this.#frame || !this.isConnected) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      clearTimeout(this.#pacer);
      const wait = this.#renderedAt + this.#number('pace', 0, 60_000, 0) - performance.now();
      if (wait > 0 && this.#rendered && this.dataset.state === this.#connection) {
        this.#pacer = setTimeout(() => this.#renderSoon(), wait);
      } else {
        this.#renderedAt = performance.now();
        this.#render();
      }
    });
  }

  #render() {
    const template = this.querySelector('template[slot=row]');
    if (template instanceof HTMLTemplateElement) this.#list.use(template.content);
    const snapshot = this.#snapshot;
    const before = this.#rendered;
    const top = snapshot?.top ?? [];
    const { items, own } = this.#items(top);
    // Before the first list of a board nothing has been seen to move.
    const moves = this.#list.rows.size > 0 && !lessMotion.matches;
    for (const field of /** @type {const} */ (['rank', 'score'])) {
      const digits = items.map((item) => String(item[field] ?? '').length);
      setProperty(this.#list.element, `--_${field}`, Math.max(1, ...digits));
    }
    setProperty(this.#list.element, '--_rows', top.length + (this.#me ? 1 : 0));
    setProperty(this.#list.element, '--_below', this.#me ? 1 : 0);
    this.#list.write(items, this.#format, moves);
    this.#renderHeader();
    this.#dispatch('update', { snapshot, me: this.#own, state: this.#connection });
    if (this.#connection !== 'live' || !snapshot) return;
    const leader = top[0] && { member: top[0].member, ...this.#of(top[0]) };
    // Its rank is not known on the way out of the list.
    const known = own && (own.rank !== null || own.score === null) ? own : null;
    this.#announcer.hear(leader ?? null, known && { name: known.name || known.member, rank: known.rank, score: known.score });
    this.#rendered = snapshot;
    if (before) this.#tell(before.top, top, known);
    if (known) this.#renderedRank = known.rank;
  }

  /**
   * @param {readonly Entry[]} before
   * @param {readonly Entry[]} top
   * @param {Item | null} own
   */
  #tell(before, top, own) {
    const listed = new Set(before.map(({ member }) => member));
    for (const entry of top) if (!listed.has(entry.member)) this.#dispatch('enter-top', { entry });
    if (top[0] && before[0] && top[0].member !== before[0].member) this.#dispatch('new-leader', { entry: top[0], before: before[0] });
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
   * @returns {Entry | null} who is just above, where that is known: neighbours may be older than the rank
   */
  #above(rank) {
    const top = this.#snapshot?.top;
    const list = [top, this.#own?.around].find((list) => list?.some((entry) => entry.member === this.#me && entry.rank === rank));
    const above = (list ?? top)?.findLast((entry) => entry.rank < rank);
    return above && (list || above.rank === rank - 1) ? above : null;
  }

  /**
   * The list, and below it the followed member, where it is not in the list, with
   * its neighbours where the page asks for more than one.
   *
   * @param {readonly Entry[]} top
   * @returns {{ items: Item[], own: Item | null }}
   */
  #items(top) {
    const me = this.#me;
    const own = this.#own;
    const place = top.findIndex(({ member }) => member === me);
    if (place >= 0) {
      const gap = place > 0 ? this.#gap(Math.abs(top[place - 1].score - top[place].score)) : '';
      const item = { ...top[place], me: true, gap };
      return { items: top.map((entry, i) => (i === place ? item : entry)), own: item };
    }
    if (!me || !own) return { items: [...top], own: null };
    const around = this.#number('around', 0, 20, 0) ? (own.around ?? []) : [];
    const known = own.around?.find(({ member }) => member === me);
    // The list and the own place come on their own ways: a newer list without the
    // member shows that a rank within it is over. (Equals may share the last rank.)
    const last = top.at(-1);
    const over = own.rank !== null && last && own.seq < (this.#snapshot?.seq ?? 0) && (own.rank < last.rank || (own.rank === last.rank && own.score !== last.score));
    /** @type {Item} */
    const item = {
      ...known,
      member: me,
      rank: over ? null : own.rank,
      score: own.score,
      me: true,
      below: true,
      gap: own.rank === null ? words.no_score : over ? '' : this.#gap(own.to_next),
    };
    const listed = new Set(top.map(({ member }) => member));
    const below = over || !around.length ? [item] : around.filter(({ member }) => !listed.has(member)).map((entry) => (entry.member === me ? item : { ...entry, below: true }));
    // The own place may be newer than the neighbours.
    below.sort((a, b) => Number(a.rank) - Number(b.rank));
    return { items: [...top, ...below], own: item };
  }

  /** @param {number | null | undefined} toNext */
  #gap(toNext) {
    if (toNext === null || toNext === undefined) return '';
    return toNext === 0 ? words.level : say('to_next', { score: this.#format(toNext) });
  }

  #renderHeader() {
    const connection = this.#connection;
    const snapshot = this.#snapshot;
    const { asOf } = this.#detail;
    setAttribute(this, 'data-state', connection);
    setAttribute(this, 'data-final', snapshot?.final === true && '');
    setText(this.#state, connection === 'live' && snapshot?.final ? words.final : asOf ? say('stale_since', { time: timeOf(asOf) }) : words[connection]);
    setText(this.#total, snapshot ? members(snapshot.total) : '');
    setText(this.#name, snapshot?.period ?? '');
    this.#renderEnds();
    setText(this.#note, this.#noteText());
    setAttribute(this.#list.element, 'aria-label', say('top', { n: this.#number('top', 1, 1_000, 10), board: this.getAttribute('board') ?? '' }));
  }

  // By itself once a second at most, and never where nobody looks.
  #renderEnds() {
    clearTimeout(this.#ticker);
    const { ends, final, period } = this.#snapshot ?? {};
    this.#period.hidden = !ends && !period;
    if (!ends) {
      setText(this.#ends, '');
      return;
    }
    const time = dates.format(new Date(ends));
    const { text, changesIn } = timeLeft(Date.parse(ends) - (this.#live?.now() ?? Date.now()));
    setText(this.#ends, final ? say('ended', { time }) : text ? say('ends', { left: text }) : words.ends_now);
    this.#ends.title = time;
    if (!final && changesIn < Infinity && document.visibilityState === 'visible') this.#ticker = setTimeout(() => this.#renderEnds(), changesIn);
  }

  #noteText() {
    const { problem } = this.#detail;
    if (problem) return /** @type {{ [word: string]: string }} */ (words)[problem.code] ?? problem.message;
    if (!this.#snapshot) return this.#connection === 'away' ? words.unreachable : '';
    if (this.#snapshot.top.length > 0) return '';
    return this.#snapshot.final ? words.no_scores : `${this.#result} ${words.no_scores_yet}`.trim();
  }
}

customElements.get('live-leaderboard') ?? customElements.define('live-leaderboard', LiveLeaderboard);
