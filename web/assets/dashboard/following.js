// @ts-check

/** The name of the member that the reader of a board's page follows, and the way to follow it no longer. dashboard.js uses it. */

import { byId, setText } from '../shared/dom.js';
import { readProfile } from '../shared/member-name.js';
import { text } from '../shared/texts.js';

/** @typedef {import('../../kit/rankcast.js').Entry} Entry */
/** @typedef {import('../../kit/rankcast.js').Update} Update */

export class Following {
  #hint = byId('following-hint', HTMLElement);
  #followed = byId('following', HTMLElement);
  #name = byId('following-name', HTMLElement);
  #rivals = byId('rivals', HTMLElement);
  #member = new URLSearchParams(location.search).get('me') ?? '';
  #isEmpty = byId('following-hint', HTMLElement).hidden;
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
      setText(this.#rivals, '');
    }
    this.#followed.hidden = member === '';
    this.#showHint();
  }

  /** An empty board has no row to tap. */
  #showHint() {
    this.#hint.hidden = this.#member !== '' || this.#isEmpty;
  }

  /**
   * @param {Update} update that may have the member's name
   * @param {import('../shared/board-display.js').Formats} formats
   */
  update({ snapshot, me }, formats) {
    this.#isEmpty = snapshot?.total === 0;
    this.#showHint();
    this.#showRivals(snapshot?.top ?? [], me?.around ?? [], formats);
    if (this.#named || !snapshot || !this.#member) return;
    const isOwn = (/** @type {{ member: string }} */ { member }) => member === this.#member;
    const entry = me?.around?.find(isOwn) ?? snapshot.top.find(isOwn);
    this.#named = entry !== undefined || me?.rank === null;
    if (entry) setText(this.#name, entry.name || entry.member);
    else if (this.#named) this.#readName(snapshot.board, this.#member);
  }

  /**
   * Who stands just above and below the member, and how far away.
   *
   * @param {readonly Entry[]} top
   * @param {readonly Entry[]} around
   * @param {import('../shared/board-display.js').Formats} formats
   */
  #showRivals(top, around, { gap }) {
    const list = [top, around].find((list) => list.some(({ member }) => member === this.#member)) ?? [];
    const i = list.findIndex(({ member }) => member === this.#member);
    const [above, own, below] = [list[i - 1], list[i], list[i + 1]];
    /** @type {(word: string, rival: Entry, pair: [Entry, Entry]) => string} */
    const tell = (word, rival, pair) => {
      const score = Math.abs(pair[0].score - pair[1].score);
      return score ? text(word, { score: gap(score, ...pair), name: rival.name || rival.member }) : '';
    };
    const texts = own ? [above && tell('behind', above, [above, own]), below && tell('ahead', below, [own, below])] : [];
    setText(this.#rivals, texts.filter(Boolean).join(text('list_comma')));
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
