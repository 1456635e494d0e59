// @ts-check

/** Times for people, with the time zone in which they are. */

import { dates } from '../../kit/format.js';

/**
 * @param {string} time as the server writes it
 * @returns {string} in the reader's time zone: `Nov 30, 2026, 12:00 AM GMT+8`
 */
export function zonedTime(time) {
  return dates.format(new Date(time));
}
