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
    button.hidden = !document.fullscreenEnabled; // not on iPhones, nor in frames that do not allow it
    button.addEventListener('click', () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else section.requestFullscreen().catch(() => {}); // the browser or the reader has refused: the page stays as it is
    });
    const setRows = () => setProperty(section, '--rows', Math.max(1, Number(board.getAttribute('top'))));
    new MutationObserver(setRows).observe(board, { attributeFilter: ['top'] });
    document.addEventListener('fullscreenchange', () => {
      setRows();
      const isAlone = document.fullscreenElement === section;
      setAttribute(board, 'data-alone', isAlone && '');
      setAttribute(button, 'aria-pressed', String(isAlone));
    });
  }
}
