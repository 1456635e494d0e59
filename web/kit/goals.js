// @ts-check

/** The goals of a member as an attribute and an address hold them. The function is pure. */

const MOST = 10;

/**
 * The server checks the same, see goal in server/pages/filler.go.
 *
 * @param {string} text such as `500,1000,5000`
 * @returns {readonly number[]} scores, each above the last one; none for a text that is wrong
 */
export function goalsOf(text) {
  const levels = /^[\d,]+$/.test(text) ? text.split(',').map(Number) : [];
  const isRight = levels.length <= MOST && levels.every((level, i) => level > (levels[i - 1] ?? 0) && Number.isSafeInteger(level));
  return isRight ? levels : [];
}
