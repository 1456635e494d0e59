// @ts-check

/**
 * The rules for a member's id: 1 to 128 bytes of UTF-8 without control characters. The dashboard
 * and the page of an event check with it what a reader types or a URL holds.
 */

import { setAttribute, setText } from './dom.js';
import { text } from './texts.js';

/** In UTF-8. */
const MAX_MEMBER_BYTES = 128;
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * @param {string} member
 * @param {string} [texts] what the keys of the texts begin with
 * @returns {string} the key of the text that says why the id is invalid; '' for a valid or empty id
 */
export function memberProblem(member, texts = 'member') {
  if (CONTROL_CHARACTERS.test(member)) return `${texts}_control`;
  if (new TextEncoder().encode(member).length > MAX_MEMBER_BYTES) return `${texts}_long`;
  return '';
}

/**
 * Shows beside an input why an id is invalid, or clears the note.
 *
 * @param {string} member may differ from the input's value, which holds no line ends
 * @param {HTMLInputElement} input
 * @param {HTMLElement} note
 * @param {string} [texts] as of {@link memberProblem}
 * @returns {boolean} whether the id is invalid
 */
export function showMemberProblem(member, input, note, texts) {
  const problem = memberProblem(member, texts);
  setText(note, problem && text(problem));
  setAttribute(input, 'aria-invalid', problem !== '' && 'true');
  return problem !== '';
}
