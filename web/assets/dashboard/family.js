// @ts-check

/**
 * The dashboard's view of a family: links to its boards, and a form that opens the board with a
 * given name, which need not exist yet.
 */

import { fetchJSON, HTTPError } from '../shared/api.js';
import { instance, partProblem, placeholders } from '../shared/board-name.js';
import { createElement, replaceItems, setAttribute, setText } from '../shared/dom.js';
import { Poll } from '../shared/poll.js';
import { refusalText } from '../shared/refusal.js';
import { text } from '../shared/texts.js';

/** A reader does not look through a longer list. */
const MAX_LISTED = 100;

export class Family {
  #element;
  #form;
  #parts;
  #problem;
  #note;
  #list;
  #boardURL;
  #shown = '';
  #poll = new Poll(Infinity, (signal) => this.#load(signal));

  /**
   * @param {{ element: HTMLElement, form: HTMLFormElement, parts: HTMLElement, problem: HTMLElement, note: HTMLElement, list: HTMLElement }} elements
   * @param {(board: string) => string} boardURL
   * @param {(board: string) => void} openBoard
   */
  constructor({ element, form, parts, problem, note, list }, boardURL, openBoard) {
    this.#element = element;
    this.#form = form;
    this.#parts = parts;
    this.#problem = problem;
    this.#note = note;
    this.#list = list;
    this.#boardURL = boardURL;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const board = this.#readForm();
      if (board) openBoard(board);
    });
  }

  /** @param {string} family as defined; '': none */
  show(family) {
    this.#element.hidden = family === '';
    if (family !== this.#shown) {
      this.#shown = family;
      this.#list.replaceChildren();
      this.#problem.textContent = this.#note.textContent = '';
      this.#parts.replaceChildren(...placeholders(family).map(newInput));
    }
    if (family) this.#poll.start();
    else this.#poll.stop();
  }

  /** @returns {string} the board that the inputs name; '' if a part is invalid */
  #readForm() {
    const inputs = [...this.#parts.querySelectorAll('input')];
    const problems = inputs.map((input) => partProblem((input.value = input.value.trim())));
    inputs.forEach((input, i) => setAttribute(input, 'aria-invalid', String(problems[i] !== '')));
    const invalid = problems.findIndex((problem) => problem !== '');
    setText(this.#problem, invalid < 0 ? '' : text(problems[invalid], { name: inputs[invalid].name }));
    if (invalid >= 0) {
      inputs[invalid].focus();
      return '';
    }
    return instance(this.#shown, inputs.map((input) => input.value));
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    try {
      /** @type {{ total: number, instances: string[] }} */
      const { total, instances } = await fetchJSON(`v1/boards/${encodeURIComponent(this.#shown)}/instances?limit=${MAX_LISTED}`, signal);
      setText(this.#note, noteText(total, instances.length));
      replaceItems(this.#list, instances.map((board) => this.#newItem(board)));
    } catch (error) {
      if (signal.aborted) return;
      const unknown = error instanceof HTTPError && error.status === 404;
      const refusal = refusalText(error);
      if (refusal) this.#list.replaceChildren();
      setText(this.#note, refusal || text(unknown ? 'no_such_family' : 'family_away'));
      if (!unknown) throw error;
    }
  }

  /** @param {string} board */
  #newItem(board) {
    const link = createElement('a', '', board.slice(board.indexOf(':') + 1));
    link.href = this.#boardURL(board);
    link.title = board;
    return createElement('li', '', link);
  }
}

/** @param {string} name of a placeholder */
function newInput(name) {
  const label = document.createElement('label');
  const input = document.createElement('input');
  input.name = name;
  input.type = 'text';
  input.autocomplete = 'off';
  input.autocapitalize = 'none';
  input.spellcheck = false;
  input.enterKeyHint = 'go';
  input.setAttribute('aria-describedby', 'parts-problem');
  label.append(name, input);
  return label;
}

/**
 * @param {number} total
 * @param {number} listed
 */
function noteText(total, listed) {
  if (total === 0) return text('no_instances');
  if (total > listed) return text('first_instances', { listed, total });
  return '';
}
