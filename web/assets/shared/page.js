// @ts-check

/** What all pages share: their elements, their addresses, what they ask the server. */

import { backoff } from '../../kit/socket.js';

/** Where the server is: its pages may be below a prefix. */
export const ROOT = new URL('../../', import.meta.url);

/** The language that the URL asks for, which all ways from this page keep; '': the reader's own. */
const LANGUAGE = new URLSearchParams(location.search).get('lang') ?? '';

if (LANGUAGE) {
  for (const link of document.querySelectorAll('.masthead a:not([hreflang])')) {
    if (link instanceof HTMLAnchorElement) link.href = pageURL(link.href).href;
  }
}

/** A server that takes longer than this to answer is as good as away. */
const FETCH_MS = 10_000;
/** Waits stop doubling here, at up to 8 s: somebody is looking at an empty page. */
const LONGEST_ATTEMPT = 5;

/**
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`no ${type.name} with id ${id}`);
  return element;
}

/**
 * @param {string} path of a page, below the server's root
 * @param {{ [name: string]: string }} [query] '': without it
 * @returns {URL} the page, in the language of this one
 */
export function pageURL(path, query = {}) {
  const url = new URL(path, ROOT);
  for (const [name, value] of Object.entries({ ...query, lang: LANGUAGE })) if (value) url.searchParams.set(name, value);
  return url;
}

/**
 * @param {HTMLAnchorElement} link to this page, as it is now, in the other language
 */
export function pointToOtherLanguage(link) {
  const url = new URL(location.href);
  url.searchParams.set('lang', document.documentElement.lang === 'en' ? 'zh' : 'en');
  link.href = url.href;
}

/**
 * Follows links from one view of this page to another without loading it anew.
 *
 * @param {(pathname: string) => boolean} isHere whether a path is this page's
 * @param {(href: string) => void} go
 */
export function followLinks(isHere, go) {
  document.addEventListener('click', (event) => {
    // Links of rows are in a board's shadow.
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
    // Anything but a plain click asks the browser for a tab, a window or a file.
    if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const { origin, pathname, hash, searchParams } = new URL(link.href);
    // Another language is another page.
    if ((searchParams.get('lang') ?? '') !== LANGUAGE || origin !== ROOT.origin || hash || !isHere(pathname)) return;
    event.preventDefault();
    go(link.href);
  });
}

/**
 * Replaces what a list holds where it is anything else: what was there has the focus, maybe.
 *
 * @param {Element} list
 * @param {readonly HTMLElement[]} items
 */
export function replaceItems(list, items) {
  const look = (/** @type {readonly Element[]} */ all) => all.map(({ outerHTML }) => outerHTML).join('');
  if (look([...list.children]) !== look(items)) list.replaceChildren(...items);
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {...(Node | string)} content
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, className, ...content) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...content);
  return element;
}

/**
 * @param {string} name of a board or a member
 * @returns {string} it as a part of a path, readable as far as may be
 */
export function inPath(name) {
  return encodeURIComponent(name).replace(/%(3A|40|2C)/g, decodeURIComponent);
}

/**
 * @param {string} part of a path
 * @returns {string} the name that it stands for
 */
export function fromPath(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The server answered, but not as asked. */
export class RefusedError extends Error {
  /** @param {number} status */
  constructor(status) {
    super(`the server answers ${status}`);
    this.status = status;
  }
}

/**
 * @param {string} path below the server's root
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function read(path, signal) {
  const timeout = AbortSignal.timeout(FETCH_MS);
  const response = await fetch(new URL(path, ROOT), {
    headers: { accept: 'application/json' },
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  if (!response.ok) throw new RefusedError(response.status);
  return response.json();
}

/**
 * What is read again and again while somebody looks, and sooner or later after it failed.
 */
export class Poll {
  #every;
  #load;
  #on = false;
  #attempt = 0;
  #loading = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {number} every milliseconds from an answer to the next question; Infinity: when somebody comes to look
   * @param {(signal: AbortSignal) => Promise<void>} load rejects where it is to be tried again soon
   */
  constructor(every, load) {
    this.#every = every;
    this.#load = load;
    document.addEventListener('visibilitychange', () => this.#wake());
    addEventListener('online', () => this.#wake());
  }

  /** Begins, or begins anew. */
  start() {
    this.stop();
    this.#on = true;
    this.#run();
  }

  stop() {
    this.#on = false;
    this.#loading.abort();
    clearTimeout(this.#timer);
  }

  #wake() {
    if (this.#on && document.visibilityState === 'visible') this.start();
  }

  async #run() {
    const { signal } = (this.#loading = new AbortController());
    let wait = this.#every;
    try {
      await this.#load(signal);
      this.#attempt = 0;
    } catch (error) {
      if (!signal.aborted && !(error instanceof RefusedError || error instanceof TypeError || error instanceof DOMException)) reportError(error);
      // At least a second: a refused connection fails at once.
      wait = 1_000 + backoff(Math.min(++this.#attempt, LONGEST_ATTEMPT));
    }
    if (signal.aborted || wait === Infinity || document.visibilityState === 'hidden') return;
    this.#timer = setTimeout(() => this.#run(), wait);
  }
}
