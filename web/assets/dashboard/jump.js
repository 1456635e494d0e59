// @ts-check

/**
 * The buttons that bring the followed member's row into sight: one that floats over the list while the row is out of
 * sight, and one for a member below the list, to which the list can grow. dashboard.js uses it.
 */

import { numbers } from '../../kit/format.js';
import { setText } from '../shared/dom.js';
import { isCalm } from '../shared/motion.js';
import { text } from '../shared/texts.js';

/** @typedef {import('../../kit/rankcast.js').Update} Update */

export class Jump {
  #board;
  #floating;
  #below;
  #rows;
  /** The followed member's row. @type {Element | null} */
  #row = null;
  #inSight = true;
  #isBelow = false;
  /** @type {number | null} */
  #rank = null;
  /** The list grows, and the row is shown once it is in the list. */
  #waits = false;
  /** The reader has pressed a key on a button, which hides: the focus goes to the row. */
  #isByKey = false;
  #sight = new IntersectionObserver((entries) => {
    this.#inSight = entries[entries.length - 1].isIntersecting;
    this.#render();
  });

  /**
   * @param {HTMLElement} board a live-leaderboard
   * @param {{ floating: HTMLButtonElement, below: HTMLButtonElement }} buttons
   * @param {import('./more-rows.js').MoreRows} rows
   */
  constructor(board, { floating, below }, rows) {
    this.#board = board;
    this.#floating = floating;
    this.#below = below;
    this.#rows = rows;
    for (const button of [floating, below]) button.addEventListener('click', () => this.#jump());
  }

  /** @param {Update} update */
  update({ me, snapshot }) {
    const member = this.#board.getAttribute('me');
    const isSame = member && this.#row?.isConnected && this.#row.getAttribute('data-member') === member;
    const row = isSame ? this.#row : (this.#board.shadowRoot?.querySelector('[part=list] > [part~=me]') ?? null);
    if (row !== this.#row) {
      this.#sight.disconnect();
      this.#row = row;
      this.#inSight = true;
      if (row) this.#sight.observe(row);
    }
    this.#isBelow = row?.hasAttribute('data-below') ?? false;
    this.#rank = (this.#isBelow ? undefined : snapshot?.top.find((entry) => entry.member === member)?.rank) ?? me?.rank ?? null;
    if (this.#waits && row && !this.#isBelow) this.#reveal();
    // The list has grown, but the member has fallen below its end meanwhile: the reader may press again.
    else if (this.#waits && snapshot && snapshot.top.length >= Math.min(this.#rows.shown, snapshot.total)) this.#waits = false;
    this.#render();
  }

  /** Whether the list can have the row, and has not yet. */
  get #canList() {
    return this.#isBelow && this.#rank !== null && this.#rank <= this.#rows.limit;
  }

  #render() {
    this.#floating.hidden = this.#row === null || this.#waits || this.#inSight;
    this.#below.hidden = !this.#canList || this.#waits;
    const label = this.#rank === null ? text('jump') : text('jump_to', { n: numbers.format(this.#rank) });
    for (const button of [this.#floating, this.#below]) setText(button, label);
  }

  #jump() {
    this.#isByKey = [this.#floating, this.#below].some((button) => button.matches(':focus-visible'));
    if (this.#canList && this.#rank !== null) {
      this.#waits = true;
      this.#rows.growTo(this.#rank);
    } else {
      this.#reveal();
    }
    this.#render();
  }

  #reveal() {
    this.#waits = false;
    // A row that glides is not yet where it will be.
    for (const glide of this.#row?.getAnimations() ?? []) glide.finish();
    this.#row?.scrollIntoView({ block: 'center', behavior: isCalm() ? 'auto' : 'smooth' });
    if (this.#isByKey) this.#row?.querySelector('button')?.focus({ preventScroll: true });
  }

  /** Forgets a jump that is under way, on another board or for another member. */
  reset() {
    this.#waits = false;
  }
}
