// @ts-check

/** The button that shows a board alone on the whole screen. dashboard.js uses it. */

import { setAttribute, setProperty } from '../shared/dom.js';

/** Rows of fewer members are no larger than those of so many. */
const LEAST_ROWS = 5;
/** The height of the heads of columns. */
const HEADS_EM = 1.5;

export class FullScreen {
  /**
   * @param {HTMLElement} section with the board
   * @param {HTMLButtonElement} button
   * @param {HTMLElementTagNameMap['live-leaderboard']} board
   */
  constructor(section, button, board) {
    button.hidden = !document.fullscreenEnabled; // not on iPhones, nor in frames that do not allow it
    button.addEventListener('click', () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else section.requestFullscreen().catch(() => {}); // the browser or the reader has refused: the page stays as it is
    });
    const list = board.shadowRoot?.querySelector('[part=list]');
    if (list instanceof HTMLElement) {
      // A list keeps the room of the last period's rows.
      board.addEventListener('update', () => {
        const [rows, below] = ['--_rows', '--_below'].map((name) => Number(list.style.getPropertyValue(name)));
        setProperty(section, '--rows', Math.max(LEAST_ROWS, rows - below));
        setProperty(section, '--heads', list.previousElementSibling?.checkVisibility() ? HEADS_EM : 0);
      });
    }
    document.addEventListener('fullscreenchange', () => {
      const isAlone = document.fullscreenElement === section;
      setAttribute(board, 'data-alone', isAlone && '');
      setAttribute(button, 'aria-pressed', String(isAlone));
    });
  }
}
