// @ts-check

/** The definition of a board or an event: to look at, to edit and to delete. */

import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { request } from './api.js';
import { ask } from './dialog.js';
import { definitionEditor, ONE, readYAML } from './editor.js';
import { announce, button, link } from './form.js';
import { mayAny } from './session.js';

/** @typedef {'boards' | 'events'} Of what definitions are of, as paths name it */

/** Stands for the name of what is not there yet. No name begins so. */
export const NEW = '+new';

/**
 * @param {string} title
 * @param {Of} of
 * @returns {HTMLElement} the head of a list, where an administrator may define a new one
 */
export function listHead(title, of) {
  const head = createElement('div', 'view-head', createElement('h1', '', title));
  if (mayAny('admin')) head.append(linkButton(`New ${ONE[of]}`, `/${of}/${NEW}`, 'primary'));
  return head;
}

/**
 * @param {string} name of a board, also an instance or a period, or of an event
 * @param {{ of: Of, defined: string, lost?: string[] }} options
 * defined: the name of its definition. lost: what a deletion does, for the operator; absent: it cannot be deleted
 * @returns {HTMLElement} the head of its view, where an administrator may edit and delete it
 */
export function definitionHead(name, { of, defined, lost }) {
  const head = createElement('div', 'view-head', createElement('h1', '', createElement('bdi', '', name)));
  if (!mayAny('admin')) return head;
  const edit = linkButton('Edit', `/${of}/${encodeSegment(defined)}/edit`);
  head.append(createElement('div', 'buttons', edit, ...(lost ? [button('Delete …', () => remove(name, of, lost), 'danger')] : [])));
  return head;
}

/**
 * @param {string} name
 * @param {Of} of
 * @param {string[]} lost
 */
async function remove(name, of, lost) {
  const done = await ask({
    title: `Delete this ${ONE[of]}?`,
    content: lost,
    action: 'Delete',
    danger: true,
    typed: name,
    submit: () => request('DELETE', `v1/${of}/${encodeSegment(name)}`),
  });
  if (!done) return;
  announce(`The ${ONE[of]} ${name} is deleted.`);
  location.hash = `#/${of}`;
}

/**
 * Shows the editor of a definition in a view.
 *
 * @param {HTMLElement} view
 * @param {Of} of
 * @param {string} name NEW: the operator names it
 * @param {AbortSignal} signal
 */
export function showEditor(view, of, name, signal) {
  const isNew = name === NEW;
  const title = createElement('h1', '', ...(isNew ? [`New ${ONE[of]}`] : ['Edit ', createElement('bdi', '', name)]));
  const onSaved = (/** @type {string} */ saved) => (location.hash = `#/${of}/${encodeSegment(saved)}`);
  view.append(title, definitionEditor({ of, name: isNew ? '' : name, signal, onSaved }));
}

/**
 * @param {Of} of
 * @param {string} name
 * @param {AbortSignal} signal
 * @returns {Promise<HTMLElement>} the definition as text
 */
export async function definitionText(of, name, signal) {
  const text = createElement('pre', 'code definition', await readYAML(of, name, signal));
  text.tabIndex = 0; // it may scroll
  text.role = 'region';
  text.setAttribute('aria-label', 'Definition');
  return text;
}

/**
 * @param {string} text
 * @param {string} path of a view
 * @param {'' | 'primary'} [look]
 */
function linkButton(text, path, look = '') {
  const element = link(text, path);
  element.className = `button ${look}`.trim();
  return element;
}
