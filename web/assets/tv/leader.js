// @ts-check

/** The leader of the board that the wall shows, large. */

import { renderScore } from '../shared/board-display.js';
import { byId, setAttribute, setProperty, setText } from '../shared/dom.js';
import { isCalm } from '../shared/motion.js';
import { portraitIn } from '../shared/portrait.js';
import { text } from '../shared/texts.js';
import { gapText } from '../../kit/format.js';
import { hueOf } from '../../kit/portrait.js';

/** @typedef {import('./wall-board.js').WallBoard} WallBoard */

/** How long a leader counts as new. */
const NEW_MS = 12_000;
const ENTER = { duration: 600, easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)' };

export class Leader {
  #element = byId('leader', HTMLElement);
  #label = byId('leader-label', HTMLElement);
  #portrait = portraitIn(this.#element);
  #name = /** @type {HTMLElement} */ (this.#element.querySelector('bdi'));
  #score = /** @type {HTMLElement} */ (this.#element.querySelector('.leader-score'));
  #ahead = /** @type {HTMLElement} */ (this.#element.querySelector('.leader-ahead'));
  /** The board and its period. */
  #of = '';
  #member = '';
  #since = -Infinity;

  /** @param {WallBoard} board */
  render(board) {
    const { name, snapshot, formats } = board;
    const [first, second] = snapshot?.top ?? [];
    this.#element.hidden = !first;
    if (!snapshot || !first) return;
    const of = `${name}@${snapshot.period}`;
    const { member } = first;
    if (of !== this.#of || member !== this.#member) {
      this.#since = of === this.#of ? performance.now() : -Infinity;
      if (!isCalm()) this.#element.animate({ opacity: [0, 1], scale: [0.94, 1] }, ENTER);
    }
    this.#of = of;
    this.#member = member;
    const shown = first.name || member;
    setProperty(document.documentElement, '--hue', hueOf(board.result?.first.member ?? member));
    this.#portrait.render(member, shown, first.avatar);
    setText(this.#name, shown);
    setProperty(/** @type {HTMLElement} */ (this.#name.parentElement), '--length', [...shown].length);
    renderScore(this.#score, first, formats);
    setProperty(this.#score, '--length', this.#score.textContent?.length ?? 1);
    setText(this.#ahead, second ? aheadText(formats, first, second) : '');
    const isNew = performance.now() - this.#since < NEW_MS;
    setAttribute(this.#element, 'data-new', isNew && '');
    setText(this.#label, text(snapshot.final ? 'final_winner' : isNew ? 'tv_new_leader' : 'tv_leader'));
  }
}

/**
 * @param {import('../shared/board-display.js').Formats} formats
 * @param {import('../../kit/rankcast.js').Entry} first
 * @param {import('../../kit/rankcast.js').Entry} second
 */
function aheadText({ heads, gap, short }, first, second) {
  const name = second.name || second.member;
  if (first.score === second.score) return text('tv_level', { name });
  const score = Math.abs(first.score - second.score);
  return text('tv_ahead', { score: heads ? gap(score, first, second) : gapText(short(score)), name });
}
