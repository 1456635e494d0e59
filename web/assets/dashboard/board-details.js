// @ts-check

/**
 * What a board's page shows around the board: links to its periods, the trends of the leader and
 * of the followed member, and the latency of the connection. Of a closed period, which does not
 * change, it shows the result in place of the trends. dashboard.js uses it.
 */

import { fetchJSON, HTTPError } from '../shared/api.js';
import { connectWithToken } from '../shared/connection.js';
import { byId, createElement, replaceItems, setAttribute, setText } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { listedPeriodTitle } from '../shared/period-title.js';
import { Poll } from '../shared/poll.js';
import { text } from '../shared/texts.js';
import { FinalFacts } from './final-facts.js';
import { ScoreTrend } from './score-trend.js';

/** @typedef {import('../../kit/rankcast.js').Update} Update */

const PING_MS = 5_000;
/** The page sees a rollover at once, but not while it shows an earlier period. */
const PERIODS_MS = 60_000;
/** The trends are rendered this often, and after each change. */
const TRENDS_MS = 1_000;

export class BoardDetails {
  #periods = byId('periods', HTMLElement);
  #trends = byId('trends', HTMLElement);
  #title = byId('trends-title', HTMLElement);
  #latency = byId('latency', HTMLElement);
  #isLive = false;
  #final = new FinalFacts();
  #boardURL;
  #definition;
  #board = '';
  #me = '';
  #period = '';
  /** Scores of another epoch do not go on. */
  #epoch = '';
  #leader = new ScoreTrend(text('leader'));
  #own = new ScoreTrend(text('you_follow'));
  #poll = new Poll(PERIODS_MS, (signal) => this.#loadPeriods(signal));
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  #pingAt = -Infinity;

  /**
   * @param {(board: string) => string} boardURL
   * @param {(board: string) => import('./definition-summary.js').Definition | undefined} definition of a board
   */
  constructor(boardURL, definition) {
    this.#boardURL = boardURL;
    this.#definition = definition;
    this.#trends.append(this.#leader.element, this.#own.element, this.#final.element);
  }

  /**
   * @param {string} board '': none
   * @param {string} me the followed member
   */
  show(board, me) {
    const sameBoard = board === this.#board;
    if (!sameBoard) {
      this.#period = this.#epoch = '';
      this.#leader.reset();
    }
    if (!sameBoard || me !== this.#me) this.#own.reset();
    setAttribute(this.#trends, 'data-followed', me !== '' && '');
    const before = this.#board.split('@')[0];
    this.#board = board;
    this.#me = me;
    clearInterval(this.#timer);
    if (board) this.#timer = setInterval(() => this.#tick(), TRENDS_MS);
    // At first, the list has the links that the server rendered.
    if (before && board.split('@')[0] !== before) {
      this.#periods.replaceChildren();
      this.#periods.hidden = true;
    }
    // A link to another period keeps the rest of the URL.
    for (const link of this.#periods.querySelectorAll('a')) link.href = this.#boardURL(link.dataset.board ?? '');
    if (!board) this.#poll.stop();
    else if (!sameBoard) this.#poll.start();
  }

  /**
   * @param {Update} update of the element
   * @param {import('../shared/board-display.js').Formats} formats
   */
  update({ snapshot, me, state }, formats) {
    this.#isLive = state === 'live';
    if (!this.#isLive) {
      this.#pingAt = -Infinity;
      setText(this.#latency, state === 'away' ? text('no_connection') : '');
    }
    if (!snapshot) return;
    setAttribute(this.#trends, 'data-empty', snapshot.total === 0 && this.#leader.element.hidden && '');
    // A board is final for a moment until its next period begins.
    const isClosed = snapshot.final && this.#board.includes('@');
    setText(this.#title, text(isClosed ? 'final_result' : 'since_opened'));
    this.#final.element.hidden = !isClosed;
    if (isClosed) this.#final.render(snapshot, formats);
    if (this.#period && snapshot.period !== this.#period) this.#poll.start();
    if (snapshot.period !== this.#period || snapshot.epoch !== this.#epoch) {
      this.#leader.restart();
      this.#own.restart();
      this.#epoch = snapshot.epoch;
    }
    if (this.#period !== snapshot.period) {
      this.#period = snapshot.period;
      this.#markPeriod();
    }
    if (isClosed) {
      this.#leader.reset();
      this.#own.reset();
      return;
    }
    const [leader] = snapshot.top;
    if (leader) this.#leader.add(leader.member, leader.name || leader.member, leader, snapshot.info, formats);
    // The rank is older than the list, and may be of another epoch.
    const rank = me?.seq === -1 ? null : me;
    const own = snapshot.top.find(({ member }) => member === this.#me) ?? rank?.around?.find(({ member }) => member === this.#me);
    const { score = null, columns } = own ?? rank ?? {};
    if (this.#me && score !== null) this.#own.add(this.#me, own?.name || this.#me, { score, columns }, snapshot.info, formats);
    this.#renderTrends();
  }

  #tick() {
    if (document.visibilityState === 'hidden') return;
    this.#renderTrends();
    const now = performance.now();
    if (!this.#isLive || now - this.#pingAt < PING_MS) return;
    this.#pingAt = now;
    connectWithToken().ping().then((ms) => {
      // The end of the connection answers a ping that is under way too, after the page has said so.
      if (this.#isLive) setText(this.#latency, ms === null ? '' : text('latency', { n: Math.max(1, Math.round(ms)) }));
    });
  }

  #renderTrends() {
    this.#leader.render();
    this.#own.render();
  }

  /** @param {AbortSignal} signal */
  async #loadPeriods(signal) {
    const [name] = this.#board.split('@');
    try {
      /** @type {{ periods: { period: string, opens: string, ends: string }[] }} */
      const { periods } = await fetchJSON(`v1/boards/${encodeSegment(name)}/periods`, signal);
      const { period: every, timezone } = this.#definition(name) ?? {};
      const links = periods
        .filter(({ period }) => period)
        .map(({ period }, i) =>
          this.#newLink(i === 0 ? name : `${name}@${period}`, period, listedPeriodTitle({ every, timezone }, periods, i)),
        );
      this.#periods.hidden = links.length === 0;
      replaceItems(this.#periods, links);
      this.#markPeriod();
    } catch (error) {
      // A board that does not exist has no periods.
      if (!(error instanceof HTTPError && error.status < 500)) throw error;
    }
  }

  /**
   * @param {string} board
   * @param {string} period
   * @param {string} title
   */
  #newLink(board, period, title) {
    const link = createElement('a', '', title);
    link.title = period;
    link.href = this.#boardURL(board);
    link.dataset.board = board;
    link.dataset.period = period;
    setAttribute(link, 'aria-current', period === this.#period && 'page');
    return createElement('li', '', link);
  }

  /** Marks the link to the period shown. */
  #markPeriod() {
    for (const link of this.#periods.querySelectorAll('a'))
      setAttribute(link, 'aria-current', link.dataset.period === this.#period && 'page');
  }
}
