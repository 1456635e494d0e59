// @ts-check

/**
 * The search for members of a board, by HTTP. connection.js calls it for its connections.
 *
 * @import {Credentials} from './credentials.js'
 * @import {Found, SearchOptions} from './rankcast.js'
 */

import { isTicket } from './claims.js';
import { RankcastError } from './socket.js';

/**
 * @param {string} socketURL of the live socket
 * @param {Credentials | undefined} credentials undefined: the page gives none
 * @param {string} board
 * @param {string} query
 * @param {SearchOptions} [options]
 * @returns {Promise<Found>}
 */
export async function search(socketURL, credentials, board, query, { limit = 10, signal } = {}) {
  for (let attempt = 0; ; attempt++) {
    const token = await credentials?.get().catch((error) => {
      throw new RankcastError({ code: 'no_token', message: `The page's function gave no token: ${error}` });
    });
    // A ticket opens a socket and nothing else.
    const sent = token && !isTicket(token);
    let response;
    let answer;
    try {
      const url = new URL(
        `boards/${encodeURIComponent(board)}/search?limit=${limit}&q=${encodeURIComponent(query)}`,
        socketURL.replace('ws', 'http'),
      );
      response = await fetch(url, {
        signal,
        cache: 'no-store',
        credentials: 'omit',
        headers: sent ? { authorization: `Bearer ${token}` } : {},
      });
      answer = await response.json();
    } catch (error) {
      signal?.throwIfAborted();
      // A URIError is about half of a character, as of an emoji that was cut in two.
      throw new RankcastError(
        error instanceof URIError ? { code: 'invalid_request', message: String(error) } : { code: 'unavailable', message: 'No answer.' },
      );
    }
    if (response.ok) return answer;
    if (response.status !== 401 || !sent || attempt) throw new RankcastError({ ...answer, message: answer.detail });
    credentials?.drop(token);
  }
}
