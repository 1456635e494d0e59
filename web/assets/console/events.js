// @ts-check

/** The events: a list of their definitions, and the view of each (event.js). */

import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { request } from './api.js';
import { listHead, NEW, showEditor } from './definition.js';
import { showEvent } from './event.js';
import { boardLink, field, input, link } from './form.js';
import { count } from './format.js';
import { pagedTable } from './table.js';

const PAGE = 100;

/** Boards in a line of the list. */
const MAX_BOARDS = 6;

/** @type {import('./console.js').Show} */
export async function show(view, [name, verb], signal) {
  if (name === undefined) return list(view, signal);
  view.append(createElement('p', 'crumbs', link('Events', '/events')));
  if (name === NEW || verb === 'edit') showEditor(view, 'events', name, signal);
  else await showEvent(view, name, signal);
}

/**
 * @param {HTMLElement} view
 * @param {AbortSignal} signal
 */
async function list(view, signal) {
  view.append(listHead('Events', 'events'));
  const { events } = await request('GET', 'v1/events', { signal });
  const filter = input('filter', { type: 'search' });
  const filters = createElement('form', 'row event-filter', field('Name or board', filter));
  const found = createElement('p', 'quiet-text');
  found.role = 'status';
  const panel = createElement('section', 'panel');
  view.append(filters, panel);
  filters.addEventListener('submit', (event) => event.preventDefault());
  filter.addEventListener('input', showMatches);
  await showMatches();

  async function showMatches() {
    const text = filter.value.trim().toLowerCase();
    const isMatch = (/** @type {any} */ event) => [event.event, ...boardsOf(event)].some((name) => name.toLowerCase().includes(text));
    const matches = events.filter(isMatch);
    found.textContent = `${count(matches.length)} of ${count(events.length)}`;
    const load = async (/** @type {string | undefined} */ cursor) => {
      const end = Number(cursor ?? 0) + PAGE;
      return { items: matches.slice(end - PAGE, end), cursor: end < matches.length ? String(end) : null };
    };
    const none = events.length > 0 ? 'No event matches.' : 'No event is defined that your key may read.';
    panel.replaceChildren(found, await pagedTable(['Event', 'Counts on', 'Sender'], load, cells, none));
  }
}

/** @param {any} definition */
function cells(definition) {
  const boards = boardsOf(definition);
  const links = boards.slice(0, MAX_BOARDS).flatMap((board, i) => [i > 0 ? ', ' : '', boardLink(board)]);
  if (boards.length > MAX_BOARDS) links.push(` and ${count(boards.length - MAX_BOARDS)} more`);
  const name = link(definition.event, `/events/${encodeSegment(definition.event)}`);
  return [name, createElement('span', '', ...links), definition.sender ?? ''];
}

/**
 * @param {any} definition
 * @returns {string[]} the boards of the updates, as the definition names them
 */
function boardsOf({ updates }) {
  return [...new Set(updates.map((/** @type {any} */ { board }) => board))];
}
