// @ts-check

/** The dialog that asks viewers for a nickname, which is their id. */

import { byId, setText, showModal } from '../shared/dom.js';
import { showMemberProblem } from '../shared/member-id.js';
import { text } from '../shared/texts.js';
import { amountText } from './event.js';

export class NicknameDialog {
  #dialog = byId('nickname', HTMLDialogElement);
  #input = byId('me', HTMLInputElement);
  #problem = byId('me-problem', HTMLElement);
  #done = byId('nickname-done', HTMLElement);
  /** What waits for a nickname; 0: nothing. */
  #amount = 0;

  /**
   * @param {(name: string) => void} onName called with a valid nickname, or with '' for none
   * @param {() => void} onClose called after the dialog has closed, with or without a nickname
   */
  constructor(onName, onClose) {
    byId('nickname-form', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      const name = this.#input.value.trim();
      if (showMemberProblem(name, this.#input, this.#problem, 'show_nickname')) return;
      if (name === '' && this.#amount > 0) {
        setText(this.#problem, text('show_nickname_missing'));
        return;
      }
      onName(name);
      this.#dialog.close();
    });
    byId('nickname-cancel', HTMLElement).addEventListener('click', () => this.#dialog.close());
    // The event comes with a frame after the dialog has closed, which may be open again.
    this.#dialog.addEventListener('close', () => this.#dialog.open || onClose());
  }

  /**
   * @param {string} name the present one; '': none
   * @param {number} [amount] of the gift that goes out as soon as there is a nickname
   */
  ask(name, amount = 0) {
    this.#amount = amount;
    this.#input.value = name;
    showMemberProblem(name, this.#input, this.#problem, 'show_nickname');
    setText(this.#done, amount > 0 ? text('show_nickname_send', { amount: amountText(amount) }) : text('show_nickname_done'));
    showModal(this.#dialog);
    this.#input.select();
  }
}
