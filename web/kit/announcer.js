// @ts-check

/**
 * What is said to those who do not see the board: who leads, where the followed
 * member is, and that a period is over. Politely, and seldom.
 *
 * @typedef {{ member: string, name: string, score: string } | null} Leader
 * @typedef {{ name: string, rank: number | null, score: number | null } | null} Own
 */

import { part, setText } from './rows.js';
import { say } from './format.js';

/** A lead that changes hands all the time would otherwise talk over everything else. */
const ANNOUNCE_MS = 10_000;
/** In the middle of a busy board a rank changes every second, for what others do. */
const RANK_MS = 60_000;

export class Announcer {
  element = part('p', 'announcer');
  /** What was said, or seen first. @type {Leader} */
  #saidLeader = null;
  /** @type {Own} */
  #saidOwn = null;
  /** @type {Leader} */
  #leader = null;
  /** @type {Own} */
  #own = null;
  /** What is still to be said of a period that is over. */
  #turn = '';
  #saidAt = -Infinity;
  #rankSaidAt = -Infinity;
  #due = Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  constructor() {
    this.element.setAttribute('role', 'status');
  }

  /**
   * @param {Leader} leader
   * @param {Own} own null: not known now
   */
  hear(leader, own) {
    this.#leader = leader;
    this.#own = own;
    this.#saidLeader ??= leader;
    this.#saidOwn ??= own;
    this.#plan();
  }

  /** @param {string} sentence of a period that is over: what was said of it is of no more use */
  turn(sentence) {
    this.forget();
    this.#turn = sentence;
    this.#plan();
  }

  /** Another board. */
  forget() {
    this.pause();
    this.#turn = '';
    this.#leader = this.#saidLeader = null;
    this.forgetOwn();
  }

  /** Another member is followed. */
  forgetOwn() {
    this.#own = this.#saidOwn = null;
  }

  pause() {
    clearTimeout(this.#timer);
    this.#due = Infinity;
  }

  #plan() {
    if (this.#sentences().length === 0) return;
    const soon = this.#saidAt + ANNOUNCE_MS;
    // What others do to one's rank can wait.
    const notable = this.#turn || this.#leader?.member !== this.#saidLeader?.member || this.#own?.score !== this.#saidOwn?.score;
    const due = notable ? soon : Math.max(soon, this.#rankSaidAt + RANK_MS);
    if (due >= this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => this.#announce(), due - performance.now());
  }

  // Says what is so now, not what was when the wait began.
  #announce() {
    this.#due = Infinity;
    const sentences = this.#sentences();
    if (sentences.length === 0) return;
    this.#saidAt = performance.now();
    if (this.#own?.rank !== this.#saidOwn?.rank) this.#rankSaidAt = this.#saidAt;
    this.#saidLeader = this.#leader ?? this.#saidLeader;
    this.#saidOwn = this.#own ?? this.#saidOwn;
    this.#turn = '';
    setText(this.element, sentences.join(' '));
  }

  #sentences() {
    const leader = this.#leader;
    const own = this.#own;
    const sentences = this.#turn ? [this.#turn] : [];
    const leads = leader && leader.member !== this.#saidLeader?.member;
    if (leads) sentences.push(say('leads', leader));
    // Who leads is at rank 1: that was just said.
    if (own && own.rank !== this.#saidOwn?.rank && !(leads && own.rank === 1)) {
      sentences.push(own.rank === null ? say('lost', { name: own.name }) : say('at_rank', { name: own.name, rank: own.rank }));
    }
    return sentences;
  }
}
