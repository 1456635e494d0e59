// @ts-check

/**
 * The podium of the board of stars in narrow windows: its first three rows stand side by side, the
 * leader in the middle. board-rows.css does the same to the rows of the first answer.
 *
 * The rules of the page for parts of the board win over those of a sheet within it, but for
 * important ones.
 */

import { isCalm } from '../shared/motion.js';
import { rowsOf } from './board-rows.js';

const GLIDE_MS = 380;

const sheet = new CSSStyleSheet();
sheet.replaceSync(`
@media (width < 62rem) {
  :host([data-podium]) [part=list] { display: grid; grid-template-columns: 1fr 1.15fr 1fr; column-gap: 0.5rem; }
  :host([data-podium]) [part~=row] {
    grid-column: 1 / -1;
    &:nth-child(-n + 3) {
      grid-row: 1;
      grid-template-columns: minmax(0, 1fr) !important;
      grid-auto-flow: row;
      align-content: end;
      justify-items: center;
      gap: 0.25rem !important;
      block-size: calc(3 * var(--_row-height));
      padding: 0 0 0.5rem !important;
      background: none !important;
      text-align: center;
    }
    &:nth-child(1) { grid-column: 2; }
    &:nth-child(2) { grid-column: 1; }
    &:nth-child(3) { grid-column: 3; }
  }
  :host([data-podium]) [part=list] > :nth-child(-n + 3) {
    [part=portrait] {
      --_step: var(--_gold);
      box-sizing: border-box;
      inline-size: 3rem !important;
      block-size: 3rem !important;
      border: 0.1875rem solid var(--_step);
      font-size: 1.125rem;
    }
    [part=who] { justify-items: center; max-inline-size: 100%; }
    [part=link] { max-inline-size: 100%; font-size: 0.9375rem; }
    [part=gap] { display: none; }
    [part=amount] { font-size: 0.875rem; }
    /* 100vw - 5rem is the room of the three, of which a column has a third; a letter is half as wide as high. */
    [part=score] { font-size: min(1em, (100vw - 5rem) * 0.57 / var(--_score, 1)); text-align: center; }
    /* Over the foot of the portrait (3rem) and centered: there is no room beside the score. */
    [data-gain]::after {
      inset: auto -5.3125rem calc(100% + 1.5rem) -4rem;
      inline-size: fit-content;
      margin-inline: auto;
      padding-inline: 0.25em;
      border-radius: 0.25em;
      background: var(--_surface);
      font-size: 0.875em;
    }
    /* On the step, beside its number. */
    [part=move] { inset: auto 0.5rem 1.0625rem auto !important; inline-size: auto !important; }
    [data-move]::after { color: #2a2415; }
    [part=rank] {
      order: 1;
      justify-self: stretch;
      block-size: 2.25rem;
      margin-block-start: 0.25rem;
      padding-block: 0.125rem;
      border-radius: 0.75rem;
      font-size: 1.125rem;
      font-weight: 700;
    }
  }
  :host([data-podium]) [part~=row]:nth-child(1) {
    [part=portrait] { inline-size: 4rem !important; block-size: 4rem !important; font-size: 1.5rem; }
    [part=rank] { block-size: 2.875rem; }
  }
  :host([data-podium]) [part~=row]:nth-child(2) [part=portrait] { --_step: var(--_silver); }
  :host([data-podium]) [part~=row]:nth-child(3) {
    [part=portrait] { --_step: var(--_bronze); }
    [part=rank] { block-size: 1.75rem; }
  }
}
`);

/** @param {HTMLElement} board of stars */
export function setUpPodium(board) {
  board.shadowRoot?.adoptedStyleSheets.push(sheet);
  /** The members that stand on the podium. @type {string[]} */
  let before = [];
  board.addEventListener('update', () => {
    const rows = rowsOf(board).slice(0, 3);
    const now = rows.map(({ dataset }) => dataset.member ?? '');
    if (now.join('\n') === before.join('\n')) return;
    if (!isCalm()) glide(rows, before);
    before = now;
  });
}

/**
 * The kit has rows glide up and down; on the podium they also change sides.
 *
 * @param {readonly HTMLElement[]} rows the first three
 * @param {readonly string[]} before the members of these rows, in the order of before
 */
function glide(rows, before) {
  const lefts = rows.map((row) => row.offsetLeft);
  rows.forEach((row, i) => {
    const place = before.indexOf(row.dataset.member ?? '');
    const distance = place >= 0 && place < rows.length ? lefts[place] - lefts[i] : 0;
    if (distance) row.animate({ translate: [`${distance}px`, '0px'] }, { duration: GLIDE_MS, easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)' });
  });
}
