// @ts-check

/** What can be a member's id: 1 to 128 bytes of UTF-8 without control characters. */

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
