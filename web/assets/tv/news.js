// @ts-check

/** The line at the foot of the wall: what has happened on its boards, one sentence at a time. */

import { createElement, setText } from '../shared/dom.js';

/** @typedef {{ time: string, board: string, text: string }} Sentence time: as the clock shows it; board: '' for none; text: of it */

/** How long a sentence stays. One that has just happened does not wait for it. */
const SHOWN_MS = 7_000;
/** Older sentences are no news. */
const KEEP_MS = 20 * 60_000;
const MOST = 8;

export class News {
  #element;
  /** The newest first. @type {{ at: number, sentence: Sentence }[]} */
  #news = [];
  /** Of the one that is shown; -1: none. */
  #index = -1;
  #shownAt = -Infinity;
  /** The sentence that stays, while one does. @type {Sentence | null} */
  #held = null;
  /** @type {Sentence | null} */
  #shown = null;

  /** @param {HTMLElement} element */
  constructor(element) {
    this.#element = element;
  }

  /** @param {Sentence} sentence of what happens now */
  add(sentence) {
    this.#news = [{ at: performance.now(), sentence }, ...this.#news].slice(0, MOST);
    if (!this.#held) this.#show(0);
  }

  /**
   * Has a sentence stay, whatever happens meanwhile.
   *
   * @param {Sentence | null} sentence null: none stays any more
   */
  hold(sentence) {
    if (sentence) this.#render(sentence);
    else if (this.#held && this.#news.length > 0) this.#show(0);
    this.#held = sentence;
  }

  /**
   * Goes on to the next sentence if it is time.
   *
   * @param {Sentence} otherwise what it says while there is no news
   */
  tick(otherwise) {
    const now = performance.now();
    this.#news = this.#news.filter(({ at }) => now - at < KEEP_MS);
    if (this.#held) return;
    if (this.#news.length > 0) {
      if (now - this.#shownAt >= SHOWN_MS) this.#show((this.#index + 1) % this.#news.length);
      return;
    }
    // What it says then may change each second, so it does not glide in.
    const said = this.#index < 0 && this.#element.querySelector('.ticker-text');
    if (said && this.#shown?.board === otherwise.board) setText(said, otherwise.text);
    else this.#render(otherwise);
    this.#index = -1;
  }

  /** @param {number} index of the news */
  #show(index) {
    this.#index = index;
    this.#shownAt = performance.now();
    this.#render(this.#news[index].sentence);
  }

  /** @param {Sentence} sentence */
  #render(sentence) {
    const { time, board, text } = sentence;
    const { time: timeBefore, board: boardBefore, text: textBefore } = this.#shown ?? {};
    this.#shown = sentence;
    if (time === timeBefore && board === boardBefore && text === textBefore) return;
    // The sentence has the direction of the page. The names in it are isolated.
    const said = createElement('span', 'ticker-said', createElement('bdi', '', board), ' ', createElement('span', 'ticker-text', text));
    this.#element.replaceChildren(createElement('span', 'ticker-line', createElement('time', '', time), ' ', said));
  }
}
