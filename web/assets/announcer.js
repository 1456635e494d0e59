// @ts-check

/**
 * What is said to those who do not see the board: who leads, where the followed
 * member is, and that a period is over. Politely, and seldom.
 */

import { part, setText } from './dom.js';
import { numbers } from './row.js';

/** @typedef {import('./frames.js').Entry} Entry */

/** A lead that changes hands all the time would otherwise talk over everything else. */
const ANNOUNCE_MS = 10_000;
/** In the middle of a busy board a rank changes every second, for what others do. */
const RANK_MS = 60_000;

/**
 * @typedef {object} Own
 * @property {string} kind listed, below or absent
 * @property {string} name
 * @property {number | null} rank null: not on the board
 * @property {number | null} score
 *
 * @typedef {object} News null: not known now
 * @property {Entry | null} leader
 * @property {Own | null} own
 */

export class Announcer {
  element = part('p', 'announcer');

  /** What was said, or seen first. @type {News} */
  #said = { leader: null, own: null };
  /** @type {News} */
  #news = { leader: null, own: null };
  /** What is still to be said of a period that is over. */
  #turn = '';
  #announcedAt = -Infinity;
  #rankSaidAt = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** When the timer ends. */
  #due = Infinity;

  constructor() {
    this.element.setAttribute('role', 'status');
  }

  /** @param {News} news */
  hear(news) {
    this.#news = news;
    this.#plan();
  }

  /**
   * A period is over: what was said of it is of no more use.
   *
   * @param {string} sentence
   */
  turn(sentence) {
    this.#said = { leader: null, own: null };
    this.#news = { leader: null, own: null };
    this.#turn = sentence;
    this.#plan();
  }

  #plan() {
    const news = this.#news;
    this.#said.leader ??= news.leader;
    this.#said.own ??= news.own;
    const due = this.#dueAt();
    if (due >= this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => this.#announce(), due - performance.now());
  }

  /** When there is something to say. What others do to one's rank can wait. */
  #dueAt() {
    if (this.#sentences().length === 0) return Infinity;
    const { leader, own } = this.#news;
    const said = this.#said;
    const notable = this.#turn !== '' || leader?.member !== said.leader?.member || own?.kind !== said.own?.kind || own?.score !== said.own?.score;
    const soon = this.#announcedAt + ANNOUNCE_MS;
    return notable ? soon : Math.max(soon, this.#rankSaidAt + RANK_MS);
  }

  /** Another board. */
  forget() {
    this.pause();
    this.#turn = '';
    this.#said = { leader: null, own: null };
  }

  /** Another member is followed. */
  forgetOwn() {
    this.#said.own = this.#news.own = null;
  }

  pause() {
    clearTimeout(this.#timer);
    this.#due = Infinity;
  }

  // Says what is so now, not what was when the wait began.
  #announce() {
    this.#due = Infinity;
    const sentences = this.#sentences();
    if (sentences.length === 0) return;
    this.#announcedAt = performance.now();
    if (this.#news.own?.rank !== this.#said.own?.rank) this.#rankSaidAt = this.#announcedAt;
    this.#said = { leader: this.#news.leader ?? this.#said.leader, own: this.#news.own ?? this.#said.own };
    this.#turn = '';
    setText(this.element, sentences.join(' '));
  }

  #sentences() {
    const { leader, own } = this.#news;
    const said = this.#said;
    const sentences = this.#turn ? [this.#turn] : [];
    const leads = leader !== null && leader.member !== said.leader?.member;
    if (leads) sentences.push(`${leader.name || leader.member} leads with ${numbers.format(leader.score)}.`);
    // Who leads is at rank 1: that was just said.
    if (own && own.rank !== said.own?.rank && !(own.rank === 1 && leads)) {
      sentences.push(own.rank === null ? `${own.name} has no score.` : `${own.name} is at rank ${numbers.format(own.rank)}.`);
    }
    return sentences;
  }
}
