// @ts-check

/** Names of members without a score, which come with no entry. */

import { fetchJSON } from './api.js';
import { encodeSegment } from './links.js';

/**
 * @param {string} board
 * @param {string} member need not be on the board
 * @returns {Promise<string>} the name in the member's profile; '' without one, or if the server does not tell it
 */
export async function readName(board, member) {
  try {
    const { members } = await fetchJSON(`v1/boards/${encodeSegment(board)}/members?id=${encodeURIComponent(member)}`);
    return members[0].name ?? '';
  } catch {
    return '';
  }
}
