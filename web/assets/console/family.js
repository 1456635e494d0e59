// @ts-check

/** A family: its instances, by pages, and its definition. */

import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { request } from './api.js';
import { boardCells, searchBox } from './board-list.js';
import { definitionHead, definitionText } from './definition.js';
import { count } from './format.js';
import { pagedTable, pagesOf, showList } from './table.js';

/**
 * @param {HTMLElement} view
 * @param {string} family
 * @param {AbortSignal} signal
 */
export async function showFamily(view, family, signal) {
  const path = `v1/boards/${encodeSegment(family)}`;
  const { instances } = await request('GET', path, { signal });
  const lost = `This deletes the family and its ${count(instances)} instances, with all their scores. It cannot be undone.`;
  const prefix = family.slice(0, family.indexOf('{'));
  const list = createElement('section', 'panel');
  view.append(definitionHead(family, { of: 'boards', defined: family, lost: [lost] }),
    searchBox(`Find instances whose names begin with ${prefix}`, fill, signal), list);
  await fill('');
  view.append(createElement('section', 'panel', createElement('h2', '', 'Definition'), await definitionText('boards', family, signal)));

  /** @param {string} text */
  async function fill(text) {
    const asked = text && (text.startsWith(prefix) ? text : prefix + text);
    const load = pagesOf(`${path}/overview`, 'boards', signal, { limit: 50, prefix: asked });
    const columns = ['Board', 'Members', 'Changes a minute', 'State'];
    await showList(list, pagedTable(columns, load, (item) => boardCells(columns, item), 'No instance has such a name.'),
      createElement('h2', '', `${count(instances)} instances`));
  }
}
