// @ts-check

/** What the page needs of a server, and what of it a server has not got. */

import { Poll, read } from '../shared/page.js';

const BOARDS = ['stars', 'fans:{star}', 'fans3h:{star}'];
const EVENT = 'gift';

/** What is missing, as far as is known. @typedef {{ boards: string[], event: string }} Missing event '': it is there */

export class Needs {
  /** @type {Missing} */
  missing = { boards: [], event: '' };

  /** @param {(missing: Missing) => void} onChange */
  constructor(onChange) {
    // They are defined while nobody looks at this page.
    new Poll(Infinity, async (signal) => {
      const [{ boards }, { events }] = await Promise.all([read('v1/boards', signal), read('v1/events', signal)]);
      this.missing = {
        boards: BOARDS.filter((name) => !boards.some((/** @type {{ board: string }} */ { board }) => shape(board) === shape(name))),
        event: events.some((/** @type {{ event: string }} */ { event }) => event === EVENT) ? '' : EVENT,
      };
      onChange(this.missing);
    }).start();
  }
}

/**
 * @param {string} board
 * @returns {string} it without the names of its placeholders, which are the server's own
 */
function shape(board) {
  return board.replace(/\{\w+\}/g, '{}');
}
