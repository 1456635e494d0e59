// @ts-check

/** Parts of forms, notes about problems, and messages of what was done. */

import { newID } from '../../kit/connection.js';
import { byId, createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { Problem } from './api.js';

/** How long a message of what was done stays, as its animation in console.css lasts. */
const DONE_MS = 6_000;

/**
 * @param {string} label
 * @param {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} control its name is that of the field in the API
 * @param {string} [hint]
 * @returns {HTMLElement} the control with its label and its hint
 */
export function field(label, control, hint = '') {
  control.id ||= `field-${newID()}`;
  const name = createElement('label', 'field-label', label);
  name.htmlFor = control.id;
  const element = createElement('div', 'field', name, control);
  if (hint) {
    const note = createElement('p', 'field-hint', hint);
    note.id = `${control.id}-hint`;
    control.setAttribute('aria-describedby', note.id);
    element.append(note);
  }
  return element;
}

/**
 * @param {string} name of the field in the API
 * @param {Partial<HTMLInputElement>} [properties]
 * @returns {HTMLInputElement}
 */
export function input(name, properties = {}) {
  const names = { autocomplete: 'off', spellcheck: false, autocapitalize: 'none' };
  return Object.assign(document.createElement('input'), { name, ...names, ...properties });
}

/**
 * @param {string} name of the field in the API
 * @param {readonly (string | [value: string, label: string])[]} options
 * @param {string} [value]
 */
export function select(name, options, value = '') {
  const element = Object.assign(document.createElement('select'), { name });
  for (const option of options) {
    const [of, label] = typeof option === 'string' ? [option, option] : option;
    element.add(new Option(label, of, false, of === value));
  }
  return element;
}

/**
 * @param {string} text
 * @param {(event: MouseEvent) => void} onClick
 * @param {'' | 'primary' | 'danger' | 'quiet'} [look]
 */
export function button(text, onClick, look = '') {
  const element = createElement('button', `button ${look}`.trim(), text);
  element.type = 'button';
  element.addEventListener('click', onClick);
  return element;
}

/**
 * @param {string} text
 * @param {string} path of a view: `/boards/stars`, whose names are encoded
 * @returns {HTMLAnchorElement} the link; a name in it keeps its own direction
 */
export function link(text, path) {
  const element = createElement('a', 'link', createElement('bdi', '', text));
  element.href = `#${path}`;
  return element;
}

/**
 * @param {string} board also with a period
 * @param {string} [text]
 */
export function boardLink(board, text = board) {
  return link(text, `/boards/${encodeSegment(board)}`);
}

/**
 * @param {string} kind
 * @param {string} member
 * @param {string} [text]
 */
export function memberLink(kind, member, text = member) {
  return link(text, `/members/${encodeSegment(kind)}/${encodeSegment(member)}`);
}

/**
 * @param {unknown} error
 * @returns {HTMLElement} a note that tells the operator, and screen readers at once
 */
export function problemNote(error) {
  if (!(error instanceof Error)) throw error;
  if (!(error instanceof Problem)) reportError(error);
  const note = createElement('p', 'problem', error.message);
  note.role = 'alert';
  return note;
}

/**
 * Shows a problem at the field that it names, or at the end of the form, and takes away the one before.
 *
 * @param {HTMLFormElement} form
 * @param {unknown} [error] undefined: there is none any more
 */
export function showProblem(form, error) {
  for (const old of form.querySelectorAll('.problem')) old.remove();
  for (const old of form.querySelectorAll('[aria-invalid]')) old.removeAttribute('aria-invalid');
  if (error === undefined) return;
  const name = error instanceof Problem ? error.field : '';
  // An event names its fields: a control with the name of a property of forms, such as elements or append, hides that property.
  const at = name && form.querySelector(`[name="${CSS.escape(name)}"]`);
  const note = problemNote(error);
  if (at instanceof HTMLElement) {
    at.ariaInvalid = 'true';
    at.closest('.field')?.append(note);
    at.focus();
  } else {
    form.appendChild(note);
    note.scrollIntoView({ block: 'nearest' });
  }
}

/**
 * Tells the operator what was done, for some seconds.
 *
 * @param {string} text
 */
export function announce(text) {
  const place = byId('done', HTMLElement);
  const message = createElement('p', 'done', text);
  place.replaceChildren(message);
  setTimeout(() => message.remove(), DONE_MS); // with reduced motion there is no animation whose end could tell
}
