// @ts-check

/** The acts of moderators and administrators, by filters, and the erasures that are under way. */

import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { boardLink, field, input, link, memberLink, select } from './form.js';
import { count, scoreText, time, UNKNOWN } from './format.js';
import { pagedTable, pagesOf, showList } from './table.js';

const ACTIONS = ['hide', 'show', 'set', 'take_back', 'erase', 'freeze', 'unfreeze', 'reveal', 'define_board', 'delete_board',
  'define_event', 'delete_event'];

/**
 * The path may have filters: /audit/kind/user/member/u4.
 *
 * @type {import('./console.js').Show}
 */
export async function show(view, path, signal) {
  const filters = createElement('form', 'row');
  filters.append(
    field('Action', select('action', [['', 'all'], ...ACTIONS.map(named)])),
    ...['Board', 'Kind', 'Member', 'Event', 'By'].map((label) => field(label, input(label.toLowerCase(), { type: 'search' }))),
  );
  for (const [i, name] of path.entries()) {
    const filter = filters.elements.namedItem(name);
    const isControl = filter instanceof HTMLInputElement || filter instanceof HTMLSelectElement;
    if (i % 2 === 0 && isControl) filter.value = path[i + 1] ?? '';
  }
  const acts = createElement('section', 'panel');
  const erasures = createElement('section', 'panel');
  view.append(createElement('h1', '', 'Audit'), filters, acts, erasures);
  filters.addEventListener('submit', (event) => event.preventDefault());
  filters.addEventListener('change', list);
  await Promise.all([list(), listErasures()]);

  async function list() {
    const query = Object.fromEntries([...new FormData(filters)].map(([name, value]) => [name, String(value).trim()]));
    const load = pagesOf('v1/audit', 'audit', signal, { ...query, limit: 50 });
    const columns = ['When', 'By', 'Action', 'About', 'Change', 'Reason'];
    await showList(acts, pagedTable(columns, load, actCells, 'Nothing was done that matches.'));
  }

  async function listErasures() {
    const load = pagesOf('v1/erasures', 'erasures', signal);
    const none = 'No member is being erased.';
    erasures.replaceChildren(createElement('h2', '', 'Erasures'),
      await pagedTable(['Member', 'Began', 'Ended', 'Boards', 'Removed from', 'Left'], load, erasureCells, none));
  }
}

/**
 * @param {string} action
 * @returns {[string, string]} the action, and how the operator reads it
 */
function named(action) {
  return [action, action.replaceAll('_', ' ')];
}

/** @param {any} act */
function actCells({ at, by, action, board, kind, event, member, id, score, was, reason, columns, was_columns }) {
  const about = createElement('span', '');
  const add = (/** @type {(Node | string)[]} */ ...parts) => about.append(...(about.childNodes.length ? [', '] : []), ...parts);
  if (member) add(kind ? memberLink(kind, member) : createElement('bdi', '', member));
  if (kind) add('kind ', createElement('bdi', '', kind));
  if (board) add('board ', boardLink(board));
  if (event) add('event ', link(event, `/events/${encodeSegment(event)}`));
  if (id) add('id ', createElement('bdi', '', id));
  const change = score === undefined ? '' : `${scoreText({ score: was, columns: was_columns })} → ${scoreText({ score, columns })}`;
  const [author, why] = [by ?? UNKNOWN, reason ?? ''].map((text) => createElement('bdi', '', text));
  return [time(at), author, named(action)[1], about, change, why];
}

/** @param {any} erasure */
function erasureCells({ kind, member, boards, removed, left, began, ended }) {
  return [memberLink(kind, member), time(began), ended ? time(ended) : 'under way', count(boards), count(removed), count(left)];
}
