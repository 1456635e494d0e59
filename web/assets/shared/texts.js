// @ts-check

/**
 * The page's texts, in the language that it was served in: texts/en.json or zh.json. Those
 * of the kit, which speaks English by itself, are among them.
 */

import { fill, form, words } from '../../kit/format.js';

/** @type {{ [key: string]: string }} */
const texts = JSON.parse(document.getElementById('texts')?.textContent ?? '{}');

for (const [key, text] of Object.entries(texts)) {
  if (key.startsWith('kit_')) Object.assign(words, { [key.slice(4)]: text });
}

/**
 * @param {string} key
 * @param {{ [name: string]: string | number }} [values] for the names in braces
 * @returns {string}
 */
export function text(key, values = {}) {
  const found = texts[key];
  if (found === undefined) throw new Error(`there is no text "${key}"`);
  return fill(found, values);
}

/**
 * @param {string} key without `_one` and `_other`
 * @param {number} n
 * @param {{ [name: string]: string | number }} [values]
 */
export function counted(key, n, values = {}) {
  return text(`${key}_${form(n) === 'one' ? 'one' : 'other'}`, { ...values, n });
}
