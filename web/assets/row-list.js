// @ts-check

/**
 * The list: a row for each entry, in order. A row stays a member's for as long
 * as the member is listed, and glides to its next place.
 */

import { part, setAttribute, setProperty, setText } from './dom.js';
import { describeGap, fadeIn, glide, newRow, writeRow } from './row.js';

/** @typedef {import('./frames.js').Entry} Entry */
/** @typedef {import('./row.js').Row} Row */

export class RowList {
  element = part('ol', 'list');
  /** @type {Map<string, Row>} */
  #rows = new Map();
  /** @type {Row | null} */
  #marked = null;

  constructor() {
    // Without the role, Safari takes a list without markers for no list.
    this.element.setAttribute('role', 'list');
  }

  /** The rows shown, by member. @returns {ReadonlyMap<string, Row>} */
  get rows() {
    return this.#rows;
  }

  /**
   * Glides by FLIP: measure, write, measure, and animate from where a row was
   * seen to where it now belongs. All reads come before or after all writes,
   * so that a render costs one layout.
   *
   * @param {readonly Entry[]} entries
   * @param {number} digits of the longest rank
   * @param {boolean} moves
   */
  write(entries, digits, moves) {
    /** @type {Map<string, Row>} */
    const rows = new Map();
    for (const { member } of entries) rows.set(member, this.#rows.get(member) ?? newListRow(member));
    const order = [...rows.values()];

    /** @type {Map<Row, number>} */
    const seenAt = new Map();
    if (moves) {
      order.forEach((row, place) => {
        if (row.place >= 0 && row.place !== place) seenAt.set(row, row.element.getBoundingClientRect().top);
      });
    }

    for (const [member, row] of this.#rows) {
      if (!rows.has(member)) row.element.remove();
    }
    setProperty(this.element, '--_digits', String(digits));
    /** @type {Row[]} */
    const entered = [];
    let there = this.element.firstElementChild;
    order.forEach((row, place) => {
      if (there === row.element) there = there.nextElementSibling;
      else this.element.insertBefore(row.element, there);
      if (row.place < 0) entered.push(row);
      else if (seenAt.has(row)) row.element.style.zIndex = place < row.place ? '1' : '0';
      row.place = place;
    });
    for (const entry of entries) {
      const row = rows.get(entry.member);
      if (row) writeRow(row, entry);
    }
    this.#rows = rows;

    if (!moves) return;
    for (const row of seenAt.keys()) row.glide?.cancel();
    /** @type {[Row, number][]} */
    const distances = [];
    for (const [row, before] of seenAt) {
      const now = row.element.getBoundingClientRect().top;
      if (before !== now && (isNearView(before) || isNearView(now))) distances.push([row, before - now]);
    }
    for (const [row, distance] of distances) glide(row, distance);
    for (const row of entered) fadeIn(row);
  }

  /**
   * Marks the followed member's row and unmarks the one before.
   *
   * @param {Row | null} row
   * @param {number | null} toNext
   */
  mark(row, toNext) {
    if (this.#marked && this.#marked !== row) {
      setAttribute(this.#marked.element, 'part', 'row');
      setAttribute(this.#marked.element, 'aria-current', null);
      setText(this.#marked.gap, '');
    }
    this.#marked = row;
    if (!row) return;
    setAttribute(row.element, 'part', 'row me');
    setAttribute(row.element, 'aria-current', 'true');
    setText(row.gap, describeGap(toNext));
  }
}

/** @param {string} member */
function newListRow(member) {
  const row = newRow('li');
  row.element.dataset.member = member;
  return row;
}

// A thousand rows may move at once; only those that can be seen are animated.
/** @param {number} y pixels from the top of the window */
function isNearView(y) {
  return y > -innerHeight / 2 && y < innerHeight * 1.5;
}
