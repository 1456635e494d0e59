// @ts-check

/** The dialog that asks viewers for a nickname, which is their id. */

import { byId, setText, showModal } from '../shared/dom.js';
import { showMemberProblem } from '../shared/member-id.js';
import { countedText, text } from '../shared/texts.js';

export class NicknameDialog {
  #dialog = byId('nickname', HTMLDialogElement);
  #input = byId('me', HTMLInputElement);
  #problem = byId('me-problem', HTMLElement);
  #done = byId('nickname-done', HTMLElement);
  /** Flowers that wait for a nickname; 0: none. */
  #flowers = 0;

  /**
   * @param {(name: string) => void} onName called with a valid nickname, or with '' for none
   * @param {() => void} onClose called after the dialog has closed, with or without a nickname
   */
  constructor(onName, onClose) {
    byId('nickname-form', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      const name = this.#input.value.trim();
      if (showMemberProblem(name, this.#input, this.#problem, 'stars_nickname')) return;
      if (name === '' && this.#flowers > 0) {
        setText(this.#problem, text('stars_nickname_missing'));
        return;
      }
      onName(name);
      this.#dialog.close();
    });
    byId('nickname-cancel', HTMLElement).addEventListener('click', () => this.#dialog.close());
    this.#dialog.addEventListener('close', onClose);
  }

  /**
   * @param {string} name the present one; '': none
   * @param {number} [flowers] that go out as soon as there is a nickname
   */
  ask(name, flowers = 0) {
    this.#flowers = flowers;
    this.#input.value = name;
    showMemberProblem(name, this.#input, this.#problem, 'stars_nickname');
    setText(this.#done, flowers > 0 ? countedText('stars_nickname_send', flowers) : text('stars_nickname_done'));
    showModal(this.#dialog);
    this.#input.select();
  }
}
