// @ts-check

/**
 * What happens on a board, for one element: events and marks of rows that change places, sentences about the top, announcements
 * for screen readers, and the end of a period. The element makes a Show when the first of these is due.
 *
 * @import {Connection, Entry, Me, Snapshot} from './rankcast.js'
 * @import {Reveal} from './reveal.js'
 * @import {Formats, Item, Row} from './row.js'
 * @import {RowList} from './rows.js'
 *
 * The present state. me: the followed member, or ''; hold: how long a result stays, ms
 * @typedef {() => { connection: Connection | null, formats: Formats, me: string, hold: number }} Now
 *
 * A render of the list. before: the list of before, if it is one of the same board and period; isWhole: the list has all members;
 * own: the followed member; null: none, or its rank is not known now; aroundBefore, around: its neighbours, which may be older than its
 * rank; moved: the rows in view that have another place, with their ranks before
 * @typedef {object} Change
 * @property {readonly Entry[] | undefined} before
 * @property {readonly Entry[]} top
 * @property {boolean} [isWhole] a file of before does not say it
 * @property {Item | null} ownBefore
 * @property {Item | null} own
 * @property {readonly Entry[] | undefined} aroundBefore
 * @property {readonly Entry[] | undefined} around
 * @property {readonly { row: Row, rank: number | null }[]} moved
 */

import { Announcer } from './announcer.js';
import { setAttribute } from './dom.js';
import { Finish, PODIUM } from './finish.js';
import { Moments } from './moments.js';
import { Moves } from './moves.js';
import { dateParts, gapText, itemsOf, language, loadReveal, periodText, phrase } from './shared.js';
import sheet from './show.css' with { type: 'css' };

/**
 * @param {Snapshot} list
 * @returns {boolean} whether its result needs no further entries: an element with room for one row has a list of one. The result
 * of an element that watches one period alone, or an activity, is what the list holds.
 */
const holdsResult = ({ board, period, top, total }) => !period || board.includes('@') || top.length >= Math.min(PODIUM, total);

export class Show {
  #element;
  #announcer;
  #list;
  #now;
  #moments;
  #moves = new Moves();
  #finish;
  #take;
  /** Once the board has been frozen. @type {Reveal | undefined} */
  #reveal;
  /** Ends the request of the last period's result. @type {(() => void) | undefined} */
  #endResult;

  /**
   * @param {HTMLElement} element whose parts it fills
   * @param {RowList} list of the element
   * @param {Now} now
   * @param {(list: Snapshot) => void} [take] gives the element a list; a page of before may have an element without it
   */
  constructor(element, list, now, take = () => {}) {
    this.#element = element;
    this.#list = list;
    this.#now = now;
    this.#take = take;
    const root = /** @type {ShadowRoot} */ (element.shadowRoot);
    const find = (/** @type {string} */ part) => /** @type {HTMLElement} */ (root.querySelector(`[part=${part}]`));
    this.#announcer = new Announcer(find('announcer'));
    this.#moments = new Moments(find('moment'), (moment) => this.#dispatch('moment', moment));
    this.#finish = new Finish(find('finish'), find('countdown'), () => setAttribute(element, 'data-finish', false));
    // After the sheet of the element, and before those of a page of this server.
    root.adoptedStyleSheets.splice(1, 0, sheet);
  }

  /**
   * @param {string} type
   * @param {object} detail
   */
  #dispatch(type, detail) {
    this.#element.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
  }

  /** @param {Change} change */
  update({ before, top, isWhole = false, ownBefore, own, aroundBefore, around, moved }) {
    const { formats } = this.#now();
    this.#reveal?.mark();
    // A step of a reveal says itself what happens.
    const tells = !this.#reveal?.isOn;
    if (tells) this.#announcer.update([before?.[0], top[0]], [ownBefore, own], formats.exact);
    if (!before) return;
    if (tells) this.#moves.mark(moved);
    this.#dispatchChanges(before, top);
    if (own && ownBefore) {
      const [listsBefore, lists] = [[before, ofRank(aroundBefore, ownBefore)], [top, ofRank(around, own)]];
      this.#dispatchOwn(ownBefore.rank, own, listsBefore, lists, isWhole);
    }
    if (tells) this.#moments.update(before, top, formats.gap);
  }

  /**
   * The board is frozen.
   *
   * @param {string} text since when, if the board has just frozen
   */
  freeze(text) {
    if (text) {
      this.#moments.reset();
      this.#announcer.say(text);
    }
    if (this.#reveal) return;
    loadReveal().then(
      ({ Reveal }) => {
        this.#reveal ??= new Reveal({
          element: this.#element,
          list: this.#list,
          now: this.#now,
          take: this.#take,
          dispatch: (type, detail) => this.#dispatch(type, detail),
          say: (text, leader) => this.#announcer.say(text, leader),
          showResult: (title, result) => this.#showRevealed(title, result),
        });
      },
      () => {}, // the next list may bring it
    );
  }

  /**
   * @param {Snapshot | null} before the list that the element has
   * @param {Snapshot} now
   * @returns {boolean} whether the element gets the list in steps
   */
  reveal(before, now) {
    return this.#reveal?.take(before, now) ?? false;
  }

  /**
   * Shows the first three of a board of which all is revealed, from the third to the first.
   *
   * @param {string} title
   * @param {Snapshot} result
   */
  #showRevealed(title, result) {
    const { period, ends, top } = result;
    const { formats, me, hold } = this.#now();
    if (!hold || !holdsResult(result) || this.#element.hasAttribute('data-finish')) return;
    setAttribute(this.#element, 'data-finish', '');
    const { items } = itemsOf(result, null, me, false, formats.gap);
    this.#finish.show({ title, note: '' }, items, formats, this.#list.template, hold);
    this.#announcer.say(title, top[0]);
    this.#dispatch('finish', { period, ends, top });
  }

  /**
   * @param {readonly Entry[]} before
   * @param {readonly Entry[]} top
   */
  #dispatchChanges(before, top) {
    const listed = new Set(before.map(({ member }) => member));
    for (const entry of top) if (!listed.has(entry.member)) this.#dispatch('enter-top', { entry });
    if (!top[0] || !before[0] || top[0].member === before[0].member) return;
    this.#dispatch('new-leader', { entry: top[0], before: before[0] });
    if (this.#list.glides) this.#moves.celebrate(this.#list.rows.get(top[0].member));
  }

  /**
   * @param {number | null} before the rank of before
   * @param {Item} own
   * @param {readonly (readonly Entry[])[]} listsBefore the list, and the neighbours as far as they are known
   * @param {readonly (readonly Entry[])[]} lists the same of now
   * @param {boolean} isWhole the list of now has all members
   */
  #dispatchOwn(before, { member, rank }, listsBefore, lists, isWhole) {
    if (rank === null || before === null || rank === before) return;
    if (rank < before) {
      this.#dispatch('rank-up', { member, rank, before, passed: passedOf(before, rank, listsBefore, lists, isWhole) });
      return;
    }
    // The member just above; null: not known.
    const list = lists.find((list) => list.some((entry) => entry.member === member && entry.rank === rank));
    const above = (list ?? lists[0]).findLast((entry) => entry.rank < rank);
    this.#dispatch('overtaken', { member, rank, before, by: above && (list || above.rank === rank - 1) ? above : null });
  }

  /** @param {number} left the time left in the period, ms; NaN: none ends now */
  count(left) {
    this.#finish.count(left);
  }

  /** The element shows another board. */
  reset() {
    this.#announcer.reset();
    this.#reveal?.stop();
    this.#hide();
  }

  /** The element follows another member. */
  resetOwn() {
    this.#announcer.resetOwn();
    this.#hide();
  }

  /** The element has left the page. */
  pause() {
    this.#announcer.pause();
    this.#reveal?.finish();
    this.#hide();
  }

  #hide() {
    this.#moments.reset();
    this.#endResult?.();
    this.#finish.hide();
  }

  /** @param {string} text about the end of a period, or about another store */
  rollover(text) {
    this.#moments.reset();
    if (text) this.#announcer.rollover(text);
  }

  /**
   * Shows the result of a period that has just ended, also to a viewer who comes some seconds later.
   *
   * @param {Snapshot | null} before the list of before
   * @param {Snapshot} now
   * @param {boolean} isFirst the list of before is that of the page
   */
  onPeriod(before, now, isFirst) {
    const { board, period, final, info } = now;
    const same = before?.period === period;
    if (this.#reveal?.isOn) return;
    // A list that was final has shown its result, unless it was the first list of the element.
    if (before?.final || (final ? !same : same && !isFirst)) return;
    if (final && holdsResult(now)) return this.showResult(now);
    if (!period || board.includes('@')) return;
    if (!(this.#holdLeft(final ? now.ends : (info?.period?.opens ?? before?.ends)) > 0)) return;
    this.#endResult?.();
    const { connection, me } = this.#now();
    /** @type {Snapshot} */
    let result;
    /** @param {Me} [own] */
    const show = (own) => {
      this.showResult(result, own);
      // The name of the followed member comes with its neighbours, which may come after its rank.
      if (result.final && (own?.around || !me)) this.#endResult?.();
    };
    this.#endResult = connection?.subscribe(`${board}@${final ? period : -1}`, { top: PODIUM, me, around: 1, info: true }, {
      onTop: (snapshot) => {
        result = snapshot;
        show();
      },
      onMe: show,
    });
  }

  /**
   * @param {string | null | undefined} ends of a period
   * @returns {number} how long its result stays from now on, ms; NaN if it does not end
   */
  #holdLeft(ends) {
    const { connection, hold } = this.#now();
    return Date.parse(ends ?? '') - (connection?.now() ?? Date.now()) + hold;
  }

  /**
   * @param {Snapshot} result
   * @param {Me | null} own it follows the result
   */
  showResult(result, own = null) {
    const { period, ends, final, top, info } = result;
    const left = this.#holdLeft(ends);
    if (!final || !ends || !(left > 0) || !top.length || !holdsResult(result)) return;
    const { formats, me } = this.#now();
    const at = new Intl.DateTimeFormat(language, { ...dateParts, timeZone: info?.period?.timezone });
    // A page of before has neither names of periods nor words for a winner.
    const isOld = typeof periodText !== 'function';
    const name = !isOld && period && periodText(info?.period && { ...info.period, isOver: true });
    const of = phrase('result', { time: name || at.format(new Date(ends)) });
    const texts = isOld ? { title: of, note: '' } : winnerTexts(top, formats, of);
    setAttribute(this.#element, 'data-finish', '');
    const { items } = itemsOf(result, own, me, false, formats.gap);
    this.#finish.show(texts, items, formats, this.#list.template, left);
    if (!own) this.#dispatch('finish', { period, ends, top });
  }
}

/**
 * @param {readonly Entry[] | undefined} around the neighbours of a member
 * @param {Item} own
 * @returns {readonly Entry[]} them, if they are as of its rank
 */
function ofRank(around, { member, rank }) {
  return around?.some((entry) => entry.member === member && entry.rank === rank) ? around : [];
}

/**
 * @param {number} before the rank of the member before
 * @param {number} rank
 * @param {readonly (readonly Entry[])[]} listsBefore
 * @param {readonly (readonly Entry[])[]} lists
 * @param {boolean} isWhole a member that the lists do not have is gone
 * @returns {readonly Entry[] | number} the entries that were above the member and are below it now. Else the places that it has gained,
 * where the lists leave open who else was passed: they lost sight of one that was above, or knew too few of those
 */
function passedOf(before, rank, listsBefore, lists, isWhole) {
  const above = new Set(listsBefore.flat().flatMap((entry) => (entry.rank < before ? [entry.member] : [])));
  const now = new Map(lists.flat().map((entry) => [entry.member, entry]));
  const passed = [...now.values()].filter((entry) => entry.rank > rank && above.has(entry.member)).sort((a, b) => a.rank - b.rank);
  const gained = before - rank;
  const hasAll = above.size === before - 1 || passed.length >= gained;
  return hasAll && (isWhole || [...above].every((member) => now.has(member))) ? passed : gained;
}

/**
 * @param {readonly Entry[]} top of a result
 * @param {Formats} formats
 * @param {string} of what it is the result
 * @returns {{ title: string, note: string }} who has won, of what, and by how much
 */
function winnerTexts([first, second], { short, gap, render }, of) {
  if (second?.rank === 1) return { title: phrase('tie'), note: of };
  const by = second && Math.abs(first.score - second.score);
  const score = second && (render ? gap(by, first, second) : gapText(short(by)));
  return {
    title: phrase('winner', { name: first.name || first.member }),
    note: score ? `${of} · ${phrase('ahead', { score, name: second.name || second.member })}` : of,
  };
}
