// @ts-check

/**
 * Names and avatars of stars and fans, by id. Entries of boards bring most of them. The cache
 * reads the others from a board of their kind, which also answers for members without a score or
 * a profile. Until then, and for a member without a profile, the page shows the id.
 */

import { fetchJSON } from '../shared/api.js';
import { partProblem } from '../shared/board-name.js';
import { encodeSegment } from '../shared/links.js';
import { instance, show } from './event.js';

/** @typedef {{ readonly name?: string, readonly avatar?: string }} Profile */

/** Least recently used profiles beyond this number are dropped. */
const MAX_PROFILES = 500;
/** In one request. */
const MAX_MEMBERS = 12;
/** More members do not wait: the page asks again when it shows them again. */
const MAX_PENDING = 48;
/** After a failure, the cache does not ask for the same profile within this time. */
const RETRY_MS = 30_000;

/** @typedef {'star' | 'fan'} Role */
/** @typedef {{ role: Role, id: string, board: string }} Wanted */

export class ProfileCache {
  /** By role and id, least recently used first. @type {Map<string, Profile>} */
  #profiles = new Map();
  /** Keys that wait, are being read, or failed lately. @type {Set<string>} */
  #pending = new Set();
  /** @type {Wanted[]} */
  #queue = [];
  #loading = false;
  #onChange;

  /** @param {() => void} onChange called when the server has sent a profile */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  /**
   * Adds the profiles that come with entries.
   *
   * @param {Role} role of the members
   * @param {readonly { member: string, name?: string, avatar?: string }[]} entries
   */
  addEntries(role, entries) {
    for (const { member, name, avatar } of entries) this.#set(keyOf(role, member), { name, avatar });
  }

  /**
   * @param {string} id
   * @returns {Profile} {} while it is not known; then the cache reads it from the server
   */
  star(id) {
    return show && !partProblem(id) ? this.#get({ role: 'star', id, board: show.board }) : {};
  }

  /**
   * @param {string} id
   * @param {string} star whose fans the server is asked for
   * @returns {Profile} {} while it is not known; then the cache reads it from the server
   */
  fan(id, star) {
    const family = show?.fans || show?.recent;
    return family && !partProblem(star) ? this.#get({ role: 'fan', id, board: instance(family, star) }) : {};
  }

  /** @param {Wanted} wanted */
  #get(wanted) {
    const key = keyOf(wanted.role, wanted.id);
    const profile = this.#profiles.get(key);
    if (profile) this.#set(key, profile);
    else if (!this.#pending.has(key) && this.#pending.size < MAX_PENDING) {
      this.#pending.add(key);
      this.#queue.push(wanted);
      // All that one render wants goes into one request.
      queueMicrotask(() => this.#load());
    }
    return profile ?? {};
  }

  /**
   * @param {string} key
   * @param {Profile} profile
   */
  #set(key, profile) {
    this.#profiles.delete(key);
    this.#profiles.set(key, profile);
    if (this.#profiles.size > MAX_PROFILES) for (const [oldest] of this.#profiles) return void this.#profiles.delete(oldest);
  }

  async #load() {
    if (this.#loading || this.#queue.length === 0) return;
    this.#loading = true;
    const [{ board, role }] = this.#queue;
    const wanted = this.#queue.filter((other) => other.board === board).slice(0, MAX_MEMBERS);
    this.#queue = this.#queue.filter((other) => !wanted.includes(other));
    try {
      const query = new URLSearchParams(wanted.map(({ id }) => ['id', id]));
      /** @type {{ members: { member: string, name?: string, avatar?: string }[] }} */
      const { members } = await fetchJSON(`v1/boards/${encodeSegment(board)}/members?${query}`);
      this.addEntries(role, members);
      for (const { id } of wanted) this.#pending.delete(keyOf(role, id));
      if (members.some(({ name, avatar }) => name || avatar)) this.#onChange();
    } catch {
      setTimeout(() => wanted.forEach(({ id }) => this.#pending.delete(keyOf(role, id))), RETRY_MS);
    }
    this.#loading = false;
    this.#load();
  }
}

/**
 * @param {Role} role
 * @param {string} id
 */
function keyOf(role, id) {
  return `${role}/${id}`;
}
