// @ts-check

/** Data that a page reads again and again from the server. All pages use it. */

import { backoff } from '../../kit/socket.js';
import { HTTPError } from './api.js';

/** The number of the attempt after which waits stop growing, at up to 8 s: a reader may look at an empty page. */
const MAX_ATTEMPT = 5;

/** Calls a function repeatedly while the tab is visible, and after a failure with growing, random waits. */
export class Poll {
  #interval;
  #load;
  /** Aborted while it is stopped, when it listens to nothing. */
  #started = new AbortController();
  #attempt = 0;
  #loading = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {number} interval from one answer to the next request, ms; Infinity: only when the tab becomes visible or the browser
   * goes online
   * @param {(signal: AbortSignal) => Promise<void>} load a rejection asks for another attempt soon
   */
  constructor(interval, load) {
    this.#interval = interval;
    this.#load = load;
  }

  /** Loads now, and then repeatedly. A load that is under way is aborted. */
  start() {
    this.stop();
    const { signal } = (this.#started = new AbortController());
    document.addEventListener('visibilitychange', () => this.#wake(), { signal });
    addEventListener('online', () => this.#wake(), { signal });
    this.#run();
  }

  stop() {
    this.#started.abort();
    this.#loading.abort();
    clearTimeout(this.#timer);
  }

  #wake() {
    if (document.visibilityState === 'visible') this.start();
  }

  async #run() {
    const { signal } = (this.#loading = new AbortController());
    let wait = this.#interval;
    try {
      await this.#load(signal);
      this.#attempt = 0;
    } catch (error) {
      if (!signal.aborted && !(error instanceof HTTPError || error instanceof TypeError || error instanceof DOMException))
        reportError(error);
      // At least a second: a refused connection fails at once.
      wait = 1_000 + backoff(Math.min(++this.#attempt, MAX_ATTEMPT));
    }
    if (signal.aborted || wait === Infinity || document.visibilityState === 'hidden') return;
    this.#timer = setTimeout(() => this.#run(), wait);
  }
}
