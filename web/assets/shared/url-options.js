// @ts-check

/**
 * The options of a page in its URL, such as `?top=5&theme=dark`. The overlay page and the page in a frame use it.
 *
 * An option that is unknown or has another value is a fault, and the page uses its default. Who sets such a page up
 * often does not see the console, so the page shows the faults.
 */

import { goalsOf } from '../../kit/goals.js';
import { text } from './texts.js';

/** OBS reads parameters with this prefix from a link that is dropped on it, and leaves them in the URL. */
const OBS_PREFIX = 'layer-';

export class URLOptions {
  #query;
  /** What is wrong with the options, one text for each. @type {string[]} */
  faults = [];
  /** The same, by option. @type {Map<string, string>} */
  wrong = new Map();

  /** @param {URLSearchParams} [query] Default: that of the page */
  constructor(query = new URLSearchParams(location.search)) {
    this.#query = query;
  }

  /**
   * @param {string} key
   * @returns {string} the value; '' for none
   */
  textOf(key) {
    return this.#query.get(key) ?? '';
  }

  /**
   * @param {string} key
   * @param {number} most characters
   * @returns {string | undefined} the value, which may be empty; undefined: none
   */
  ownText(key, most) {
    const value = this.#query.get(key) ?? undefined;
    if (value === undefined || [...value].length <= most) return value;
    this.#addFault(key, value, `1–${most}`);
  }

  /**
   * @param {string} key
   * @param {RegExp} form
   * @param {string} example of a value that has it
   * @returns {string} the value; '' for none, and for one of another form
   */
  formOf(key, form, example) {
    const value = this.textOf(key);
    if (!value || form.test(value)) return value;
    this.#addFault(key, value, example);
    return '';
  }

  /**
   * @param {string} key
   * @param {string[]} values the first is the default
   */
  oneOf(key, values) {
    const value = this.#query.get(key);
    if (value && !values.includes(value)) this.#addFault(key, value, values.join(', '));
    return values.find((known) => known === value) ?? values[0];
  }

  /**
   * @param {string} key
   * @param {number} min
   * @param {number} max
   * @param {number} fallback
   */
  numberOf(key, min, max, fallback) {
    const value = this.textOf(key);
    const isNumber = /^\d+$/.test(value);
    if (value && !(isNumber && Number(value) >= min && Number(value) <= max)) this.#addFault(key, value, `${min}–${max}`);
    return isNumber ? Math.min(Math.max(Number(value), min), max) : fallback;
  }

  /**
   * @param {string} key
   * @returns {string} goals, as the element takes them; '' for none
   */
  goalOf(key) {
    const value = this.textOf(key);
    if (!value || goalsOf(value).length) return value;
    this.#addFault(key, value, text('goal_levels'));
    return '';
  }

  /** @param {string[]} known the keys of all options */
  checkKeys(known) {
    for (const key of new Set(this.#query.keys())) {
      if (!known.includes(key) && !key.startsWith(OBS_PREFIX))
        this.#tell(key, text('overlay_unknown', { name: clip(key), known: known.join(', ') }));
    }
  }

  /**
   * @param {string} name of an option
   * @param {string} value
   * @param {string} wanted
   */
  #addFault(name, value, wanted) {
    this.#tell(name, text('overlay_wrong', { name, value: clip(value), wanted }));
  }

  /**
   * @param {string} name of an option
   * @param {string} fault
   */
  #tell(name, fault) {
    this.faults.push(fault);
    this.wrong.set(name, fault);
  }
}

/** @param {string} value of the URL */
function clip(value) {
  return value.length > 30 ? `${value.slice(0, 30)}…` : value;
}
