// @ts-check

/** A portrait of a member: its avatar, or a circle with the first letter of its name in a color that depends on its id. */

import { setAvatar } from '../../kit/rows.js';
import { createElement, setProperty, setText } from '../shared/dom.js';

const graphemes = new Intl.Segmenter(document.documentElement.lang, { granularity: 'grapheme' });

/**
 * @param {string} name
 * @returns {string} the first character as a reader sees it, which may be several code points
 */
export function initialOf(name) {
  for (const { segment } of graphemes.segment(name.replace(/^[\s\p{Cf}]+/u, ''))) return segment.toUpperCase();
  return '';
}

/**
 * @param {string} id
 * @returns {number} 0 to 359, always the same for an id
 */
export function hueOf(id) {
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode(id)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0) % 360;
}

export class Portrait {
  #initial = createElement('span', 'portrait-initial');
  #image = document.createElement('img');
  element = createElement('span', 'portrait', this.#initial, this.#image);

  constructor() {
    // Screen readers read the name beside it.
    this.element.ariaHidden = 'true';
    this.#image.hidden = true;
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
