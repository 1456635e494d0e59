// @ts-check

/**
 * The search box over all pages of the documentation: a combobox with a list. The index comes from the
 * server when the box first gets the focus.
 */

import { fetchJSON } from '../shared/api.js';
import { Combobox } from '../shared/combobox.js';
import { createElement } from '../shared/dom.js';
import { pageURL } from '../shared/links.js';
import { excerpt, find, marked } from './search-index.js';

/** @typedef {import('./search-index.js').Section} Section */

/** More results than a reader looks through. */
const MOST_RESULTS = 20;

export class Search {
  /** @type {Promise<Section[]> | undefined} */
  #index;
  #box;
  #input;

  /** @param {import('../shared/combobox.js').Parts} parts */
  constructor(parts) {
    const input = (this.#input = parts.input);
    this.#box = new Combobox(parts, () => this.#search());
    input.addEventListener('focus', () => this.#load().catch(() => {})); // the search itself tells of a failure
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
      this.#box.close();
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
    if (query !== this.#input.value || !this.#box.active) return;
    const count = found.length === 1 ? '1 result' : `${found.length} results`;
    const status = [found.length > 0 && count, note].filter(Boolean).join('. ');
    if (found.length > MOST_RESULTS) note += `${note && ' '}${found.length - MOST_RESULTS} more. Another word narrows the search.`;
    this.#box.show(found.slice(0, MOST_RESULTS).map((section) => newOption(section, words)), note, status);
  }
}

/**
 * @param {Section} section
 * @param {RegExp[]} words
 */
function newOption(section, words) {
  const { page, title, heading, anchor } = section;
  const name = createElement('span', 'result-heading', ...marks(heading, words));
  if (heading !== title) name.append(' ', createElement('span', 'result-page', ...marks(title, words)));
  const option = createElement('a', 'result', name);
  const text = excerpt(section, words);
  if (text) option.append(createElement('span', 'result-text', ...marks(text, words)));
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
