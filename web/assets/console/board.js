// @ts-check

/** A board: what it is, its first members, its hidden members, its periods, its definition, and what an administrator does. */

import { formatsOf } from '../shared/board-display.js';
import { createElement, replaceItems } from '../shared/dom.js';
import { encodeSegment, pageURL } from '../shared/links.js';
import { repeat, request } from './api.js';
import { searchBox } from './board-list.js';
import { definitionHead, definitionText } from './definition.js';
import { boardLink, memberLink, problemNote } from './form.js';
import { count, scoreText, size, time, UNKNOWN } from './format.js';
import { freezePanel } from './freeze.js';
import { may, mayAny } from './session.js';
import { fact, pagedTable, pagesOf, table } from './table.js';
import { transferPanel } from './transfer.js';
import { watchersByBoard } from './watchers.js';

/** The members that the view shows, and how often it reads them again. */
const TOP = 20;
const POLL_MS = 3_000;

/**
 * @param {HTMLElement} view
 * @param {HTMLElement} crumbs the way to the view, which gets the family and the board of a period
 * @param {string} board an instance too; with a period after @
 * @param {AbortSignal} signal
 */
export async function showBoard(view, crumbs, board, signal) {
  const path = `v1/boards/${encodeSegment(board)}`;
  const [plain, period] = board.split('@');
  const about = await request('GET', path, { signal });
  const isAdmin = mayAny('admin');
  const family = /** @type {string} */ (about.definition.board);
  if (family !== plain) crumbs.append(' › ', boardLink(family));
  if (period) crumbs.append(' › ', boardLink(plain));
  const lost = `This deletes the board and all its periods, with ${count(about.total)} members now. It cannot be undone.`;
  const head = definitionHead(board, { of: 'boards', defined: family, ...(!period && { lost: [lost] }) });
  const facts = createElement('dl', 'facts');
  const state = createElement('section', 'panel', facts, links(board));
  const freeze = may('moderate', 'boards', board) ? freezePanel(board, () => poll.start()) : undefined;
  view.append(head, state, ...(freeze ? [freeze.element] : []), membersPanel(board, about.definition, signal));
  const watchers = isAdmin ? await watchersByBoard(signal) : undefined;
  showFacts(about);
  const poll = repeat(POLL_MS, async (stop) => {
    const now = await request('GET', path, { signal: stop });
    showFacts(now);
    await freeze?.update(now);
  }, signal);
  if (may('moderate', 'boards', board)) view.append(await hiddenPanel(board, about.definition.kind, signal));
  if (about.definition.period) view.append(await periodsPanel(plain, signal));
  view.append(createElement('section', 'panel', createElement('h2', '', 'Definition'), await definitionText('boards', family, signal)));
  if (isAdmin) view.append(transferPanel(board, about, signal));

  /** @param {any} is */
  function showFacts(is) {
    const all = [['Members', count(is.total)], ['Last change', time(is.last_change)], ['Memory', size(is.memory)],
      ...(watchers ? [['Watchers', watchers(board)]] : []),
      ...(is.period ? [['Period', is.period]] : []), ...(is.ends ? [['Ends', time(is.ends)]] : []),
      ['State', is.final ? 'final: it does not change any more' : is.frozen ? 'frozen: scores count unseen' : 'open']];
    facts.replaceChildren(...all.map(([name, value]) => fact(name, value)));
  }
}

/** @param {string} board */
function links(board) {
  const all = [['Page', `boards/${encodeSegment(board)}`], ['Overlay', `boards/${encodeSegment(board)}/overlay`]];
  return createElement('p', 'buttons', ...all.map(([text, path]) => {
    const element = createElement('a', 'button quiet', text);
    element.href = pageURL(path).href;
    return element;
  }));
}

/**
 * @param {string} kind
 * @param {any} entry
 * @returns {Node} the name of a member, with a link to what a moderator may do
 */
function memberName(kind, { member, name }) {
  const id = createElement('small', '', createElement('bdi', '', member));
  return createElement('span', '', memberLink(kind, member, name || member), ...(name ? [' ', id] : []));
}

/**
 * @param {string} board
 * @param {any} definition
 * @param {AbortSignal} signal
 */
function membersPanel(board, { kind, columns }, signal) {
  const path = `v1/boards/${encodeSegment(board)}`;
  const list = createElement('div', 'members-list');
  const { heads } = formatsOf({ columns });
  const scores = (/** @type {any} */ e) => heads?.map(({ name, exact }) => exact(e.columns[name])) ?? [count(e.score)];
  let query = '';
  const poll = repeat(POLL_MS, async (stop) => {
    try {
      const { entries, top } = await (query ? request('GET', `${path}/search`, { query: { q: query, limit: 50 }, signal: stop })
        : request('GET', `${path}/top`, { query: { limit: TOP }, signal: stop }));
      const rows = (entries ?? top).map((/** @type {any} */ e) => [count(e.rank), memberName(kind, e), ...scores(e)]);
      const none = createElement('p', 'empty', query ? 'No member matches.' : 'The board has no members.');
      replaceItems(list, [rows.length ? table(['Rank', 'Member', ...(heads?.map(({ title }) => title) ?? ['Score'])], rows) : none]);
    } catch (error) {
      if (stop.aborted) return;
      list.replaceChildren(problemNote(error));
      throw error;
    }
  }, signal);
  const search = searchBox('Find a member by name or id', (text) => {
    query = text;
    poll.start();
  }, signal);
  return createElement('section', 'panel', createElement('h2', '', 'Members'), search, list);
}

/**
 * @param {string} board
 * @param {string} kind
 * @param {AbortSignal} signal
 */
async function hiddenPanel(board, kind, signal) {
  const load = pagesOf(`v1/boards/${encodeSegment(board)}/hidden`, 'hidden', signal);
  const cells = (/** @type {any} */ is) =>
    [memberName(kind, is), scoreText(is), is.everywhere ? 'all boards of the kind' : 'this board'];
  return createElement('section', 'panel', createElement('h2', '', 'Hidden members'),
    await pagedTable(['Member', 'Score', 'Hidden on'], load, cells, 'No member is hidden.'));
}

/**
 * @param {string} board
 * @param {AbortSignal} signal
 */
async function periodsPanel(board, signal) {
  const { periods } = await request('GET', `v1/boards/${encodeSegment(board)}/periods`, { signal });
  const rows = periods.map((/** @type {any} */ { period, opens, ends, final, frozen, total }) => [
    boardLink(`${board}@${period}`, period || UNKNOWN), time(opens), time(ends), count(total),
    final ? 'final' : frozen ? 'frozen' : Date.parse(ends) < Date.now() ? 'closed: it will be settled' : 'open',
  ]);
  return createElement('section', 'panel', createElement('h2', '', 'Periods'),
    table(['Period', 'Opens', 'Ends', 'Members', 'State'], rows));
}
