// @ts-check

/**
 * The dashboard's view of a family: a card for each of its boards, and a form that opens the board
 * with a given name, which need not exist yet.
 */

import { times } from '../../kit/format.js';
import { fetchJSON, HTTPError } from '../shared/api.js';
import { instance, partProblem, placeholders } from '../shared/board-name.js';
import { createElement, setAttribute, setText } from '../shared/dom.js';
import { Poll } from '../shared/poll.js';
import { refusalText } from '../shared/refusal.js';
import { countedText, text } from '../shared/texts.js';
import { CardList } from './card-list.js';

/**
 * @typedef {import('./board-card.js').BoardCard} BoardCard
 *
 * The server's answer
 * @typedef {{ now: string, total: number, boards: import('./board-card.js').BoardSummary[], cursor: string | null }} FamilyAnswer
 */

const INTERVAL_MS = 2_000;
/** A reader does not look through more. */
const MAX_PAGES = 10;

export class Family {
  #element;
  #form;
  #parts;
  #problem;
  #note;
  #more;
  #cards;
  #shown;
  /** The pages of boards that the reader has asked for. */
  #pages = 1;
  /** The pages that have come. @type {FamilyAnswer[]} */
  #answers = [];
  /** The page to read next: after all have come, each request reads one of them anew. */
  #next = 0;
  /** When the data of the cards came, ms since 1970. At first the cards are as old as the page. */
  #asOf = performance.timeOrigin;
  #poll = new Poll(INTERVAL_MS, (signal) => this.#load(signal));

  /**
   * @param {{ element: HTMLElement, form: HTMLFormElement, parts: HTMLElement, problem: HTMLElement, note: HTMLElement,
   *   list: HTMLElement, more: HTMLElement }} elements
   * @param {string} family that the server has rendered; '': none
   * @param {(board: string) => string} boardURL
   * @param {(board: string) => void} openBoard
   */
  constructor({ element, form, parts, problem, note, list, more }, family, boardURL, openBoard) {
    this.#element = element;
    this.#form = form;
    this.#parts = parts;
    this.#problem = problem;
    this.#note = note;
    this.#more = more;
    this.#cards = new CardList(list, boardURL);
    // The server renders the inputs of a family, with its cards or with skeletons.
    this.#shown = parts.childElementCount > 0 ? family : '';
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const board = this.#readForm();
      if (board) openBoard(board);
    });
    more.addEventListener('click', () => {
      this.#next = this.#pages++;
      this.#poll.start();
    });
  }

  /** @param {string} family as defined; '': none */
  show(family) {
    if (this.#element.hidden) this.#answers = [];
    this.#element.hidden = this.#form.hidden = family === '';
    if (family && family !== this.#shown) {
      this.#shown = family;
      this.#pages = 1;
      this.#answers = [];
      this.#problem.textContent = this.#note.textContent = '';
      this.#parts.replaceChildren(...placeholders(family).map(newInput));
      this.#more.hidden = true;
      this.#cards.await();
    }
    this.#cards.updateLinks();
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
      do {
        const i = Math.min(this.#next, this.#answers.length);
        const cursor = i > 0 ? this.#answers[i - 1].cursor : '';
        const page = await fetchJSON(`v1/boards/${encodeURIComponent(this.#shown)}/overview?cursor=${cursor}`, signal);
        this.#answers = [...this.#answers.slice(0, i), page, ...(page.cursor === null ? [] : this.#answers.slice(i + 1))];
        this.#next = page.cursor === null ? 0 : (i + 1) % this.#pages;
      } while (this.#next > 0 && this.#next === this.#answers.length);
      this.#render();
    } catch (error) {
      if (signal.aborted) return;
      const unknown = error instanceof HTTPError && error.status === 404;
      const refusal = refusalText(error);
      if (refusal || unknown) this.#cards.clear();
      const known = this.#cards.order.length > 0;
      this.#cards.setStale(known);
      const away = error instanceof HTTPError ? 'overview_refused' : 'overview_away';
      setText(
        this.#note,
        refusal || (unknown ? text('no_such_family') : known ? text(away, { time: times.format(this.#asOf) }) : text('family_away')),
      );
      if (!unknown) throw error;
    }
  }

  #render() {
    this.#asOf = Date.now();
    this.#cards.setStale(false);
    /** @type {Map<string, BoardCard>} */
    const cards = new Map();
    for (const { now, boards } of this.#answers) {
      for (const board of boards) {
        const card = this.#cards.card(board.board);
        card.renderBoard(board, Date.parse(now));
        cards.set(board.board, card);
      }
    }
    this.#cards.arrange(cards);
    const { total, cursor } = this.#answers[this.#answers.length - 1];
    this.#more.hidden = cursor === null || this.#pages === MAX_PAGES;
    setText(
      this.#note,
      total === 0
        ? text('no_instances')
        : total > cards.size
          ? text('first_instances', { listed: cards.size, total })
          : countedText('boards', total),
    );
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
  input.placeholder = text('part_hint');
  label.append(createElement('span', '', name), input);
  return label;
}
