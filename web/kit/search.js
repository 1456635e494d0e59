// @ts-check

/**
 * The search for members of a board, by HTTP. connection.js calls it for its connections.
 *
 * @import {Credentials} from './credentials.js'
 * @import {Found, SearchOptions} from './rankcast.js'
 */

import { isTicket } from './credentials.js';
import { RankcastError } from './socket.js';

/**
 * @param {string} socketURL of the live socket
 * @param {Credentials | null} credentials null: the page gives none
 * @param {string} board
 * @param {string} query
 * @param {SearchOptions} [options]
 * @returns {Promise<Found>}
 */
export async function search(socketURL, credentials, board, query, { limit, signal } = {}) {
  const url = new URL(`boards/${encodeURIComponent(board)}/search`, socketURL.replace(/^ws/, 'http'));
  url.searchParams.set('q', query);
  if (limit !== undefined) url.searchParams.set('limit', `${limit}`);
  for (let attempt = 0; ; attempt++) {
    const token = await tokenOf(credentials);
    signal?.throwIfAborted();
    const { status, body } = await request(url, token, signal);
    if (status === 200) return body;
    if (status === 401) credentials?.drop(token);
    if (status !== 401 || !token || attempt > 0) {
      throw new RankcastError({ code: body?.code ?? 'unavailable', message: body?.detail ?? `The server answered with the status ${status}.`, field: body?.field });
    }
  }
}

/**
 * @param {Credentials | null} credentials
 * @returns {Promise<string | null>} null: none, or a ticket, which opens a socket and nothing else
 */
async function tokenOf(credentials) {
  try {
    const token = (await credentials?.get()) ?? null;
    return token && isTicket(token) ? null : token;
  } catch (error) {
    throw new RankcastError({ code: 'no_token', message: `The page's function gave no token: ${error}` });
  }
}

/**
 * @param {URL} url
 * @param {string | null} token
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ status: number, body: any }>} body: null if it is no JSON
 */
async function request(url, token, signal) {
  try {
    const response = await fetch(url, { signal, cache: 'no-store', credentials: 'omit', headers: token ? { authorization: `Bearer ${token}` } : {} });
    return { status: response.status, body: await response.json().catch(() => null) };
  } catch {
    signal?.throwIfAborted();
    throw new RankcastError({ code: 'unavailable', message: 'No answer from the server.' });
  }
}
