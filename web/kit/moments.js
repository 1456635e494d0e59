// @ts-check

/**
 * Sentences about the top of a board, one at a time: a member passed another, or is about to. On a busy board, each
 * sentence is about the most notable change since the last one.
 *
 * @import {Entry, Moment} from './rankcast.js'
 * @import {GapFormat} from './row.js'
 */

import { setText } from './dom.js';
import { phrase } from './shared.js';

/** Least time between two moments: a reader reads one and looks at the board. */
const STEP_MS = 2_500;
/** How long a moment stays, unless another follows. */
const SHOWN_MS = 12_000;
/** Moments are about so many of the first places. */
const PLACES = 20;
/** A member may be closing in on one of the first places, not of those that few people look at. */
const CLOSING_PLACES = 5;
/** The time in which a gap has to shrink to less than CLOSING of what it was. */
const CLOSING_MS = 15_000;
const CLOSING = 0.6;
/** A gap that is larger than this share of the score is no close fight. */
const CLOSE = 0.05;

export class Moments {
  #element;
  #onMoment;
  /** The most notable moment that waits. @type {Moment | null} */
  #next = null;
  #toldAt = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #endTimer;
  /** Gaps as they were some time ago, by the two members. @type {Map<string, { gap: number, at: number }>} */
  #gaps = new Map();

  /**
   * @param {HTMLElement} element for the sentences
   * @param {(moment: Moment) => void} onMoment
   */
  constructor(element, onMoment) {
    this.#element = element;
    this.#onMoment = onMoment;
  }

  /** The element shows another board or period. */
  reset() {
    clearTimeout(this.#timer);
    clearTimeout(this.#endTimer);
    this.#next = null;
    this.#gaps.clear();
    setText(this.#element, '');
  }

  /**
   * @param {readonly Entry[]} before
   * @param {readonly Entry[]} top the next state of the same list
   * @param {GapFormat} format
   */
  update(before, top, format) {
    const now = performance.now();
    const moment = passing(before, top) ?? this.#closing(top, format, now);
    // Of several moments, the one at the highest place stays; a pass is more than a gap.
    const next = this.#next;
    if (!moment || (next && (next.kind === moment.kind ? next.rank < moment.rank : next.kind === 'passed'))) return;
    this.#next = moment;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tell(), this.#toldAt + STEP_MS - now);
  }

  #tell() {
    const moment = this.#next;
    this.#next = null;
    this.#toldAt = performance.now();
    if (!moment) return;
    clearTimeout(this.#endTimer);
    setText(this.#element, moment.text);
    this.#endTimer = setTimeout(() => setText(this.#element, ''), SHOWN_MS);
    this.#onMoment(moment);
  }

  /**
   * @param {readonly Entry[]} top
   * @param {GapFormat} format
   * @param {number} now
   * @returns {Moment | null}
   */
  #closing(top, format, now) {
    const gaps = new Map();
    /** @type {Moment | null} */
    let moment = null;
    for (let i = 1; i < Math.min(top.length, CLOSING_PLACES); i++) {
      const [other, entry] = [top[i - 1], top[i]];
      const gap = Math.abs(other.score - entry.score);
      const pair = JSON.stringify([entry.member, other.member]);
      const last = this.#gaps.get(pair);
      const shrinks = last && gap < CLOSING * last.gap && gap > 0 && gap <= CLOSE * Math.abs(other.score);
      gaps.set(pair, last && !shrinks && now - last.at < CLOSING_MS ? last : { gap, at: now });
      if (shrinks)
        moment ??= {
          kind: 'closing',
          rank: entry.rank,
          entry,
          other,
          text: phrase('closing', { name: nameOf(entry), other: nameOf(other), score: format(gap, other, entry) }),
        };
    }
    this.#gaps = gaps;
    return moment;
  }
}

/**
 * @param {readonly Entry[]} before
 * @param {readonly Entry[]} top
 * @returns {Moment | null} the pass at the highest place
 */
function passing(before, top) {
  const ranks = new Map(before.slice(0, PLACES).map(({ member, rank }) => [member, rank]));
  const rankOf = (/** @type {Entry} */ { member }) => ranks.get(member) ?? Infinity;
  for (let i = 0; i < Math.min(top.length - 1, PLACES); i++) {
    const [entry, other] = [top[i], top[i + 1]];
    if (entry.rank < rankOf(entry) && entry.rank < other.rank && rankOf(other) < rankOf(entry)) {
      return {
        kind: 'passed',
        rank: entry.rank,
        entry,
        other,
        text: phrase('passed', { name: nameOf(entry), other: nameOf(other), rank: entry.rank }),
      };
    }
  }
  return null;
}

/** @param {Entry} entry */
function nameOf({ name, member }) {
  return name || member;
}
