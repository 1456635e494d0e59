// @ts-check

/**
 * Names of boards: `base[:part…][@period]`, such as `stars`, `fans:s17` and
 * `fans:s17@2026-W46`. A family is defined with placeholders for the parts:
 * `fans:{star}`. Pure.
 */

/** In UTF-8. */
const MAX_PART_BYTES = 64;
const NOT_IN_PARTS = /[:@/{}]/;
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * @param {string} board as defined
 * @returns {string[]} the names of a family's placeholders; none for a board
 */
export function placeholders(board) {
  return [...board.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
}

/**
 * @param {string} family
 * @param {string[]} parts
 * @returns {string} the instance with these
 */
export function instance(family, parts) {
  return [family.split(':')[0], ...parts].join(':');
}

/**
 * @param {string} part
 * @returns {string} the text that says why it can't be a part of a name, '' where it can
 */
export function problemOfPart(part) {
  if (part === '') return 'part_missing';
  if (NOT_IN_PARTS.test(part)) return 'part_signs';
  if (CONTROL_CHARACTERS.test(part)) return 'part_control';
  if (new TextEncoder().encode(part).length > MAX_PART_BYTES) return 'part_long';
  return '';
}

/**
 * @template {{ board: string }} Definition
 * @param {readonly Definition[]} definitions
 * @param {string} name
 * @returns {Definition | undefined} what the board of that name is defined by
 */
export function definitionOf(definitions, name) {
  const [unqualified] = name.split('@');
  const [base, ...parts] = unqualified.split(':');
  return definitions.find(({ board }) => {
    const [otherBase, ...others] = board.split(':');
    return base === otherBase && parts.length === others.length;
  });
}
