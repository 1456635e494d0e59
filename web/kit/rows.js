// @ts-check

/**
 * The list of the element: one row for each entry, in order, made from a template. A member
 * keeps its row while the list shows the member, and the row glides to its new place.
 *
 * @import {Formats, Item} from './row.js'
 */

import { part, setAttribute } from './dom.js';
import { plainTemplate, Row } from './row.js';

/** More scores than these at once do not roll either. */
const MAX_ROLLING = 12;

export class RowList {
  element = part('ol', 'list');
  /** By member, in order. @type {Map<string, Row>} */
  rows = new Map();
  /** The content of each row. */
  template = plainTemplate;
  /** @type {Formats | null} */
  #formats = null;
  /** Whether rows glided in the last render. */
  glides = false;
  /**
   * The rows in view whose places changed in the last render, with their ranks before.
   * @type {readonly { row: Row, rank: number | null }[]}
   */
  moved = [];

  constructor() {
    // Without the role, Safari does not treat a list without markers as a list.
    this.element.role = 'list';
  }

  /** @param {DocumentFragment} template the content of each row from now on */
  use(template) {
    if (template === this.template) return;
    this.template = template;
    this.rows = new Map();
    this.element.replaceChildren();
  }

  /**
   * Rows glide by the FLIP technique: measure, write, measure again, and animate each row from
   * its old place to its new one. All reads come before or after all writes, so that a render
   * costs one layout.
   *
   * @param {readonly Item[]} items
   * @param {Formats} formats
   * @param {{ moves: boolean, marks: boolean }} how moves: rows glide; marks: the list of before was one of the same members
   */
  render(items, formats, { moves, marks }) {
    /** @type {Map<string, Row>} */
    const rows = new Map();
    for (const { member } of items) rows.set(member, this.rows.get(member) ?? new Row(this.template));
    const order = [...rows.values()];
    if (formats !== this.#formats) for (const row of order) row.item = null;
    this.#formats = formats;
    this.glides = moves;
    this.moved = [];

    /** @type {{ row: Row, from: number, top: number, rank: number | null, now: number }[]} */
    const moved = [];
    let changed = 0;
    order.forEach((row, index) => {
      const { item, element } = row;
      if (!item || item === items[index]) return;
      if (item.score !== items[index].score) changed++;
      if ((moves || marks) && (row.index !== index || items[index].me))
        moved.push({ row, from: row.index, top: element.getBoundingClientRect().top, rank: item.rank, now: 0 });
    });

    for (const [member, row] of this.rows) {
      if (rows.has(member)) continue;
      row.rest(); // the browser keeps an element with an animation
      row.element.remove();
    }
    this.rows = rows;
    /** @type {Row[]} */
    const entered = [];
    let next = this.element.firstElementChild;
    order.forEach((row, index) => {
      // A row that fell by several places makes way for those before it, which stay where they are.
      if (next?.nextElementSibling === row.element && next !== order[index + 1]?.element) {
        next.remove();
        next = row.element;
      }
      if (next === row.element) next = next.nextElementSibling;
      else this.element.insertBefore(row.element, next);
      if (row.index < 0) entered.push(row);
      row.index = index;
      row.render(items[index], formats, moves && marks && changed <= MAX_ROLLING);
    });

    if (!moves && !marks) return;
    for (const { row } of moved) row.rest();
    for (const move of moved) move.now = move.row.element.getBoundingClientRect().top;
    const seen = moved.filter(({ top, now }) => isNearView(top) || isNearView(now));
    this.moved = seen;
    for (const { row, from, top, now: to } of seen) {
      if (!moves || top === to) continue;
      row.element.style.zIndex = from > row.index ? '2' : '0'; // a row that rises passes over the others
      row.glideFrom(top - to);
    }
    if (moves) for (const row of entered) row.animate({ opacity: 0, transform: 'translateY(0.5em)' }, { opacity: 1, transform: 'none' });
  }
}

// A thousand rows may move at once. Only rows near the visible area are animated.
/** @param {number} y pixels from the top of the window */
function isNearView(y) {
  return y > -innerHeight / 2 && y < innerHeight * 1.5;
}
