// @ts-check

/** The boards and the event that the star-flower page requires, and which of them the server has not defined. */

import { fetchJSON } from '../shared/api.js';
import { encodeSegment } from '../shared/links.js';
import { Poll } from '../shared/poll.js';
import { refusalText } from '../shared/refusal.js';

const BOARDS = ['stars', 'fans:{star}', 'fans3h:{star}'];
const EVENT = 'gift';

export class Requirements {
  /** As far as the page knows; event '': the server has it. @type {{ boards: string[], event: string }} */
  missing = { boards: [], event: '' };
  /** Whether the event names who sends it, as far as the page knows. Otherwise no viewer may send it. */
  namesSender = true;
  /** The most flowers of one event; undefined: the event sets no bound; 0: not known. @type {number | undefined} */
  maxFlowers = 0;

  /** @param {() => void} onChange called after each check */
  constructor(onChange) {
    // An operator may define them while the page is open, so the page checks whenever it becomes visible.
    new Poll(Infinity, async (signal) => {
      const [{ boards }, { events }] = await Promise.all([fetchJSON('v1/boards', signal), fetchJSON('v1/events', signal)]);
      const gift = events.find((/** @type {{ event: string }} */ { event }) => event === EVENT);
      const unlisted = BOARDS.filter((name) => !boards.some((/** @type {{ board: string }} */ { board }) => shape(board) === shape(name)));
      const hidden = await Promise.all(unlisted.map((name) => isHidden(name, signal)));
      this.missing = {
        boards: unlisted.filter((_, i) => !hidden[i]),
        event: gift ? '' : EVENT,
      };
      this.namesSender = !gift || Boolean(gift.sender);
      if (gift) this.maxFlowers = gift.fields?.flowers?.max;
      onChange();
    }).start();
  }
}

/**
 * @param {string} board which the server did not list
 * @param {AbortSignal} signal
 * @returns {Promise<boolean>} whether the list lacks it because the viewer may not see it
 */
async function isHidden(board, signal) {
  try {
    await fetchJSON(`v1/boards/${encodeSegment(board)}`, signal);
  } catch (error) {
    return refusalText(error) !== '';
  }
  return false;
}

/**
 * @param {string} board
 * @returns {string} the name without the names of its placeholders, which differ between servers
 */
function shape(board) {
  return board.replace(/\{\w+\}/g, '{}');
}
