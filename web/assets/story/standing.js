// @ts-check

/** The board beside the chart of a story: one row for each entry at a time, each beside its place on the chart. */

import { columnWidths, renderColumns, renderScore } from '../shared/board-display.js';
import { createElement, setAttribute, setProperty, setText } from '../shared/dom.js';
import { Portrait } from '../shared/portrait.js';
import { numbers } from '../../kit/format.js';

/** @typedef {import('../shared/history.js').Entry} Entry */
/** @typedef {import('../shared/board-display.js').Formats} Formats */
/** @typedef {{ name?: string, avatar?: string }} Profile */

class StandingRow {
  #rank = createElement('span', 'standing-rank');
  #portrait = new Portrait();
  #name = createElement('bdi', 'standing-name');
  #score = createElement('span', 'standing-score');
  element = createElement('li', 'standing-row', this.#rank, ' ', this.#portrait.element, ' ', this.#name, ' ', this.#score);

  /**
   * @param {Entry} entry
   * @param {Profile} profile
   * @param {number} color
   * @param {Formats} formats
   * @param {readonly number[]} widths of columns
   */
  render(entry, { name = entry.member, avatar }, color, formats, widths) {
    const { rank, member } = entry;
    setAttribute(this.element, 'data-member', member);
    setAttribute(this.element, 'data-color', String(color));
    setText(this.#rank, numbers.format(rank));
    setText(this.#name, name);
    this.#name.title = member;
    renderScore(this.#score, entry, formats, widths);
    this.#portrait.render(member, name, avatar);
  }
}

export class Standing {
  #list;
  #heads;
  /** Of columns: no column becomes narrower. @type {number[]} */
  #widths = [];
  /** @type {Formats | null} */
  #formats = null;
  /** By member. @type {Map<string, StandingRow>} */
  #rows = new Map();

  /**
   * @param {HTMLElement} list holds the rows that the server rendered, until the first render
   * @param {HTMLElement} heads of columns
   */
  constructor(list, heads) {
    this.#list = list;
    this.#heads = heads;
  }

  /**
   * @param {readonly Entry[]} entries
   * @param {ReadonlyMap<string, Profile>} profiles
   * @param {(member: string) => number} colorOf
   * @param {Formats} formats
   */
  render(entries, profiles, colorOf, formats) {
    if (!this.#list.hasAttribute('data-placed')) this.#list.replaceChildren();
    this.#list.setAttribute('data-placed', '');
    const { heads = [] } = formats;
    const before = formats === this.#formats ? this.#widths : [];
    this.#formats = formats;
    this.#widths = columnWidths(heads, entries).map((width, i) => Math.max(width, before[i] ?? 0));
    renderColumns(this.#heads, heads, this.#widths);
    /** @type {Map<string, StandingRow>} */
    const rows = new Map();
    for (const { member } of entries) rows.set(member, this.#rows.get(member) ?? new StandingRow());
    for (const [member, row] of this.#rows) if (!rows.has(member)) row.element.remove();
    this.#rows = rows;
    // Rows keep their order for screen readers. Their place on the screen is a property, so that they glide.
    let next = this.#list.firstElementChild;
    entries.forEach((entry, i) => {
      const row = /** @type {StandingRow} */ (rows.get(entry.member));
      row.render(entry, profiles.get(entry.member) ?? {}, colorOf(entry.member), formats, this.#widths);
      setProperty(row.element, '--place', i);
      if (next === row.element) next = next.nextElementSibling;
      else this.#list.insertBefore(row.element, next);
    });
  }

  /** @param {string} member '': none */
  highlight(member) {
    for (const [other, { element }] of this.#rows) setAttribute(element, 'aria-current', other === member && 'true');
  }
}
