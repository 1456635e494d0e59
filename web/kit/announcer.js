// @ts-check

/**
 * Announcements of the element for screen readers: a new leader, another rank of the followed
 * member, reveals, and the end of a period. It announces politely and seldom.
 *
 * @import {Entry} from './rankcast.js'
 * @import {Format, Item} from './row.js'
 */

import { setText } from './dom.js';
import { phrase } from './shared.js';

/** Least time between two announcements: a lead that changes all the time would talk over everything else. */
const ANNOUNCE_MS = 10_000;
/** Least time between two announcements of a rank alone: in a busy board, other members change it every second. */
const RANK_MS = 60_000;

export class Announcer {
  #element;
  /** As last announced, or as first seen. @type {Entry | null | undefined} */
  #lastLeader;
  /** @type {Item | null} */
  #lastOwn = null;
  /** @type {Entry | null | undefined} */
  #leader;
  /** null: not known now. @type {Item | null} */
  #own = null;
  /** @type {Format} */
  #format = String;
  /** The announcement of a rollover that is due. */
  #rollover = '';
  #announcedAt = -Infinity;
  #rankAt = -Infinity;
  #due = Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {HTMLElement} element for the announcements, which must be there before its first text */
  constructor(element) {
    this.#element = element;
  }

  /**
   * @param {[before: Entry | undefined, now: Entry | undefined]} leader
   * @param {[before: Item | null, now: Item | null]} own
   * @param {Format} format of a score
   */
  update([leaderBefore, leader], [ownBefore, own], format) {
    this.#leader = leader;
    this.#own = own;
    this.#format = format;
    this.#lastLeader ??= leaderBefore ?? leader;
    this.#lastOwn ??= ownBefore ?? own;
    this.#schedule();
  }

  /** @param {string} text replaces all announcements of the earlier period */
  rollover(text) {
    this.reset();
    this.#rollover = text;
    this.#schedule();
  }

  /**
   * Announces something at once.
   *
   * @param {string} text
   * @param {Entry} [leader] the leader of then, if the text implies it
   */
  say(text, leader) {
    this.#announcedAt = performance.now();
    if (leader) this.#leader = this.#lastLeader = leader;
    setText(this.#element, text);
  }

  /** The element shows another board. */
  reset() {
    this.pause();
    this.#rollover = '';
    this.#leader = this.#lastLeader = undefined;
    this.resetOwn();
  }

  /** The element follows another member. */
  resetOwn() {
    this.#own = this.#lastOwn = null;
  }

  pause() {
    clearTimeout(this.#timer);
    this.#due = Infinity;
  }

  #schedule() {
    if (this.#texts().length === 0) return;
    const soon = this.#announcedAt + ANNOUNCE_MS;
    // A rank that changed without the member's score can wait.
    const notable = this.#rollover || this.#leader?.member !== this.#lastLeader?.member || this.#own?.score !== this.#lastOwn?.score;
    const due = notable ? soon : Math.max(soon, this.#rankAt + RANK_MS);
    if (due >= this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => this.#announce(), due - performance.now());
  }

  // Announces the state of this moment, not that of the moment when the wait began.
  #announce() {
    this.#due = Infinity;
    const texts = this.#texts();
    if (texts.length === 0) return;
    this.#announcedAt = performance.now();
    if (this.#own?.rank !== this.#lastOwn?.rank) this.#rankAt = this.#announcedAt;
    this.#lastLeader = this.#leader ?? this.#lastLeader;
    this.#lastOwn = this.#own ?? this.#lastOwn;
    this.#rollover = '';
    setText(this.#element, texts.join(' '));
  }

  #texts() {
    const leader = this.#leader;
    const own = this.#own;
    const texts = this.#rollover ? [this.#rollover] : [];
    const leads = leader && leader.member !== this.#lastLeader?.member;
    if (leads) texts.push(phrase('leads', { name: leader.name || leader.member, score: this.#format(leader.score, leader) }));
    // The announcement of a new leader implies rank 1.
    if (own && own.rank !== this.#lastOwn?.rank && !(leads && own.rank === 1)) {
      texts.push(phrase(own.rank === null ? 'lost' : 'at_rank', { name: own.name || own.member, rank: own.rank ?? 0 }));
    }
    return texts;
  }
}
