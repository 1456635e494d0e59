// @ts-check

/**
 * The member that the reader of a board's page follows: its name on the page, and its id on this device, for all boards
 * of one kind of members. dashboard.js uses it.
 */

import { fetchJSON } from '../shared/api.js';
import { byId, setText } from '../shared/dom.js';
import { encodeSegment, ROOT } from '../shared/links.js';
import { memberProblem } from '../shared/member-id.js';

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
   * Reads the name of a member without a score.
   *
   * @param {string} board
   * @param {string} member
   */
  async #readName(board, member) {
    try {
      const { members } = await fetchJSON(`v1/boards/${encodeSegment(board)}/members?id=${encodeURIComponent(member)}`);
      if (member === this.#member && members[0].name) setText(this.#name, members[0].name);
    } catch {
      // The page shows the id.
    }
  }
}

/** @param {string} kind of members */
const storageKey = (kind) => `rankcast follow ${kind} ${ROOT.pathname}`;

/**
 * @param {string} kind of members
 * @returns {string} the member of that kind that the reader followed last on this device; '': none
 */
export function storedMember(kind) {
  try {
    const member = localStorage.getItem(storageKey(kind)) ?? '';
    return memberProblem(member) ? '' : member;
  } catch {
    return ''; // the storage is not allowed
  }
}

/**
 * @param {string} kind of members
 * @param {string} member '': none
 */
export function storeMember(kind, member) {
  try {
    if (member) localStorage.setItem(storageKey(kind), member);
    else localStorage.removeItem(storageKey(kind));
  } catch {
    // The storage is not allowed: only the URL holds the member.
  }
}
