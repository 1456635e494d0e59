// @ts-check

/**
 * The clock of the server's store, which decides when a period ends, as the server told
 * it last. The page's own clock may be hours off, and may be set while the page is
 * open: what has passed since is measured by one that only goes on.
 */
export class ServerClock {
  /** What it was when the page's measure was 0, ms since 1970. @type {number | null} null: never told */
  #origin = null;

  /** @param {string | undefined} now RFC 3339, at this moment */
  hear(now) {
    const at = Date.parse(now ?? '');
    if (!Number.isNaN(at)) this.#origin = at - performance.now();
  }

  /** @returns {number} ms since 1970; by the page's own clock as long as the server told none */
  now() {
    return this.#origin === null ? Date.now() : this.#origin + performance.now();
  }
}
