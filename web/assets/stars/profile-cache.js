// @ts-check

/**
 * Names and avatars of stars and users, by id. Entries of boards bring most of them. The cache
 * reads the others from the server, a few at a time. Until then, and for a member without a
 * profile, the page shows the id.
 */

import { fetchJSON, HTTPError } from '../shared/api.js';
import { encodeSegment } from '../shared/links.js';

/** @typedef {{ readonly name?: string, readonly avatar?: string }} Profile */

/** Least recently used profiles beyond this number are dropped. */
const MAX_PROFILES = 500;
const MAX_REQUESTS = 2;
/** More requests do not wait: the page asks again when it shows the member again. */
const MAX_PENDING = 24;
/** After a failure, the cache does not ask for the same profile within this time. */
const RETRY_MS = 30_000;

export class ProfileCache {
  /** By path, least recently used first. @type {Map<string, Profile>} */
  #profiles = new Map();
  /** Paths that wait, are being read, or failed lately. @type {Set<string>} */
  #pending = new Set();
  /** @type {string[]} */
  #queue = [];
  #requests = 0;
  #onChange;

  /** @param {() => void} onChange called when the server has sent a profile */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  /**
   * Adds the profiles that come with entries.
   *
   * @param {string} kind of member: `star` or `user`
   * @param {readonly { member: string, name?: string, avatar?: string }[]} entries
   */
  addEntries(kind, entries) {
    for (const { member, name, avatar } of entries) this.#set(`${kind}/${encodeSegment(member)}`, { name, avatar });
  }

  /**
   * @param {string} kind
   * @param {string} id
   * @returns {Profile} {} while it is not known; then the cache reads it from the server
   */
  get(kind, id) {
    const path = `${kind}/${encodeSegment(id)}`;
    const profile = this.#profiles.get(path);
    if (profile) this.#set(path, profile);
    else if (!this.#pending.has(path) && this.#pending.size < MAX_PENDING) {
      this.#pending.add(path);
      this.#queue.push(path);
      this.#load();
    }
    return profile ?? {};
  }

  /**
   * @param {string} path
   * @param {Profile} profile
   */
  #set(path, profile) {
    this.#profiles.delete(path);
    this.#profiles.set(path, profile);
    if (this.#profiles.size > MAX_PROFILES) for (const [oldest] of this.#profiles) return void this.#profiles.delete(oldest);
  }

  async #load() {
    if (this.#requests === MAX_REQUESTS) return;
    const path = this.#queue.shift();
    if (path === undefined) return;
    this.#requests++;
    try {
      const { name, avatar } = await fetchJSON(`v1/members/${path}`);
      this.#set(path, { name, avatar });
      this.#pending.delete(path);
      if (name || avatar) this.#onChange();
    } catch (error) {
      if (error instanceof HTTPError && error.status === 404) {
        this.#set(path, {});
        this.#pending.delete(path);
      } else {
        setTimeout(() => this.#pending.delete(path), RETRY_MS);
      }
    }
    this.#requests--;
    this.#load();
  }
}
