// @ts-check

/** A portrait of a member: its avatar, or a circle with the first letter of its name in a color that depends on its id. */

import { hueOf, initialOf, setAvatar } from '../../kit/rows.js';
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
