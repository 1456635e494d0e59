// @ts-check

/**
 * An input with a list of options below it, by the ARIA pattern of a combobox: the focus stays in the input, and the
 * arrows choose an option. The search of the documentation and the search for members use it.
 */

import { setAttribute, setText } from './dom.js';

/**
 * @typedef {{ element: HTMLElement, input: HTMLInputElement, panel: HTMLElement, list: HTMLElement, note: HTMLElement,
 *   status: HTMLElement }} Parts
 */

export class Combobox {
  /** @type {HTMLElement[]} */
  #options = [];
  #selected = -1;
  #parts;
  #search;
  #onEnter;

  /**
   * @param {Parts} parts
   * @param {() => void} search called when the options for the text are wanted
   * @param {() => void} [onEnter] called by Enter while no option is selected
   */
  constructor(parts, search, onEnter) {
    const { element, input, panel, list } = (this.#parts = parts);
    this.#search = search;
    this.#onEnter = onEnter;
    input.addEventListener('input', () => {
      this.#select(-1); // the options are those for an earlier text
      search();
    });
    input.addEventListener('click', search);
    input.addEventListener('keydown', (event) => this.#onKey(event));
    // A click on an option leaves the focus in the box.
    panel.addEventListener('mousedown', (event) => event.preventDefault());
    list.addEventListener('click', () => this.close());
    element.addEventListener('focusout', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) this.close();
    });
  }

  /** @returns {boolean} whether the reader is in the box */
  get active() {
    return this.#parts.element.contains(document.activeElement);
  }

  /**
   * @param {readonly HTMLElement[]} options
   * @param {string} note shown above the options
   * @param {string} status for screen readers
   */
  show(options, note, status) {
    const { input, panel, list } = this.#parts;
    this.#options = [...options];
    options.forEach((option, i) => {
      option.id = `${list.id}-${i}`;
      option.role = 'option';
      option.tabIndex = -1;
    });
    list.replaceChildren(...options);
    list.hidden = options.length === 0;
    setText(this.#parts.status, status);
    setText(this.#parts.note, note);
    panel.hidden = false;
    panel.scrollTop = 0;
    setAttribute(input, 'aria-expanded', String(options.length > 0));
    this.#select(options.length > 0 ? 0 : -1);
  }

  close() {
    const { input, panel, list, status } = this.#parts;
    panel.hidden = true;
    this.#options = [];
    list.replaceChildren();
    setText(status, '');
    setAttribute(input, 'aria-expanded', 'false');
    this.#select(-1);
  }

  /** @param {number} i -1: none */
  #select(i) {
    this.#selected = i;
    this.#options.forEach((option, j) => setAttribute(option, 'aria-selected', String(i === j)));
    setAttribute(this.#parts.input, 'aria-activedescendant', this.#options[i]?.id);
    this.#options[i]?.scrollIntoView({ block: 'nearest' });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.isComposing) return;
    const n = this.#options.length;
    switch (event.key) {
      case 'ArrowDown':
        if (n > 0) this.#select((this.#selected + 1) % n);
        else this.#search();
        break;
      case 'ArrowUp':
        if (n > 0) this.#select((this.#selected + n - 1) % n);
        break;
      case 'Enter':
        if (this.#selected >= 0) this.#options[this.#selected].click();
        else this.#onEnter?.();
        break;
      case 'Escape':
        // The second one leaves the box.
        if (this.#parts.panel.hidden) this.#parts.input.blur();
        this.close();
        break;
      default:
        return;
    }
    event.preventDefault();
  }
}
