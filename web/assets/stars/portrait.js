// @ts-check

/** What stands for a person: the avatar, or a circle with the first letter of the name in a colour of their own. */

import { setProperty, setText, writeImage } from '../../kit/rows.js';
import { make } from '../shared/page.js';

const graphemes = new Intl.Segmenter(document.documentElement.lang, { granularity: 'grapheme' });

/**
 * @param {string} name
 * @returns {string} its first letter or sign, as a reader takes it: one may be of several code points
 */
export function initialOf(name) {
  for (const { segment } of graphemes.segment(name.replace(/^[\s\p{Cf}]+/u, ''))) return segment.toUpperCase();
  return '';
}

/**
 * @param {string} id
 * @returns {number} 0 to 359, the same each time
 */
export function hueOf(id) {
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode(id)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0) % 360;
}

export class Portrait {
  #initial = make('span', 'portrait-initial');
  #image = document.createElement('img');
  element = make('span', 'portrait', this.#initial, this.#image);

  constructor() {
    // The name beside it says who it is.
    this.element.ariaHidden = 'true';
    this.#image.hidden = true;
  }

  /**
   * @param {string} id
   * @param {string} name
   * @param {string} [avatar]
   */
  write(id, name, avatar) {
    setProperty(this.element, '--hue', hueOf(id));
    setText(this.#initial, initialOf(name));
    writeImage(this.#image, avatar);
  }
}
