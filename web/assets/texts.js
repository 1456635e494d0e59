// @ts-check

/**
 * The page's texts, in the language that it was served in: texts/en.json or zh.json. Those
 * of the kit, which speaks English by itself, are among them.
 */

import { numbers, words } from '../kit/format.js';

/** @type {{ [key: string]: string }} */
const texts = JSON.parse(document.getElementById('texts')?.textContent ?? '{}');
const plural = new Intl.PluralRules(document.documentElement.lang);

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
  return found.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === 'number' ? numbers.format(value) : value;
  });
}

/**
 * @param {string} key without `_one` and `_other`
 * @param {number} n
 * @param {{ [name: string]: string | number }} [values]
 */
export function counted(key, n, values = {}) {
  return text(`${key}_${plural.select(n) === 'one' ? 'one' : 'other'}`, { ...values, n });
}
