// @ts-check

/** Connections of the kit with the page's token (token.js). The pages with boards use it. */

import { connect } from '../../kit/connection.js';
import { token } from './token.js';

const giveToken = token ? () => token : undefined;

/** @returns {import('../../kit/rankcast.js').Connection} the page's connection to its server */
export function connectWithToken() {
  return connect(undefined, { token: giveToken });
}

/**
 * Has boards use the token. Without one, nothing changes.
 *
 * @param {Iterable<HTMLElementTagNameMap['live-leaderboard']>} boards
 */
export function setToken(boards) {
  if (giveToken) for (const board of boards) board.token = giveToken;
}
