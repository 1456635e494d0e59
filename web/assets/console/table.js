// @ts-check

/** Names with their values, and tables, also in pages. On a phone each row is a card, with the name of the column before each value. */

import { createElement } from '../shared/dom.js';
import { request } from './api.js';
import { button, problemNote } from './form.js';

/** @typedef {{ items: any[], cursor: string | null }} Page */

/**
 * @param {string} name
 * @param {Node | string} value
 * @returns {HTMLElement} one of a list of facts, <dl class="facts">
 */
export function fact(name, value) {
  return createElement('div', '', createElement('dt', '', name), createElement('dd', '', value));
}

/**
 * @param {string[]} columns up to three, of short values, stay a table on a phone
 * @param {(Node | string)[][]} rows
 * @returns {HTMLTableElement}
 */
export function table(columns, rows = []) {
  const head = createElement('tr', '', ...columns.map((name) => Object.assign(createElement('th', '', name), { scope: 'col' })));
  const body = createElement('tbody', '');
  const element = createElement('table', columns.length > 3 ? 'table' : 'table short', createElement('thead', '', head), body);
  for (const cells of rows) body.append(tableRow(columns, cells));
  return element;
}

/**
 * @param {string[]} columns
 * @param {(Node | string)[]} cells
 * @returns {HTMLTableRowElement}
 */
export function tableRow(columns, cells) {
  const row = createElement('tr', '');
  for (const [i, cell] of cells.entries()) {
    const element = createElement('td', '', cell);
    element.dataset.column = columns[i];
    row.append(element);
  }
  return row;
}

/**
 * @param {string} path of a list of the API, which has a cursor
 * @param {string} items the field of its answer with the items
 * @param {AbortSignal} signal
 * @param {{ [name: string]: string | number | undefined }} [query]
 * @returns {(cursor: string | undefined) => Promise<Page>}
 */
export function pagesOf(path, items, signal, query = { limit: 20 }) {
  return async (cursor) => {
    const page = await request('GET', path, { query: { ...query, cursor }, signal });
    return { items: page[items], cursor: page.cursor };
  };
}

/**
 * A table that grows by a page when the operator asks for more.
 *
 * @param {string[]} columns
 * @param {(cursor: string | undefined) => Promise<Page>} load
 * @param {(item: any) => (Node | string)[]} cells
 * @param {string} none the text in place of an empty table
 * @returns {Promise<HTMLElement>} with the first page
 */
export async function pagedTable(columns, load, cells, none) {
  const list = table(columns);
  list.tabIndex = -1; // gets the focus of the button that goes with the last page
  const more = button('Show more', add);
  const note = createElement('p', 'empty', none);
  const element = createElement('div', 'paged', list, note, more);
  /** @type {string | undefined} */
  let cursor;
  let full = false; // of rows: pages may be empty before the last one
  let loading = false;
  await add();
  return element;

  async function add() {
    if (loading) return;
    loading = true; // the button stays enabled: a disabled one loses the focus
    element.querySelector('.problem')?.remove();
    try {
      const page = await load(cursor);
      cursor = page.cursor ?? undefined;
      list.tBodies[0].append(...page.items.map((item) => tableRow(columns, cells(item))));
      full ||= page.items.length > 0;
    } catch (error) {
      element.append(problemNote(error));
    }
    loading = false;
    if (cursor === undefined && document.activeElement === more) list.focus();
    more.hidden = cursor === undefined;
    list.hidden = !full;
    note.hidden = full || cursor !== undefined || element.querySelector('.problem') !== null;
  }
}

/** The list that each place waits for. @type {WeakMap<HTMLElement, Promise<HTMLElement>>} */
const awaited = new WeakMap();

/**
 * Shows a list in a place, unless a later one was asked for meanwhile.
 *
 * @param {HTMLElement} place
 * @param {Promise<HTMLElement>} list
 * @param {...HTMLElement} before what stands before the list
 */
export async function showList(place, list, ...before) {
  awaited.set(place, list);
  const element = await list;
  if (awaited.get(place) === list) place.replaceChildren(...before, element);
}
