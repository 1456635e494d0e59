// @ts-check

/** Functions that find, make and update elements. All pages use them; some are the kit's. */

import { setProperty } from '../../kit/dom.js';

export { setAttribute, setProperty, setText } from '../../kit/dom.js';

/**
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 * @throws {Error} the page has no element of that type with this id
 */
export function byId(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`the page has no ${type.name} with the id "${id}"`);
  return element;
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {...(Node | string)} content
 * @returns {HTMLElementTagNameMap[Tag]} a new element
 */
export function createElement(tag, className, ...content) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...content);
  return element;
}

/**
 * Opens a dialog over the page, which stays where it is: base.css keeps the room of its scroll bar or gutter.
 *
 * @param {HTMLDialogElement} dialog
 */
export function showModal(dialog) {
  const page = document.documentElement;
  setProperty(page, '--gutter', innerWidth - page.getBoundingClientRect().width);
  dialog.showModal();
}

/**
 * Replaces the items of a list if they differ. Items that stay keep the focus.
 *
 * @param {Element} list
 * @param {readonly HTMLElement[]} items
 */
export function replaceItems(list, items) {
  const html = (/** @type {readonly Element[]} */ elements) => elements.map(({ outerHTML }) => outerHTML).join('');
  if (html([...list.children]) !== html(items)) list.replaceChildren(...items);
}
