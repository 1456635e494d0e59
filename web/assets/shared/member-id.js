// @ts-check

/** What can be a member's id: 1 to 128 bytes of UTF-8 without control characters. */

import { setAttribute, setText } from '../../kit/rows.js';
import { text } from './texts.js';

/** In UTF-8. */
const MAX_MEMBER_BYTES = 128;
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * @param {string} member
 * @returns {string} the text that says why no member can have this id; '' where one can, and for ''
 */
export function problemOf(member) {
  if (CONTROL_CHARACTERS.test(member)) return 'member_control';
  if (new TextEncoder().encode(member).length > MAX_MEMBER_BYTES) return 'member_long';
  return '';
}

/**
 * Says beside a box why no member can have an id.
 *
 * @param {string} member the box may show it otherwise: no line ends in it
 * @param {HTMLInputElement} box
 * @param {HTMLElement} note
 * @returns {boolean} whether there is something to say
 */
export function sayProblem(member, box, note) {
  const problem = problemOf(member);
  setText(note, problem && text(problem));
  setAttribute(box, 'aria-invalid', problem !== '' && 'true');
  return problem !== '';
}
