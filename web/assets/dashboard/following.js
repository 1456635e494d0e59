// @ts-check

/** The name of the member that the reader of a board's page follows, and the way to follow it no longer. dashboard.js uses it. */

import { byId, setText } from '../shared/dom.js';
import { readProfile } from '../shared/member-name.js';

/** @typedef {import('../../kit/rankcast.js').Update} Update */

export class Following {
  #hint = byId('following-hint', HTMLElement);
  #followed = byId('following', HTMLElement);
  #name = byId('following-name', HTMLElement);
  #member = new URLSearchParams(location.search).get('me') ?? '';
  /** The name is that of the member, or is being read. */
  #named = false;

  /** @param {() => void} onStop called when the reader wants to follow nobody */
  constructor(onStop) {
    const unfollow = byId('unfollow', HTMLButtonElement);
    unfollow.addEventListener('click', () => {
      const isByKey = unfollow.matches(':focus-visible');
      onStop();
      if (isByKey) byId('find-input', HTMLInputElement).focus(); // on a phone, it would open the keyboard
    });
  }

  /**
   * @param {string} member '': none
   * @param {string} [name] if it is known already
   */
  show(member, name = member) {
    if (member !== this.#member) {
      this.#member = member;
      this.#named = name !== member;
      setText(this.#name, name);
    }
    this.#followed.hidden = member === '';
    this.#hint.hidden = member !== '';
  }

  /** @param {Update} update that may have the member's name */
  update({ snapshot, me }) {
    if (this.#named || !snapshot || !this.#member) return;
    const isOwn = (/** @type {{ member: string }} */ { member }) => member === this.#member;
    const entry = me?.around?.find(isOwn) ?? snapshot.top.find(isOwn);
    this.#named = entry !== undefined || me?.rank === null;
    if (entry) setText(this.#name, entry.name || entry.member);
    else if (this.#named) this.#readName(snapshot.board, this.#member);
  }

  /**
   * @param {string} board
   * @param {string} member without a score
   */
  async #readName(board, member) {
    const { name = '' } = await readProfile(board, member);
    if (name && member === this.#member) setText(this.#name, name);
  }
}
