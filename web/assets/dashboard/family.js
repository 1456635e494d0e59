// @ts-check

/**
 * A family on the dashboard: its boards, as far as there are any, and a box to
 * name one, which may be none yet.
 */

import { setAttribute, setText } from '../../kit/rows.js';
import { instance, placeholders, problemOfPart } from '../shared/board-name.js';
import { make, Poll, read, RefusedError, replaceItems } from '../shared/page.js';
import { text } from '../shared/texts.js';

/** More are not looked through by hand. */
const LISTED = 100;

export class Family {
  #element;
  #form;
  #parts;
  #problem;
  #note;
  #list;
  #address;
  #shown = '';
  #poll = new Poll(Infinity, (signal) => this.#load(signal));

  /**
   * @param {{ element: HTMLElement, form: HTMLFormElement, parts: HTMLElement, problem: HTMLElement, note: HTMLElement, list: HTMLElement }} on what it shows itself on
   * @param {(board: string) => string} address of a board's page
   * @param {(board: string) => void} choose what to do with a board that was named
   */
  constructor({ element, form, parts, problem, note, list }, address, choose) {
    this.#element = element;
    this.#form = form;
    this.#parts = parts;
    this.#problem = problem;
    this.#note = note;
    this.#list = list;
    this.#address = address;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const board = this.#named();
      if (board) choose(board);
    });
  }

  /** @param {string} family as it is defined; '': none */
  show(family) {
    this.#element.hidden = family === '';
    if (family !== this.#shown) {
      this.#shown = family;
      this.#list.replaceChildren();
      this.#problem.textContent = this.#note.textContent = '';
      this.#parts.replaceChildren(...placeholders(family).map(newBox));
    }
    if (family) this.#poll.start();
    else this.#poll.stop();
  }

  /** @returns {string} the board that the boxes name; '' where they can't */
  #named() {
    const boxes = [...this.#parts.querySelectorAll('input')];
    const problems = boxes.map((box) => problemOfPart((box.value = box.value.trim())));
    boxes.forEach((box, i) => setAttribute(box, 'aria-invalid', String(problems[i] !== '')));
    const wrong = problems.findIndex((problem) => problem !== '');
    setText(this.#problem, wrong < 0 ? '' : text(problems[wrong], { name: boxes[wrong].name }));
    if (wrong >= 0) {
      boxes[wrong].focus();
      return '';
    }
    return instance(this.#shown, boxes.map((box) => box.value));
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    try {
      /** @type {{ total: number, instances: string[] }} */
      const { total, instances } = await read(`v1/boards/${encodeURIComponent(this.#shown)}/instances?limit=${LISTED}`, signal);
      setText(this.#note, describe(total, instances.length));
      replaceItems(this.#list, instances.map((board) => this.#newItem(board)));
    } catch (error) {
      if (signal.aborted) return;
      const unknown = error instanceof RefusedError && error.status === 404;
      setText(this.#note, text(unknown ? 'no_such_family' : 'family_away'));
      if (!unknown) throw error;
    }
  }

  /** @param {string} board */
  #newItem(board) {
    const link = make('a', '', board.slice(board.indexOf(':') + 1));
    link.href = this.#address(board);
    link.title = board;
    return make('li', '', link);
  }
}

/** @param {string} name of a placeholder */
function newBox(name) {
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.name = name;
  box.type = 'text';
  box.autocomplete = 'off';
  box.autocapitalize = 'none';
  box.spellcheck = false;
  box.enterKeyHint = 'go';
  box.setAttribute('aria-describedby', 'parts-problem');
  label.append(name, box);
  return label;
}

/**
 * @param {number} total
 * @param {number} listed
 */
function describe(total, listed) {
  if (total === 0) return text('no_instances');
  if (total > listed) return text('first_instances', { listed, total });
  return '';
}
