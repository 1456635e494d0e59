// @ts-check

/**
 * What is said to those who do not see the board: who leads, and where the
 * followed member is. Politely, and seldom.
 */

import { part, setText } from './dom.js';
import { numbers } from './row.js';

/** @typedef {import('./frames.js').Entry} Entry */

/** A lead that changes hands all the time would otherwise talk over everything else. */
const ANNOUNCE_MS = 10_000;

/**
 * @typedef {object} News null: not known now
 * @property {Entry | null} leader
 * @property {{ name: string, rank: number | null } | null} own `rank` null: not on the board
 */

export class Announcer {
  element = part('p', 'announcer');

  /** What was said, or seen first. @type {News} */
  #said = { leader: null, own: null };
  /** @type {News} */
  #news = { leader: null, own: null };
  #announcedAt = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  constructor() {
    this.element.setAttribute('role', 'status');
  }

  /** @param {News} news */
  hear(news) {
    this.#news = news;
    this.#said.leader ??= news.leader;
    this.#said.own ??= news.own;
    if (this.#timer === undefined && this.#sentences().length > 0) {
      this.#timer = setTimeout(() => this.#announce(), this.#announcedAt + ANNOUNCE_MS - performance.now());
    }
  }

  /** Another board. */
  forget() {
    this.pause();
    this.#said = { leader: null, own: null };
  }

  /** Another member is followed. */
  forgetOwn() {
    this.#said.own = this.#news.own = null;
  }

  pause() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  // Says what is so now, not what was when the wait began.
  #announce() {
    this.#timer = undefined;
    const sentences = this.#sentences();
    if (sentences.length === 0) return;
    this.#said = { leader: this.#news.leader ?? this.#said.leader, own: this.#news.own ?? this.#said.own };
    this.#announcedAt = performance.now();
    setText(this.element, sentences.join(' '));
  }

  #sentences() {
    const { leader, own } = this.#news;
    const said = this.#said;
    const sentences = [];
    if (leader && leader.member !== said.leader?.member) {
      sentences.push(`${leader.name || leader.member} leads with ${numbers.format(leader.score)}.`);
    }
    // Who leads is at rank 1: that was just said.
    if (own && own.rank !== said.own?.rank && !(own.rank === 1 && sentences.length > 0)) {
      sentences.push(own.rank === null ? `${own.name} has no score.` : `${own.name} is at rank ${numbers.format(own.rank)}.`);
    }
    return sentences;
  }
}
