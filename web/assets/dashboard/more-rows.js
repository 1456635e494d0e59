// @ts-check

/** The list of a board grows as the reader scrolls to its end, up to the server's limit. dashboard.js uses it. */

import { numbers } from '../../kit/format.js';
import { setText } from '../shared/dom.js';
import { text } from '../shared/texts.js';

/** @typedef {import('../../kit/rankcast.js').Update} Update */

/** The list grows by this many entries at least, and else doubles. */
const LEAST_STEP = 40;
/** Rows are ready before the reader sees the end of the list. */
const AHEAD = '0px 0px 50% 0px';

export class MoreRows {
  #button;
  #end;
  #limit;
  #onGrow;
  #focusRow;
  #shown = 0;
  #wanted = 0;
  /** The end of the list is in sight, or nearly. */
  #isNear = false;
  /** The reader scrolls down: a list whose end is in sight from the beginning does not grow by itself. */
  #isDown = false;
  /** The first new row, which gets the focus from the button; -1: none. */
  #focusAt = -1;
  /** What the reader scrolls: the page, or the board on the whole screen. @type {Element} */
  #scroller = document.documentElement;
  /** How far the reader had scrolled, px. */
  #scrolled = 0;

  /**
   * @param {HTMLButtonElement} button
   * @param {HTMLElement} end says that there are more members than the list can show
   * @param {number} limit of entries
   * @param {() => void} onGrow called when the list is to have more rows
   * @param {(i: number) => void} focusRow moves the focus to a row of the list
   */
  constructor(button, end, limit, onGrow, focusRow) {
    this.#button = button;
    this.#end = end;
    this.#limit = limit;
    this.#onGrow = onGrow;
    this.#focusRow = focusRow;
    button.addEventListener('click', () => this.#grow());
    new IntersectionObserver((entries) => {
      this.#isNear = entries[entries.length - 1].isIntersecting;
      this.#growAtEnd();
    }, { rootMargin: AHEAD }).observe(button);
    document.addEventListener('scroll', ({ target }) => {
      const scroller = target === document ? document.documentElement : target;
      if (!(scroller instanceof Element && scroller.contains(button))) return;
      this.#scroller = scroller;
      this.#isDown = scroller.scrollTop > this.#scrolled;
      this.#scrolled = scroller.scrollTop;
      this.#growAtEnd();
    }, { passive: true, capture: true });
  }

  /** @returns {number} the limit of entries */
  get limit() {
    return this.#limit;
  }

  /** @returns {number} the number of entries that the list is to show */
  get shown() {
    return this.#shown;
  }

  /** Begins anew, on another board or with another number of entries. */
  reset() {
    this.#wanted = 0;
    this.#focusAt = -1;
    this.#isDown = false;
    // The browser, too, scrolls while rows move above what is in sight. Its event may come only after this.
    this.#scrolled = this.#scroller.scrollTop;
    this.#button.hidden = this.#end.hidden = true;
  }

  /**
   * @param {number} top that the URL asks for
   * @returns {number} the number of entries to show
   */
  top(top) {
    this.#shown = Math.min(Math.max(top, this.#wanted), this.#limit);
    return this.#shown;
  }

  /** @param {Update} update */
  update({ snapshot }) {
    if (!snapshot) return;
    const left = snapshot.total - snapshot.top.length;
    const isFull = snapshot.top.length >= this.#shown;
    this.#button.hidden = left <= 0 || !isFull || this.#shown >= this.#limit;
    this.#end.hidden = left <= 0 || !isFull || this.#shown < this.#limit;
    if (this.#focusAt >= 0 && snapshot.top.length > this.#focusAt) {
      if (document.activeElement === document.body) this.#focusRow(this.#focusAt);
      this.#focusAt = -1;
    }
    setText(this.#button, text('more_rows', { n: numbers.format(Math.min(this.#next(), snapshot.total) - this.#shown) }));
    setText(this.#end, text('end_of_rows', { listed: numbers.format(this.#limit), total: numbers.format(snapshot.total) }));
  }

  /** @param {number} rank the list grows so that it has this one, with some below it */
  growTo(rank) {
    while (this.#shown < this.#limit && this.#shown < rank + LEAST_STEP / 4) this.#shown = this.#next();
    this.#wanted = this.#shown;
    this.#onGrow();
  }

  #next() {
    return Math.min(Math.max(this.#shown + LEAST_STEP, 2 * this.#shown), this.#limit);
  }

  #growAtEnd() {
    if (this.#isDown && this.#isNear && !this.#button.hidden) this.#grow();
  }

  #grow() {
    this.#wanted = this.#next();
    this.#focusAt = document.activeElement === this.#button ? this.#shown : -1;
    // Until the rows are there, the end of the list is where it was.
    this.#button.hidden = true;
    this.#onGrow();
  }
}
