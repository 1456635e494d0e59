// @ts-check

/** A list of cards, which begins with those of the server. The overview and a family use it. */

import { createElement, setAttribute } from '../shared/dom.js';
import { isCalm } from '../shared/motion.js';
import { BoardCard } from './board-card.js';

const SKELETONS = 6;
const GLIDE_MS = 450;

export class CardList {
  #list;
  #boardURL;
  /** By board or family. @type {Map<string, BoardCard>} */
  #cards = new Map();

  /**
   * @param {HTMLElement} list
   * @param {(board: string) => string} boardURL
   */
  constructor(list, boardURL) {
    this.#list = list;
    this.#boardURL = boardURL;
    for (const element of list.querySelectorAll('.card')) {
      if (element instanceof HTMLElement && element.dataset.board)
        this.#cards.set(element.dataset.board, new BoardCard(element.dataset.board, boardURL, element));
    }
  }

  /** @returns {string[]} boards and families, as the list shows them */
  get order() {
    return [...this.#cards.keys()];
  }

  /**
   * @param {string} board or family
   * @returns {BoardCard} a new one is not in the list yet
   */
  card(board) {
    return this.#cards.get(board) ?? new BoardCard(board, this.#boardURL);
  }

  /**
   * Shows these cards in this order. Cards that change places glide.
   *
   * @param {Map<string, BoardCard>} cards
   */
  arrange(cards) {
    const elements = [...cards.values()].map(({ element }) => element);
    this.#cards = cards;
    // Replacing the cards takes the focus away.
    if (elements.length === this.#list.children.length && elements.every((element, i) => element === this.#list.children[i])) return;
    const before = new Map(elements.filter(({ isConnected }) => isConnected).map((element) => [element, element.getBoundingClientRect()]));
    this.#list.replaceChildren(...elements);
    if (isCalm()) return;
    for (const [element, { x, y }] of before) {
      const to = element.getBoundingClientRect();
      if (x !== to.x || y !== to.y)
        element.animate(
          { translate: [`${x - to.x}px ${y - to.y}px`, '0'] },
          { duration: GLIDE_MS, easing: 'cubic-bezier(0.3, 0, 0.2, 1)' },
        );
    }
  }

  /** Shows that cards are on their way. */
  await() {
    this.#cards = new Map();
    this.#list.replaceChildren(...Array.from({ length: SKELETONS }, newSkeleton));
  }

  clear() {
    this.arrange(new Map());
  }

  updateLinks() {
    for (const card of this.#cards.values()) card.updateLinks();
  }

  /** @param {boolean} stale what the cards show may be old */
  setStale(stale) {
    this.#list.toggleAttribute('data-stale', stale);
  }

  /**
   * Shows only the cards with a text.
   *
   * @param {string} wanted '': all
   * @returns {BoardCard[]} the cards that are shown
   */
  filter(wanted) {
    const letters = wanted.trim().toLocaleLowerCase();
    return [...this.#cards.values()].filter((card) => (card.element.hidden = !card.words.toLocaleLowerCase().includes(letters)) === false);
  }
}

function newSkeleton() {
  const element = createElement('li', 'card');
  setAttribute(element, 'data-skeleton', '');
  element.ariaHidden = 'true';
  return element;
}
