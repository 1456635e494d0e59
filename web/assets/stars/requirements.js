// @ts-check

/** The boards and the event that the star-flower page requires, and which of them the server has not defined. */

import { fetchJSON } from '../shared/api.js';
import { Poll } from '../shared/poll.js';

const BOARDS = ['stars', 'fans:{star}', 'fans3h:{star}'];
const EVENT = 'gift';

export class Requirements {
  /** As far as the page knows; event '': the server has it. @type {{ boards: string[], event: string }} */
  missing = { boards: [], event: '' };

  /** @param {() => void} onChange called after each check */
  constructor(onChange) {
    // An operator may define them while the page is open, so the page checks whenever it becomes visible.
    new Poll(Infinity, async (signal) => {
      const [{ boards }, { events }] = await Promise.all([fetchJSON('v1/boards', signal), fetchJSON('v1/events', signal)]);
      this.missing = {
        boards: BOARDS.filter((name) => !boards.some((/** @type {{ board: string }} */ { board }) => shape(board) === shape(name))),
        event: events.some((/** @type {{ event: string }} */ { event }) => event === EVENT) ? '' : EVENT,
      };
      onChange();
    }).start();
  }
}

/**
 * @param {string} board
 * @returns {string} the name without the names of its placeholders, which differ between servers
 */
function shape(board) {
  return board.replace(/\{\w+\}/g, '{}');
}
