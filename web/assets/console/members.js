// @ts-check

/** The members: search in a kind, one member, and acts on many at once. */

import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { request } from './api.js';
import { bulkPanel } from './bulk.js';
import { Definitions } from './definitions.js';
import { field, input, memberLink, problemNote, select } from './form.js';
import { showMember } from './member.js';
import { may, session } from './session.js';
import { table } from './table.js';

const LIMIT = 50;

/** @type {import('./console.js').Show} */
export async function show(view, path, signal) {
  const [kind = '', member] = path;
  if (member !== undefined) return showMember(view, kind, member, signal);
  view.append(createElement('h1', '', 'Members'));
  const definitions = await Definitions.read(signal);
  const kinds = definitions.kinds.filter((name) => ['read', 'moderate'].some((scope) => may(scope, 'kinds', name)));
  const moderated = kinds.filter((name) => may('moderate', 'kinds', name));
  view.append(searchPanel(kinds, kind, signal));
  if (moderated.length || session?.boards.length) view.append(bulkPanel(moderated, definitions, signal));
}

/**
 * @param {string[]} kinds
 * @param {string} kind
 * @param {AbortSignal} signal of the end of the view
 */
function searchPanel(kinds, kind, signal) {
  const of = select('kind', kinds, kind);
  const text = input('q', { type: 'search', required: true, maxLength: 128 });
  const go = createElement('button', 'button primary', 'Search');
  const form = createElement('form', 'row', field('Kind', of), field('Name or id', text), go);
  const found = createElement('div', 'section-content');
  found.role = 'status';
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    search();
  });
  if (kinds.length === 0) return createElement('p', 'empty', 'There is no kind whose members your key may see.');
  return createElement('section', 'panel', form, found);

  async function search() {
    const [name, q] = [of.value, text.value.trim()];
    // A member needs no profile, and no score: its id alone opens it.
    const open = createElement('p', '', 'By its id: ', memberLink(name, q, `open ${q}`));
    try {
      const answer = await request('GET', `v1/members/${encodeSegment(name)}`, { query: { q, limit: LIMIT }, signal });
      const rows = answer.members.map((/** @type {any} */ m) => [memberLink(name, m.member, m.name ?? m.member),
        createElement('bdi', '', m.member), m.hidden ? 'on all boards' : '']);
      const note = rows.length === 0 ? 'No profile has this name or id.' : answer.complete ? '' : 'There may be more: give more letters.';
      const hits = rows.length ? [table(['Name', 'Id', 'Hidden'], rows)] : [];
      found.replaceChildren(...hits, createElement('p', 'quiet-text', note), open);
    } catch (error) {
      if (!signal.aborted) found.replaceChildren(open, problemNote(error));
    }
  }
}
