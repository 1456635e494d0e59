// @ts-check

/**
 * A file of the kit that the first one (rankcast.js) loads for a board with columns: a line of heads above the list, and in each row
 * a value for each column. The columns are as wide as the widest of their values, and of the words of their heads. For what the
 * files say to each other, see on-demand.js.
 *
 * @import {Column} from './rankcast.js'
 * @import {Formats, Render} from './row.js'
 */

import { columnFormats, headsOf, headWidth, roomOf, valueOf, valueWidth, emOf, emOfAll } from './column-texts.js';
import sheet from './columns.css' with { type: 'css' };
import { part, setAttribute, setProperty, setText } from './dom.js';
import { gapText, language, phrase, roll, scoreFormat, textIn } from './shared.js';

export { share } from './shared.js';

/**
 * @param {HTMLElement} list of an element
 * @param {readonly Column[]} columns of its board
 * @returns {Formats} which show the score of a row as the values of its columns
 */
export function showColumns(list, columns) {
  const root = /** @type {ShadowRoot} */ (list.getRootNode());
  const stage = /** @type {HTMLElement} */ (list.parentElement);
  const writer = { gapText, language, phrase, scoreFormat, textIn };
  const heads = headsOf(columns, writer);
  // After the sheet of the element, and before those of a page of this server.
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.splice(1, 0, sheet);
  // A row says the name of each column itself.
  const line = part('div', 'heads', part('span', 'columns', ...heads.map(newHead)));
  line.ariaHidden = 'true';
  root.querySelector('[part=heads]')?.remove();
  stage.prepend(line);
  /** The widest values, in figures. */
  const figures = heads.map(() => 1);
  const setWidths = () => {
    const widths = heads.map((head, i) => Math.max(headWidth(head), figures[i]));
    setAttribute(stage, 'data-room', String(roomOf(widths)));
    // Beside the names, each column is as wide as it needs. In a line of their own, heads have what the values leave.
    stage.style.setProperty('--_shares', widths.map((width, i) => `minmax(${emOf(figures[i])}em, ${width}fr)`).join(' '));
    setProperty(stage, '--_room', emOfAll(widths));
    setProperty(stage, '--_figures', emOfAll(figures));
  };
  setWidths();

  /** @type {Render} */
  const render = (field, item, before) => {
    setAttribute(field, 'data-columns', '');
    setAttribute(field, 'data-gain', false);
    setAttribute(field, 'title', false);
    setProperty(field, '--_score', 1);
    if (item.score === null) return setText(field, '');
    let cells = field.querySelector('[part=columns]');
    if (!cells) field.replaceChildren((cells = part('span', 'columns', ...heads.map(newCell))));
    heads.forEach((head, i) => {
      const cell = /** @type {Element} */ (cells.children[i]);
      const value = /** @type {HTMLElement} */ (cell.lastElementChild);
      const now = valueOf(head, item);
      const text = head.short(now);
      setAttribute(cell, 'title', text !== head.exact(now) && head.exact(now));
      const gain = before ? now - valueOf(head, before) : 0;
      setAttribute(cell, 'data-gain', gain !== 0 && (gain > 0 ? '+' : '-') + gapText(head.short(Math.abs(gain))));
      if (gain) roll(value, text);
      else setText(value, text);
      const width = valueWidth(text);
      if (width <= figures[i]) return;
      figures[i] = width;
      setWidths();
    });
  };
  const formats = columnFormats(columns, writer);
  return { ...formats, short: formats.exact, render };
}

/** @param {import('./column-texts.js').Head} head */
function newHead({ name, title, unit }) {
  const element = part('span', 'head', title, ...(unit ? [' ', part('small', 'unit', unit)] : []));
  element.title = unit ? `${title}, ${unit}` : title;
  element.dataset.column = name;
  return element;
}

/** @param {import('./column-texts.js').Head} head */
function newCell({ name, title, isAscending }) {
  const element = part('span', 'column', part('span', 'column-name', title, ' '), part('span', 'value'));
  element.dataset.column = name;
  setAttribute(element, 'data-asc', isAscending && '');
  return element;
}
