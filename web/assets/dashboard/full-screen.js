// @ts-check

/** The button that shows a board alone on the whole screen. dashboard.js uses it. */

import { setAttribute, setProperty } from '../shared/dom.js';

export class FullScreen {
  /**
   * @param {HTMLElement} section with the board
   * @param {HTMLButtonElement} button
   * @param {HTMLElement} board
   */
  constructor(section, button, board) {
    button.hidden = !document.fullscreenEnabled; // phones of Apple, frames
    button.addEventListener('click', () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else section.requestFullscreen().catch(() => {}); // the browser has asked the reader, or knows why not
    });
    document.addEventListener('fullscreenchange', () => {
      setProperty(section, '--rows', Math.max(1, Number(board.getAttribute('top'))));
      setAttribute(button, 'aria-pressed', String(document.fullscreenElement === section));
    });
  }
}
