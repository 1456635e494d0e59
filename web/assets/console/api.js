// @ts-check

/** Requests to the HTTP API, with the session of the operator. The whole console uses it. */

import { HTTPError } from '../shared/api.js';
import { ROOT } from '../shared/links.js';
import { Poll } from '../shared/poll.js';

/** A server that takes longer to answer counts as unreachable. */
const TIMEOUT_MS = 30_000;

/** The server has refused a request, or did not answer. The message says why, for the operator. */
export class Problem extends HTTPError {
  /**
   * @param {number} status 0: no answer
   * @param {{ code?: string, detail?: string, field?: string }} problem
   * @param {number} [retryAfter] s
   */
  constructor(status, { code = '', detail = '', field = '' }, retryAfter = 0) {
    super(status);
    if (detail) this.message = detail;
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
  }
}

/**
 * @typedef {{ query?: { [name: string]: string | number | undefined }, body?: unknown, text?: string, type?: string,
 *   headers?: { [name: string]: string }, signal?: AbortSignal, quiet?: boolean }} Options
 * query: parameters that are undefined or '' are left out. body: sent as JSON. text: sent as it is, of the content type `type`.
 * quiet: a 401 does not ask the operator to sign in.
 */

/**
 * @param {string} method
 * @param {string} path relative to the server's root; names in it are encoded (encodeSegment in links.js)
 * @param {Options} [options]
 * @returns {Promise<any>} the decoded JSON; undefined for an empty answer
 * @throws {Problem}
 */
export async function request(method, path, { query = {}, body, text, type, headers = {}, signal, quiet } = {}) {
  const url = new URL(path, ROOT);
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let response;
  try {
    response = await fetch(url, {
      method,
      headers: { accept: 'application/json', ...(method !== 'GET' && { 'content-type': type ?? 'application/json' }), ...headers },
      body: text ?? (body === undefined ? undefined : JSON.stringify(body)),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      cache: 'no-store',
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, { detail: 'The server does not answer. It may be restarting, or your network may be away.' });
  }
  if (response.status === 401 && !quiet) dispatchEvent(new Event('signedout'));
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new Problem(response.status, problem, Number(response.headers.get('retry-after')));
  }
  return response.status === 204 ? undefined : response.json();
}

/**
 * Reads something now, and then again and again, until the operator leaves the view.
 *
 * @param {number} interval ms
 * @param {(signal: AbortSignal) => Promise<void>} load
 * @param {AbortSignal} left of the end of the view
 * @returns {Poll} which may be started anew
 */
export function repeat(interval, load, left) {
  const poll = new Poll(interval, load);
  left.addEventListener('abort', () => poll.stop());
  poll.start();
  return poll;
}
