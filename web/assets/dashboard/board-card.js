// @ts-check

/** A card: a board with its first entries and its rate of changes, or a family with some of its boards. */

import { frozenText, numbers, textIn, timeLeft } from '../../kit/format.js';
import { periodText } from '../../kit/period.js';
import { columnWidths, formatsOf, renderColumns, renderScore } from '../shared/board-display.js';
import { titleOf } from '../shared/board-name.js';
import { byId, setAttribute, setText } from '../shared/dom.js';
import { portraitIn, renderIcon } from '../shared/portrait.js';
import { countedText, text } from '../shared/texts.js';
import { periodTitle } from '../shared/period-title.js';
import { zonedTime } from '../shared/zoned-time.js';

/**
 * @typedef {import('../../kit/rankcast.js').Entry} Entry
 * @typedef {import('../../kit/rankcast.js').Frozen} Frozen
 * @typedef {import('../../kit/rankcast.js').Info} Info
 * @typedef {import('./definition-summary.js').Definition} Definition
 *
 * What stands for a placeholder in the name of an instance
 * @typedef {{ kind: string, member: string, name?: string, avatar?: string }} Part
 *
 * A board in the server's answer; rate: changes a minute; built: the server computes the board on request; unavailable: the server
 * cannot read it now
 * @typedef {{ board: string, period: string, ends: string | null, total: number, epoch: string, seq: number, rate: number | null,
 *   leader: Entry | null, runners_up?: Entry[], built: boolean, frozen?: Frozen, info?: Info, parts?: Part[],
 *   unavailable?: boolean }} BoardSummary
 *
 * A family in the server's answer
 * @typedef {{ board: string, instances: number, first?: { board: string, parts: Part[] }[], info?: Info,
 *   unavailable?: boolean }} FamilySummary
 */

const template = byId('card-template', HTMLTemplateElement).content.firstElementChild;

export class BoardCard {
  element;
  #board;
  #boardURL;
  #link;

  /**
   * @param {string} board
   * @param {(board: string) => string} boardURL
   * @param {HTMLElement} [element] that of the server
   */
  constructor(board, boardURL, element) {
    this.#board = board;
    this.#boardURL = boardURL;
    this.element = element ?? newElement();
    this.element.dataset.board = board;
    this.#link = this.element.querySelector('a') ?? document.createElement('a');
    this.#link.title = board;
    this.updateLinks();
  }

  /** The reader's choices have changed, which all links keep. */
  updateLinks() {
    for (const link of this.element.querySelectorAll('a')) link.href = this.#boardURL(link.title);
  }

  /** @returns {string} what a reader may look for */
  get words() {
    return `${this.#link.textContent} ${this.#board} ${this.#part('faces').textContent}`;
  }

  /**
   * @param {BoardSummary} summary
   * @param {number} now ms since 1970
   * @param {Definition} [definition]
   */
  renderBoard(
    { board, period, ends, total, rate, leader, runners_up = [], built, frozen, info, parts, unavailable = false },
    now,
    { starts } = /** @type {any} */ ({}),
  ) {
    this.#setUnavailable(unavailable);
    if (parts) {
      setText(this.#link, partsName(parts));
      this.#renderPortrait(parts[0].member, partsName(parts.slice(0, 1)), parts[0].avatar);
    } else {
      setText(this.#link, textIn(info?.title) || board);
      if (info) renderIcon(this.#part('head'), board, textIn(info.title) || board, info.icon);
    }
    if (unavailable) return;
    const until = (/** @type {string} */ time) => timeLeft(Date.parse(time) - now).text;
    const wait = starts ? until(starts) : '';
    const left = ends ? until(ends) : '';
    const span = this.#part('ends');
    setText(span, wait ? text('begins_in', { left: wait }) : left ? text('ends_in', { left }) : ends ? text('ended') : '');
    span.title = wait && starts ? zonedTime(starts) : ends ? zonedTime(ends) : '';
    setText(this.#part('period'), period && (periodTitle(info?.period?.every, 0) || periodText(info?.period) || period));
    this.#part('period').title = period;
    this.#renderEntries(leader ? [leader, ...runners_up] : [], formatsOf(info));
    const isOver = ends !== null && !left;
    setText(this.#part('note'), leader ? '' : text(built ? 'leader_unknown' : isOver ? 'kit_no_scores' : 'no_scores_yet'));
    setText(this.#part('total'), built && !leader ? '' : countedText('members', total));
    this.element.toggleAttribute('data-frozen', frozen !== undefined);
    setText(this.#part('rate'), frozen ? frozenText(frozen) : rate ? text('rate', { n: rate }) : '');
    this.#part('rate').title = rate && !frozen ? text('rate_title', { n: rate }) : '';
  }

  /** @param {FamilySummary} summary */
  renderFamily({ board, instances, first = [], info, unavailable = false }) {
    this.element.toggleAttribute('data-family', true);
    this.#setUnavailable(unavailable);
    const title = titleOf(board, info?.title);
    setText(this.#link, title);
    if (info) renderIcon(this.#part('head'), board, title, info.icon);
    if (unavailable) return;
    setText(this.#part('total'), countedText('boards', instances));
    eachItem(this.#part('faces'), first, (item, { board: instance, parts }) => {
      const [link] = item.getElementsByTagName('a');
      link.title = instance;
      link.href = this.#boardURL(instance);
      portraitIn(item).render(parts[0].member, partsName(parts.slice(0, 1)), parts[0].avatar);
      setText(/** @type {HTMLElement} */ (link.lastElementChild), partsName(parts));
    });
  }

  /**
   * @param {Entry[]} entries
   * @param {import('../shared/board-display.js').Formats} formats
   */
  #renderEntries(entries, formats) {
    const { heads = [] } = formats;
    const widths = columnWidths(heads, entries);
    renderColumns(this.#part('columns'), entries.length ? heads : [], widths);
    eachItem(this.#part('rows'), entries, (row, entry) => {
      const { rank, member, name, avatar } = entry;
      setText(partOf(row, 'rank'), numbers.format(rank));
      portraitIn(row).render(member, name || member, avatar);
      setText(partOf(row, 'member'), name || member);
      renderScore(partOf(row, 'score'), entry, formats, widths);
    });
  }

  /**
   * @param {string} id
   * @param {string} name
   * @param {string} [image]
   */
  #renderPortrait(id, name, image) {
    const head = this.#part('head');
    const portrait = portraitIn(head);
    portrait.render(id, name, image);
    if (!head.contains(portrait.element)) head.prepend(portrait.element);
  }

  /** @param {string} name */
  #part(name) {
    return partOf(this.element, name);
  }

  /** @param {boolean} unavailable the card shows old data */
  #setUnavailable(unavailable) {
    this.element.toggleAttribute('data-unavailable', unavailable);
    const rate = this.#part('rate');
    if (unavailable) setText(rate, text('board_unavailable'));
    else if (rate.textContent === text('board_unavailable')) setText(rate, '');
  }
}

/** @returns {HTMLElement} an empty card */
function newElement() {
  const element = /** @type {HTMLElement} */ (template?.cloneNode(true));
  partOf(element, 'rows').replaceChildren();
  partOf(element, 'faces').replaceChildren();
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {string} name
 */
function partOf(element, name) {
  return /** @type {HTMLElement} */ (element.querySelector(`.card-${name}`));
}

/**
 * Renders a list of as many items, which are like those of the template.
 *
 * @template T
 * @param {HTMLElement} list
 * @param {readonly T[]} values
 * @param {(item: HTMLElement, value: T) => void} render
 */
function eachItem(list, values, render) {
  while (list.children.length > values.length) list.lastElementChild?.remove();
  values.forEach((value, i) => {
    if (i === list.children.length) list.append(template?.querySelector(`.${list.className} > li`)?.cloneNode(true) ?? '');
    render(/** @type {HTMLElement} */ (list.children[i]), value);
  });
}

/**
 * @param {readonly Part[]} parts
 * @returns {string} the name of an instance for people
 */
function partsName(parts) {
  return parts.map(({ member, name }) => name || member).join(' · ');
}
