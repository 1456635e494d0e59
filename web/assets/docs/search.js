// @ts-check

/**
 * The search box over all pages of the documentation: a combobox with a list. The index comes from the
 * server when the box first gets the focus.
 */

import { fetchJSON } from '../shared/api.js';
import { createElement, setAttribute, setText } from '../shared/dom.js';
import { pageURL } from '../shared/links.js';
import { excerpt, find, marked } from './search-index.js';

/** @typedef {import('./search-index.js').Section} Section */

/** More results than a reader looks through. */
const MOST_RESULTS = 20;

export class Search {
  /** @type {Promise<Section[]> | undefined} */
  #index;
  /** @type {HTMLAnchorElement[]} */
  #options = [];
  #selected = -1;
  #element;
  #input;
  #panel;
  #list;
  #note;
  #status;

  /**
   * @param {{ element: HTMLElement, input: HTMLInputElement, panel: HTMLElement, list: HTMLElement, note: HTMLElement, status: HTMLElement }} parts
   */
  constructor({ element, input, panel, list, note, status }) {
    this.#element = element;
    this.#input = input;
    this.#panel = panel;
    this.#list = list;
    this.#note = note;
    this.#status = status;
    input.addEventListener('focus', () => this.#load().catch(() => {})); // the search itself tells of a failure
    input.addEventListener('input', () => this.#search());
    input.addEventListener('click', () => this.#search());
    input.addEventListener('keydown', (event) => this.#onKey(event));
    // A click on a result leaves the focus in the box.
    panel.addEventListener('mousedown', (event) => event.preventDefault());
    list.addEventListener('click', () => this.#close());
    element.addEventListener('focusout', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) this.#close();
    });
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]')) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
  }

  /** @returns {Promise<Section[]>} the index; a failure is tried again by the next call */
  #load() {
    this.#index ??= fetchJSON('docs/search.json').catch((error) => {
      this.#index = undefined;
      throw error;
    });
    return this.#index;
  }

  /** Shows what the words in the box find. */
  async #search() {
    const query = this.#input.value;
    if (query.trim() === '') {
      this.#close();
      return;
    }
    /** @type {Section[]} */
    let found = [];
    /** @type {RegExp[]} */
    let words = [];
    let note = '';
    try {
      const result = find(await this.#load(), query);
      found = result.sections;
      words = result.words;
      if (found.length === 0) note = 'Nothing found. Try the beginning of another word.';
      else if (!result.all) note = 'No section has all these words. The results have most of them.';
    } catch {
      note = 'The server can’t be reached. Type again to retry.';
    }
    // The reader has typed on, or left, while the index came.
    if (query !== this.#input.value || !this.#element.contains(document.activeElement)) return;
    this.#options = found.slice(0, MOST_RESULTS).map((section, i) => newOption(section, words, i));
    this.#list.replaceChildren(...this.#options);
    this.#list.hidden = this.#options.length === 0;
    const count = found.length === 1 ? '1 result' : `${found.length} results`;
    setText(this.#status, [found.length > 0 && count, note].filter(Boolean).join('. '));
    if (found.length > MOST_RESULTS) note += `${note && ' '}${found.length - MOST_RESULTS} more. Another word narrows the search.`;
    setText(this.#note, note);
    this.#panel.hidden = false;
    this.#panel.scrollTop = 0;
    setAttribute(this.#input, 'aria-expanded', String(found.length > 0));
    this.#select(found.length > 0 ? 0 : -1);
  }

  #close() {
    this.#panel.hidden = true;
    this.#options = [];
    this.#list.replaceChildren();
    setText(this.#status, '');
    setAttribute(this.#input, 'aria-expanded', 'false');
    this.#select(-1);
  }

  /** @param {number} i -1: none */
  #select(i) {
    this.#selected = i;
    this.#options.forEach((option, j) => setAttribute(option, 'aria-selected', String(i === j)));
    setAttribute(this.#input, 'aria-activedescendant', this.#options[i]?.id);
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
        this.#options[this.#selected]?.click();
        break;
      case 'Escape':
        // The second one leaves the box.
        if (this.#panel.hidden) this.#input.blur();
        this.#close();
        break;
      default:
        return;
    }
    event.preventDefault();
  }
}

/**
 * @param {Section} section
 * @param {RegExp[]} words
 * @param {number} i
 */
function newOption(section, words, i) {
  const { page, title, heading, anchor } = section;
  const name = createElement('span', 'result-heading', ...marks(heading, words));
  if (heading !== title) name.append(' ', createElement('span', 'result-page', ...marks(title, words)));
  const option = createElement('a', 'result', name);
  const text = excerpt(section, words);
  if (text) option.append(createElement('span', 'result-text', ...marks(text, words)));
  option.id = `docs-result-${i}`;
  option.role = 'option';
  option.tabIndex = -1;
  const url = pageURL(`docs/${page}`);
  url.hash = heading === title ? '' : anchor;
  option.href = url.href;
  return option;
}

/**
 * @param {string} text
 * @param {RegExp[]} words
 * @returns {(Node | string)[]} the text with the words marked
 */
function marks(text, words) {
  return marked(text, words).map(([part, isMatch]) => (isMatch ? createElement('mark', '', part) : part));
}
