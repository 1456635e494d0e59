// @ts-check

/** The overlay itself in a frame over a picture, in the size that it has in OBS, scaled to the page. */

import { byId, createElement, setProperty } from '../shared/dom.js';
import { withToken } from '../shared/token.js';

/** A reader who drags a slider or types sees the overlay once the hand rests. */
export const PAUSE_MS = 200;

export class Preview {
  #picture = byId('picture', HTMLElement);
  #canvas = byId('own-picture', HTMLCanvasElement);
  #title;
  #shown = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {ImageBitmap | undefined} */
  #own;

  /** @param {string} title of the frame, for screen readers */
  constructor(title) {
    this.#title = title;
    new ResizeObserver(() => this.#fit()).observe(this.#picture);
  }

  /**
   * @param {URL} address
   * @param {number} width of the source, px
   * @param {number} height
   */
  show(address, width, height) {
    setProperty(this.#picture, '--width', width);
    setProperty(this.#picture, '--height', height);
    this.#fit();
    this.#drawOwn();
    if (address.href === this.#shown) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#load(address), this.#shown ? PAUSE_MS : 0);
    this.#shown = address.href;
  }

  /** @param {URL} address */
  #load(address) {
    for (const late of this.#picture.querySelectorAll('iframe[data-loading]')) late.remove();
    const frame = createElement('iframe', '');
    frame.title = this.#title;
    frame.tabIndex = -1;
    frame.allow = 'autoplay';
    frame.dataset.loading = '';
    // The overlay of before stays until the next one is there.
    frame.addEventListener('load', () => {
      delete frame.dataset.loading;
      for (const other of this.#picture.querySelectorAll('iframe')) if (other !== frame) other.remove();
    });
    frame.src = withToken(address).href;
    this.#picture.append(frame);
  }

  #fit() {
    const width = Number(this.#picture.style.getPropertyValue('--width'));
    if (width) setProperty(this.#picture, '--fit', this.#picture.clientWidth / width);
  }

  /**
   * @param {string} name of a picture of builder.css, or `own`
   * @param {File} [file] the reader's own
   * @returns {Promise<boolean>} whether the picture can be shown
   */
  async setPicture(name, file) {
    if (file) {
      try {
        const own = await createImageBitmap(file);
        this.#own?.close();
        this.#own = own;
      } catch {
        return false; // it is no picture
      }
    }
    this.#picture.dataset.picture = name;
    this.#canvas.hidden = name !== 'own' || !this.#own;
    this.#drawOwn();
    return true;
  }

  /** Draws the reader's own picture, which fills the source: a policy that allows no address of it needs no change. */
  #drawOwn() {
    const { style } = this.#picture;
    if (!this.#own || this.#canvas.hidden) return;
    const width = (this.#canvas.width = Number(style.getPropertyValue('--width')));
    const height = (this.#canvas.height = Number(style.getPropertyValue('--height')));
    const scale = Math.max(width / this.#own.width, height / this.#own.height);
    const [w, h] = [this.#own.width * scale, this.#own.height * scale];
    this.#canvas.getContext('2d')?.drawImage(this.#own, (width - w) / 2, (height - h) / 2, w, h);
  }
}
