// @ts-check

/** A portrait of a member: its avatar, or a circle with the first letter of its name in a color that depends on its id. */

import { hueOf, initialOf, setAvatar } from '../../kit/portrait.js';
import { createElement, setProperty, setText } from './dom.js';

export class Portrait {
  element;
  #initial;
  #image;

  /** @param {Element | null} [element] that of the server */
  constructor(element) {
    this.element = element instanceof HTMLElement ? element : createElement('span', 'portrait', createElement('span', 'portrait-initial'));
    this.#initial = /** @type {HTMLElement} */ (this.element.firstElementChild);
    this.#image = this.element.querySelector('img') ?? document.createElement('img');
    this.element.append(this.#image);
    // Screen readers read the name beside it.
    this.element.ariaHidden = 'true';
  }

  /** @returns {boolean} whether there is an image that the page may show */
  get hasImage() {
    return this.#image.dataset.src !== '';
  }

  /**
   * @param {string} id
   * @param {string} name
   * @param {string} [avatar]
   */
  render(id, name, avatar) {
    setProperty(this.element, '--hue', hueOf(id));
    setText(this.#initial, initialOf(name));
    setAvatar(this.#image, avatar);
  }
}

/** By the element around it. @type {WeakMap<Element, Portrait>} */
const portraits = new WeakMap();

/**
 * @param {Element} parent
 * @returns {Portrait} the one in an element; else a new one, which is not in it yet
 */
export function portraitIn(parent) {
  const portrait = portraits.get(parent) ?? new Portrait(parent.querySelector('.portrait'));
  portraits.set(parent, portrait);
  return portrait;
}

/**
 * Shows the icon of a board first in an element. As on the server, there is nothing in place of an icon that the page may not show.
 *
 * @param {Element} parent
 * @param {string} board
 * @param {string} title
 * @param {string} [icon]
 */
export function renderIcon(parent, board, title, icon) {
  const portrait = portraitIn(parent);
  portrait.render(board, title, icon);
  if (!portrait.hasImage) portrait.element.remove();
  else if (!parent.contains(portrait.element)) parent.prepend(portrait.element);
}
