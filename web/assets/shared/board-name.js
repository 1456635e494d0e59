// @ts-check

/**
 * Names of boards: `base[:part…][@period]`, such as `stars`, `fans:s17` and `fans:s17@2026-W46`.
 * The definition of a family has placeholders for the parts: `fans:{star}`, and so has that of an
 * event for its fields.
 */

import { textIn } from '../../kit/format.js';

/** In UTF-8. */
const MAX_PART_BYTES = 64;
const RESERVED_CHARACTERS = /[:@/{}]/;
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * @param {string} text such as the name of a board, as defined
 * @returns {string[]} the names of its placeholders; none for a board that is no family
 */
export function placeholders(text) {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
}

/**
 * @param {unknown} [text] of an update
 * @returns {string} the field of the event that stands there alone, as in `{star}`; '': none
 */
export function fieldOf(text) {
  return /^\{(\w+)\}$/.exec(typeof text === 'string' ? text : '')?.[1] ?? '';
}

/**
 * @param {string} board as defined
 * @param {import('../../kit/rankcast.js').Label} [title]
 * @returns {string} the title for people, in which an ellipsis stands for each placeholder of a family
 */
export function titleOf(board, title) {
  return withoutPlaceholders(board, textIn(title)) || board;
}

/**
 * @param {string} board as defined
 * @param {string} text a title or a description
 * @returns {string}
 */
export function withoutPlaceholders(board, text) {
  return placeholders(board).length > 0 ? text.replace(/\{\w+\}/g, '…') : text;
}

/**
 * @param {string} family
 * @param {string[]} parts
 * @returns {string} the name of the instance with these parts
 */
export function instance(family, parts) {
  return [family.split(':')[0], ...parts].join(':');
}

/**
 * @param {string} part
 * @returns {string} the key of the text that says why the part is invalid; '' for a valid one
 */
export function partProblem(part) {
  if (part === '') return 'part_missing';
  if (RESERVED_CHARACTERS.test(part)) return 'part_signs';
  if (CONTROL_CHARACTERS.test(part)) return 'part_control';
  if (new TextEncoder().encode(part).length > MAX_PART_BYTES) return 'part_long';
  return '';
}

/**
 * @template {{ board: string }} Definition
 * @param {readonly Definition[]} definitions
 * @param {string} name
 * @returns {Definition | undefined} the definition of the board, or of its family
 */
export function findDefinition(definitions, name) {
  const [unqualified] = name.split('@');
  const [base, ...parts] = unqualified.split(':');
  return definitions.find(({ board }) => {
    const [otherBase, ...otherParts] = board.split(':');
    return base === otherBase && parts.length === otherParts.length;
  });
}
