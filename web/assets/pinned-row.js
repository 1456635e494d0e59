// @ts-check

/**
 * The followed member's row under the list, for as long as the member is not in
 * the list. Its room stays while a member is followed, so that nothing jumps.
 */

import { part, setProperty, setText } from './dom.js';
import { describeGap, flash, newRow, numbers, roll, writeAvatar } from './row.js';

/** @typedef {import('./own-place.js').OwnPlace} OwnPlace */
/** @typedef {import('./row.js').Row} Row */

export class PinnedRow {
  /** The room. */
  element = part('div', 'pinned');
  /** @type {Row} */
  row = newRow('div');

  #member = '';
  #name = '';
  /** @type {OwnPlace} as written */
  #place = { kind: 'unknown' };

  constructor() {
    const { element } = this.row;
    element.setAttribute('part', 'row me');
    element.setAttribute('role', 'group');
    element.setAttribute('aria-label', 'Followed member');
    element.hidden = true;
    this.element.hidden = true;
    this.element.append(element);
  }

  /** The followed member's name, or else its id. */
  get name() {
    return this.#name;
  }

  /**
   * @param {string} member '': nobody is followed
   * @param {OwnPlace} place
   * @param {number} listDigits of the longest rank in the list, which this row's rank stands under
   * @param {boolean} moves
   */
  write(member, place, listDigits, moves) {
    const before = member === this.#member ? this.#place : null;
    this.#place = place;
    this.element.hidden = member === '';
    const { row } = this;
    row.element.hidden = place.kind === 'unknown' || place.kind === 'listed';
    if (member !== this.#member) {
      this.#member = this.#name = member;
      row.element.dataset.me = member;
      row.member.title = member;
      writeAvatar(row, '');
    }
    row.element.toggleAttribute('data-absent', place.kind === 'absent');
    if (place.kind === 'listed') {
      this.#name = place.entry.name || member;
      writeAvatar(row, place.entry.avatar);
    } else if (place.kind === 'below') {
      if (place.name !== undefined) {
        this.#name = place.name || member;
        writeAvatar(row, place.avatar);
      }
      const rank = place.rank === null ? '…' : numbers.format(place.rank);
      setText(row.rank, rank);
      setText(row.score, numbers.format(place.score));
      setProperty(row.element, '--_digits', String(Math.max(listDigits, rank.length)));
      // A gap that is not known now mostly is in a moment: its text fades out,
      // and only after a while.
      const fades = place.toNext === undefined && before?.kind === 'below';
      if (!fades) setText(row.gap, describeGap(place.toNext));
      row.gap.toggleAttribute('data-outdated', fades);
    } else if (place.kind === 'absent') {
      setText(row.rank, '');
      setProperty(row.element, '--_digits', String(listDigits));
      setText(row.score, '');
      setText(row.gap, 'has no score yet');
      row.gap.toggleAttribute('data-outdated', false);
    }
    setText(row.member, this.#name);

    if (before?.kind !== 'below' || place.kind !== 'below') return;
    if (before.score !== place.score) flash(row);
    if (moves && before.rank !== null && place.rank !== null && before.rank !== place.rank) {
      roll(row, place.rank - before.rank < 0 ? 1 : -1);
    }
  }
}
