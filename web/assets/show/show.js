// @ts-check

/**
 * The event of the star-flower page and the boards that its definition shows: the event that the server has put into the
 * page, or the first one with a `show` in the server's list, which an operator may define while the page is open.
 */

import { fetchJSON } from '../shared/api.js';
import { Poll } from '../shared/poll.js';

/**
 * @typedef {object} Definition of an event
 * @property {string} event
 * @property {{ board: string, fans?: string, recent?: string }} [show]
 * @property {string} [sender]
 * @property {{ [name: string]: { max?: number } }} [fields]
 * @property {{ board: string, member: string, score: string | number }[]} updates
 */

/**
 * @typedef {object} Show
 * @property {string} event
 * @property {string} board
 * @property {string} fans the board of one star's fans, with a placeholder; '': none
 * @property {string} recent the same for a short time
 * @property {string} star the field of the event for the star
 * @property {string} user the field for the viewer; '': none
 * @property {string} flowers the field for the number of flowers; '': each event is one flower
 * @property {boolean} namesSender otherwise no viewer may send the event
 * @property {number | undefined} max the most flowers of one event; undefined: the event sets no bound
 */

/** null: no event has a show, as far as the page knows. @type {Show | null} */
export let show = readShow([JSON.parse(document.getElementById('show')?.textContent ?? '{}')]);

/** Whether the server has answered, or has put the event into the page. */
export let isKnown = show !== null;

/** @param {() => void} onChange called after each answer */
export function watchShow(onChange) {
  new Poll(Infinity, async (signal) => {
    const { events } = await fetchJSON('v1/events', signal);
    // The server does not list an event that the viewer may not see.
    show = readShow(events) ?? show;
    isKnown = true;
    onChange();
  }).start();
}

/**
 * @param {Definition[]} events
 * @returns {Show | null}
 */
function readShow(events) {
  const definition = events.find(({ show }) => show);
  if (!definition?.show) return null;
  const { event, show: { board, fans = '', recent = '' }, sender = '', fields = {}, updates } = definition;
  const updateOf = (/** @type {string} */ name) => updates.find((update) => update.board === name && fieldOf(update.member));
  const own = updateOf(board);
  const flowers = fieldOf(String(own?.score));
  return {
    event,
    board,
    fans,
    recent,
    star: fieldOf(own?.member),
    user: sender || fieldOf(updateOf(fans || recent)?.member),
    flowers,
    namesSender: sender !== '',
    max: flowers ? fields[flowers]?.max : 1,
  };
}

/** @param {string} [text] in which a field stands in braces; another text gives '' */
function fieldOf(text = '') {
  return /^\{(\w+)\}$/.exec(text)?.[1] ?? '';
}

/**
 * @param {string} family a board of the show, with a placeholder
 * @param {string} star
 * @returns {string} the name of the star's board
 */
export function instance(family, star) {
  return family.replaceAll(`{${show?.star}}`, () => star);
}

/**
 * @param {{ [name: string]: unknown }} data of an item of the feed
 * @returns {{ star: unknown, user: unknown, flowers: unknown }}
 */
export function giftOf(data) {
  const { star = '', user = '', flowers = '' } = show ?? {};
  return { star: data[star], user: data[user], flowers: flowers ? data[flowers] : 1 };
}

/**
 * @param {{ star: string, user: string, flowers: number }} gift
 * @returns {{ [name: string]: unknown }} the fields of the event for it
 */
export function fieldsOf(gift) {
  const { star = '', user = '', flowers = '' } = show ?? {};
  return { [star]: gift.star, [user]: gift.user, ...(flowers && { [flowers]: gift.flowers }) };
}
