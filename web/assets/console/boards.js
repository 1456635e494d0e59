// @ts-check

/** The boards and families, by pages; or, with a name, one of them. */

import { createElement } from '../shared/dom.js';
import { request } from './api.js';
import { boardCells, searchBox } from './board-list.js';
import { showBoard } from './board.js';
import { listHead, NEW, showEditor } from './definition.js';
import { showDeliveries } from './deliveries.js';
import { showFamily } from './family.js';
import { link } from './form.js';
import { mayAny } from './session.js';
import { pagedTable, showList } from './table.js';
import { watchersByBoard } from './watchers.js';

/** @type {import('./console.js').Show} */
export async function show(view, [board, verb], signal) {
  if (board === undefined) return showBoards(view, signal);
  const crumbs = createElement('p', 'crumbs', link('Boards', '/boards'));
  view.append(crumbs);
  if (board === NEW || verb === 'edit') showEditor(view, 'boards', board, signal);
  else if (/[{]/.test(board)) await showFamily(view, board, signal);
  else await showBoard(view, crumbs, board, signal);
}

/**
 * @param {HTMLElement} view
 * @param {AbortSignal} signal
 */
async function showBoards(view, signal) {
  const isAdmin = mayAny('admin');
  const watching = isAdmin ? watchersByBoard(signal) : undefined;
  const columns = ['Board', 'Members', 'Changes a minute', 'Memory', ...(watching ? ['Watchers'] : []), 'State'];
  const list = createElement('section', 'panel');
  view.append(listHead('Boards', 'boards'), searchBox('Find by name or title', fill, signal), list);
  await fill('');
  if (isAdmin) await showDeliveries(view, signal);

  /** @param {string} search */
  async function fill(search) {
    /** @type {((board: string) => string) | undefined} */
    let watchers;
    const load = async (/** @type {string | undefined} */ cursor) => {
      const [page, now] = await Promise.all([request('GET', 'v1/overview', { query: { limit: 50, search, cursor }, signal }), watching]);
      watchers = now;
      const items = [...page.boards, ...page.families].sort((a, b) => (a.board < b.board ? -1 : 1));
      return { items, cursor: page.cursor };
    };
    const none = search ? 'No board matches.' : 'There is no board yet.';
    await showList(list, pagedTable(columns, load, (item) => boardCells(columns, item, watchers), none));
  }
}
