// @ts-check

/**
 * What stands beside a board on its page: the periods to go back to, how the leader and the
 * followed member have done since the page was opened, and how good the connection is.
 */

import { dates } from '../../kit/format.js';
import { setAttribute, setText } from '../../kit/rows.js';
import { connect } from '../../kit/rankcast.js';
import { inPath, make, Poll, read, RefusedError, replaceItems } from '../shared/page.js';
import { History, Sparkline } from './sparkline.js';
import { text } from '../shared/texts.js';

/**
 * @typedef {import('../../kit/rankcast.js').Update} Update
 * @typedef {(score: number) => string} Format
 */

const PING_MS = 5_000;
/** Periods change when one ends: the board tells that at once, but not while an older one is shown. */
const PERIODS_MS = 60_000;
/** The lines are drawn anew so often, and when a score changes. */
const DRAW_MS = 1_000;

/** How a score has gone: of one member, or of whoever leads. */
class Course {
  element = make('div', 'course');
  #name = make('span', 'course-name');
  #change = make('span', 'course-change');
  #history = new History();
  #sparkline = new Sparkline();
  #member = '';
  /** The score with which this member was seen first: another may have had the line before. */
  #from = 0;

  /** @param {string} label */
  constructor(label) {
    this.element.append(make('p', 'course-head', make('span', 'course-label', label), ' ', this.#name, ' ', this.#change), this.#sparkline.element);
    this.element.hidden = true;
  }

  forget() {
    this.#member = '';
    this.#history = new History();
    this.element.hidden = true;
  }

  /**
   * @param {string} member
   * @param {string} name
   * @param {number} score
   * @param {Format} format
   */
  hear(member, name, score, format) {
    if (member !== this.#member) {
      this.#member = member;
      this.#from = score;
    }
    this.#history.add(performance.now(), score);
    setText(this.#name, name);
    const change = score - this.#from;
    setText(this.#change, change === 0 ? '' : `${change > 0 ? '+' : '−'}${format(Math.abs(change))}`);
    this.element.hidden = false;
  }

  draw() {
    this.#sparkline.write(this.#history.points, performance.now());
  }
}

export class BoardPage {
  #periods;
  #lag;
  #address;
  #board = '';
  #me = '';
  #period = '';
  #leader = new Course(text('leader'));
  #own = new Course(text('you_follow'));
  #poll = new Poll(PERIODS_MS, (signal) => this.#loadPeriods(signal));
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  #pingAt = -Infinity;

  /**
   * @param {HTMLElement} periods the list of links to them
   * @param {HTMLElement} courses
   * @param {HTMLElement} lag
   * @param {(board: string) => string} address of a board's page
   */
  constructor(periods, courses, lag, address) {
    this.#periods = periods;
    this.#lag = lag;
    this.#address = address;
    courses.append(this.#leader.element, this.#own.element);
  }

  /**
   * @param {string} board '': none
   * @param {string} me
   */
  show(board, me) {
    const sameBoard = board === this.#board;
    if (!sameBoard) {
      this.#period = '';
      this.#leader.forget();
    }
    if (!sameBoard || me !== this.#me) this.#own.forget();
    const before = this.#board.split('@')[0];
    this.#board = board;
    this.#me = me;
    clearInterval(this.#timer);
    if (board) this.#timer = setInterval(() => this.#tick(), DRAW_MS);
    if (board.split('@')[0] !== before) {
      this.#periods.replaceChildren();
      this.#periods.hidden = true;
    }
    // What else is chosen goes along to another period.
    for (const link of this.#periods.querySelectorAll('a')) link.href = this.#address(link.dataset.board ?? '');
    if (!board) this.#poll.stop();
    else if (!sameBoard) this.#poll.start();
  }

  /**
   * @param {Update} update of the element
   * @param {Format} format
   */
  hear({ snapshot, me, state }, format) {
    if (state !== 'live') {
      this.#pingAt = -Infinity;
      setText(this.#lag, '');
    }
    if (!snapshot) return;
    if (this.#period && snapshot.period !== this.#period) {
      this.#leader.forget();
      this.#own.forget();
      this.#poll.start();
    }
    if (this.#period !== snapshot.period) {
      this.#period = snapshot.period;
      this.#mark();
    }
    const [leader] = snapshot.top;
    if (leader) this.#leader.hear(leader.member, leader.name || leader.member, leader.score, format);
    const own = snapshot.top.find(({ member }) => member === this.#me) ?? me?.around?.find(({ member }) => member === this.#me);
    const score = own?.score ?? me?.score;
    if (this.#me && score !== undefined && score !== null) this.#own.hear(this.#me, own?.name || this.#me, score, format);
    this.#draw();
  }

  #tick() {
    if (document.visibilityState === 'hidden') return;
    this.#draw();
    const now = performance.now();
    if (now - this.#pingAt < PING_MS) return;
    this.#pingAt = now;
    connect().ping().then((ms) => setText(this.#lag, ms === null ? '' : text('lag', { n: Math.max(1, Math.round(ms)) })));
  }

  #draw() {
    this.#leader.draw();
    this.#own.draw();
  }

  /** @param {AbortSignal} signal */
  async #loadPeriods(signal) {
    const [name] = this.#board.split('@');
    try {
      /** @type {{ periods: { period: string, opens: string }[] }} */
      const { periods } = await read(`v1/boards/${inPath(name)}/periods`, signal);
      const links = periods.filter(({ period }) => period).map(({ period, opens }, i) => this.#newLink(i === 0 ? name : `${name}@${period}`, period, opens));
      this.#periods.hidden = links.length === 0;
      replaceItems(this.#periods, links);
      this.#mark();
    } catch (error) {
      // A board that is none has no periods.
      if (!(error instanceof RefusedError && error.status < 500)) throw error;
    }
  }

  /**
   * @param {string} board
   * @param {string} period
   * @param {string} opens
   */
  #newLink(board, period, opens) {
    // A number tells nobody when that was; a year does.
    const link = make('a', '', /^\d+$/.test(period) && !opens.startsWith(`${period}-`) ? `${period} · ${dates.format(new Date(opens))}` : period);
    link.href = this.#address(board);
    link.dataset.board = board;
    link.dataset.period = period;
    setAttribute(link, 'aria-current', period === this.#period && 'page');
    return make('li', '', link);
  }

  /** Marks the period that is shown. */
  #mark() {
    for (const link of this.#periods.querySelectorAll('a')) setAttribute(link, 'aria-current', link.dataset.period === this.#period && 'page');
  }
}
