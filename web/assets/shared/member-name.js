// @ts-check

/** Profiles of members that come with no entry. */

import { fetchJSON } from './api.js';
import { encodeSegment } from './links.js';

/**
 * @param {string} board
 * @param {string} member need not be on the board
 * @returns {Promise<{ name?: string, avatar?: string }>} the member's profile; {} without one, or if the server does not tell it
 */
export async function readProfile(board, member) {
  try {
    const { members } = await fetchJSON(`v1/boards/${encodeSegment(board)}/members?id=${encodeURIComponent(member)}`);
    return members[0];
  } catch {
    return {};
  }
}
