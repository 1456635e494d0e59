// @ts-check

/** The box that finds a member of the board by name or id, with suggestions. dashboard.js uses it. */

import { numbers } from '../../kit/format.js';
import { formatsOf, renderScore } from '../shared/board-display.js';
import { Combobox } from '../shared/combobox.js';
import { connectWithToken } from '../shared/connection.js';
import { createElement } from '../shared/dom.js';
import { showMemberProblem } from '../shared/member-id.js';
import { Portrait } from '../shared/portrait.js';
import { refusalText } from '../shared/refusal.js';
import { countedText, text } from '../shared/texts.js';

/** @typedef {import('../../kit/rankcast.js').Entry} Entry */

/** The reader has stopped typing for now, ms. */
const PAUSE_MS = 150;
const MOST_OPTIONS = 8;

export class Find {
  #input;
  #problem;
  #box;
  #follow;
  #board = '';
  #formats = formatsOf();
  /** The reader has pressed Enter before the answer came, and waits for it. */
  #entered = false;
  #searching = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {import('../shared/combobox.js').Parts} parts
   * @param {HTMLElement} problem says why a text can be no id
   * @param {(member: string, name: string) => void} follow
   */
  constructor(parts, problem, follow) {
    this.#input = parts.input;
    this.#problem = problem;
    this.#follow = follow;
    this.#box = new Combobox(parts, () => this.#searchSoon(), () => {
      this.#entered = true;
      this.#search();
    });
  }

  /**
   * @param {string} board '': none
   * @param {import('../shared/board-display.js').Formats} formats
   */
  show(board, formats) {
    this.#formats = formats;
    if (board === this.#board) return;
    this.#board = board;
    this.#stop();
    this.#input.value = '';
    this.#box.close();
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#searching.abort();
  }

  #searchSoon() {
    this.#stop();
    this.#entered = false;
    this.#timer = setTimeout(() => this.#search(), PAUSE_MS);
  }

  async #search() {
    this.#stop();
    const { signal } = (this.#searching = new AbortController());
    const query = this.#input.value.trim();
    const isID = !showMemberProblem(query, this.#input, this.#problem);
    if (!query || !isID) {
      this.#box.close();
      return;
    }
    /** @type {readonly Entry[]} */
    let entries = [];
    let note = '';
    try {
      const found = await connectWithToken().search(this.#board, query, { limit: MOST_OPTIONS, signal });
      entries = found.entries;
      note = found.complete ? (entries.length > 0 ? '' : text('find_nobody')) : text('find_incomplete');
    } catch (error) {
      if (signal.aborted) return;
      note = refusalText(error) || text('find_failed');
      this.#entered = false; // the text may be a name, not an id
    }
    if (signal.aborted || !this.#box.active) return;
    const options = entries.map((entry) => this.#newOption(entry));
    // A member without a score is not on the board, but may be soon.
    if (!entries.some(({ member }) => member === query)) options.push(this.#newIDOption(query));
    this.#box.show(options, note, [entries.length > 0 && countedText('find_found', entries.length), note].filter(Boolean).join(' '));
    if (this.#entered) options[0].click();
  }

  /** @param {Entry} entry */
  #newOption(entry) {
    const { member, name = member, avatar, rank } = entry;
    const portrait = new Portrait();
    portrait.render(member, name, avatar);
    const points = createElement('span', 'found-score');
    renderScore(points, entry, this.#formats);
    const option = createElement(
      'div',
      'found',
      portrait.element,
      ' ',
      createElement('bdi', 'found-name', name),
      ' ',
      points,
      ' ',
      createElement('span', 'found-rank', text('place', { n: numbers.format(rank) })),
    );
    option.title = member;
    return this.#choosable(option, member, name);
  }

  /** @param {string} member */
  #newIDOption(member) {
    return this.#choosable(createElement('div', 'found found-id', text('find_id', { id: member })), member, member);
  }

  /**
   * @param {HTMLElement} option
   * @param {string} member
   * @param {string} name
   */
  #choosable(option, member, name) {
    option.addEventListener('click', () => {
      this.#stop();
      this.#input.value = '';
      this.#follow(member, name);
    });
    return option;
  }
}
