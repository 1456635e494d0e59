// @ts-check

/**
 * Names of members whom only an id tells. Most are known from boards; the others are read, a
 * few at a time, and until then, or where there is no profile, the id is the name.
 */

import { inPath, read, RefusedError } from '../shared/page.js';

/** @typedef {{ readonly name?: string, readonly avatar?: string }} Profile */

/** Profiles kept; those not used for longest go first. */
const KEPT = 500;
const MOST_AT_ONCE = 2;
/** Who is not asked for in time is asked for when they are seen again. */
const MOST_WAITING = 24;
/** A server that could not answer is not asked for the same again before that. */
const AGAIN_MS = 30_000;

export class Profiles {
  /** @type {Map<string, Profile>} */
  #known = new Map();
  /** Asked for, to be, or not to be again yet. @type {Set<string>} */
  #wanted = new Set();
  /** @type {string[]} */
  #waiting = [];
  #loading = 0;
  #onChange;

  /** @param {() => void} onChange a name that was asked for has come */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  /**
   * @param {string} kind
   * @param {readonly { member: string, name?: string, avatar?: string }[]} entries of a board
   */
  see(kind, entries) {
    for (const { member, name, avatar } of entries) this.#keep(`${kind}/${inPath(member)}`, { name, avatar });
  }

  /**
   * @param {string} kind
   * @param {string} id
   * @returns {Profile} what is known now
   */
  of(kind, id) {
    const path = `${kind}/${inPath(id)}`;
    const known = this.#known.get(path);
    if (known) this.#keep(path, known);
    else if (!this.#wanted.has(path) && this.#wanted.size < MOST_WAITING) {
      this.#wanted.add(path);
      this.#waiting.push(path);
      this.#load();
    }
    return known ?? {};
  }

  /**
   * @param {string} path
   * @param {Profile} profile
   */
  #keep(path, profile) {
    this.#known.delete(path);
    this.#known.set(path, profile);
    if (this.#known.size > KEPT) for (const [oldest] of this.#known) return void this.#known.delete(oldest);
  }

  async #load() {
    if (this.#loading === MOST_AT_ONCE) return;
    const path = this.#waiting.shift();
    if (path === undefined) return;
    this.#loading++;
    try {
      const { name, avatar } = await read(`v1/members/${path}`);
      this.#keep(path, { name, avatar });
      this.#wanted.delete(path);
      if (name || avatar) this.#onChange();
    } catch (error) {
      if (error instanceof RefusedError && error.status === 404) {
        this.#keep(path, {});
        this.#wanted.delete(path);
      } else {
        setTimeout(() => this.#wanted.delete(path), AGAIN_MS);
      }
    }
    this.#loading--;
    this.#load();
  }
}
