// @ts-check

/**
 * Requests to the server's HTTP API, with the page's token. All pages use it, mostly from a
 * {@link import('./poll.js').Poll}.
 */

import { ROOT } from './links.js';
import { token } from './token.js';

/** A server that takes longer to answer counts as unreachable. */
const TIMEOUT_MS = 10_000;

/** The server answered with a status that is not 2xx. */
export class HTTPError extends Error {
  /** @param {number} status */
  constructor(status) {
    super(`the server answered with the status ${status}`);
    this.status = status;
    /** A code of the server, of those that pages explain; '': another one. */
    this.code = status === 401 ? 'unauthorized' : status === 403 ? 'forbidden' : '';
  }
}

/**
 * @param {string} path relative to the server's root
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} the decoded JSON
 * @throws {HTTPError | TypeError | DOMException} refused, unreachable, or timed out or aborted
 */
export async function fetchJSON(path, signal) {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(new URL(path, ROOT), {
    headers: { accept: 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  if (!response.ok) throw new HTTPError(response.status);
  return response.json();
}
