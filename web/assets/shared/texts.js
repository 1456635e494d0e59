// @ts-check

/**
 * The texts of the page in the language in which the server rendered it: texts/en.json or zh.json.
 * They include the kit's words, which are English by default. All pages use it.
 */

import { fill, plurals, words } from '../../kit/format.js';

/** @type {{ [key: string]: string }} */
const texts = JSON.parse(document.getElementById('texts')?.textContent ?? '{}');

for (const [key, text] of Object.entries(texts)) {
  if (key.startsWith('kit_')) Object.assign(words, { [key.slice(4)]: text });
}

/**
 * @param {string} key
 * @param {{ [name: string]: string | number }} [values] for the names in braces
 * @returns {string}
 * @throws {Error} no text has that key
 */
export function text(key, values = {}) {
  const found = texts[key];
  if (found === undefined) throw new Error(`the page's language has no text "${key}"`);
  // A text has spaces beside a value for Latin letters and digits. Between two Chinese characters there is none, unless the value has it.
  const own = Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value.replaceAll(' ', '\0') : value]);
  return fill(found, Object.fromEntries(own))
    .replace(/(?<=\p{Script=Han}) (?=\p{Script=Han})/gu, '')
    .replaceAll('\0', ' ');
}

/**
 * @param {string} key without `_one` and `_other`
 * @param {number} n
 * @param {{ [name: string]: string | number }} [values]
 * @returns {string} the text in its singular or plural form, with n
 */
export function countedText(key, n, values = {}) {
  return text(`${key}_${plurals.select(n) === 'one' ? 'one' : 'other'}`, { ...values, n });
}
