// @ts-check

/** One row of a board: its elements, what is written into them, how they move. */

import { part, setText } from './dom.js';

/** @typedef {import('./frames.js').Entry} Entry */

/** Long enough to follow with the eye, short enough to end between two changes of a busy board. */
const GLIDE_MS = 380;
const FLASH_MS = 900;

export const numbers = new Intl.NumberFormat();

/**
 * A row belongs to a member for as long as the member is shown.
 *
 * @typedef {object} Row
 * @property {HTMLElement} element
 * @property {HTMLElement} rank
 * @property {HTMLElement} who the member and the gap, and the avatar before them
 * @property {HTMLElement} member
 * @property {HTMLImageElement | null} avatar there while it is shown
 * @property {HTMLElement} gap empty but for the followed member
 * @property {HTMLElement} score
 * @property {Entry | null} entry as written into the elements
 * @property {number} place as laid out; -1: not yet
 * @property {Animation | null} glide
 * @property {Animation | null} flash
 */

/**
 * @param {'li' | 'div'} tag
 * @returns {Row}
 */
export function newRow(tag) {
  const element = part(tag, 'row');
  const rank = part('span', 'rank');
  const who = part('span', 'who');
  const member = part('span', 'member');
  const gap = part('span', 'gap');
  const score = part('span', 'score');
  // Words read aloud, or copied, need the spaces that the layout does not.
  who.append(member, ' ', gap);
  element.append(rank, ' ', who, ' ', score);
  return { element, rank, who, member, avatar: null, gap, score, entry: null, place: -1, glide: null, flash: null };
}

/**
 * @param {Row} row
 * @param {Entry} entry
 */
export function writeRow(row, entry) {
  const before = row.entry;
  if (before === entry) return;
  row.entry = entry;
  if (before?.rank !== entry.rank) {
    setText(row.rank, numbers.format(entry.rank));
    if (entry.rank <= 3) row.element.dataset.podium = String(entry.rank);
    else delete row.element.dataset.podium;
  }
  setText(row.member, entry.name || entry.member);
  row.member.title = entry.member;
  writeAvatar(row, entry.avatar);
  if (before?.score !== entry.score) {
    setText(row.score, numbers.format(entry.score));
    if (before) flash(row);
  }
}

/**
 * Shows an avatar of this site, or one by https where the page's policy lets it load;
 * one that does not load leaves no trace.
 *
 * @param {Row} row
 * @param {string | undefined} avatar
 */
export function writeAvatar(row, avatar) {
  const url = imageURL(avatar);
  if (url === (row.who.dataset.avatar ?? '')) return;
  row.avatar?.remove();
  row.avatar = null;
  if (url === '') {
    delete row.who.dataset.avatar;
    return;
  }
  row.who.dataset.avatar = url;
  const image = part('img', 'avatar');
  image.alt = ''; // the name beside it says who it is
  image.loading = 'lazy';
  image.decoding = 'async';
  image.referrerPolicy = 'no-referrer';
  image.addEventListener('error', () => image.remove());
  image.src = url;
  row.who.prepend(image);
  row.avatar = image;
}

/**
 * @param {string | undefined} avatar
 * @returns {string} '' for what is not shown
 */
function imageURL(avatar) {
  if (!avatar || !URL.canParse(avatar, location.href)) return '';
  const { origin, protocol, href } = new URL(avatar, location.href);
  const path = avatar.startsWith('/') && origin === location.origin;
  return path || /^https:\/\//i.test(avatar) && protocol === 'https:' ? href : '';
}

/**
 * @param {number | null | undefined} toNext
 * @returns {string} '' where there is no next place
 */
export function describeGap(toNext) {
  if (toNext === null || toNext === undefined) return '';
  return toNext === 0 ? 'level with the next' : `${numbers.format(toNext)} to next`;
}

/**
 * @param {Row} row
 * @param {number} distance pixels from where it belongs to where it was seen
 */
export function glide(row, distance) {
  row.glide = row.element.animate([{ transform: `translateY(${distance}px)` }, { transform: 'none' }], {
    duration: GLIDE_MS,
    easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)',
  });
}

/** @param {Row} row */
export function fadeIn(row) {
  row.glide = row.element.animate([{ opacity: 0, transform: 'translateY(0.5em)' }, { opacity: 1, transform: 'none' }], {
    duration: GLIDE_MS,
    easing: 'ease-out',
  });
}

/**
 * A rank that changes while its row stays: the new one comes in from where the
 * member came from.
 *
 * @param {Row} row
 * @param {number} from below 0: from above
 */
export function roll(row, from) {
  const start = { opacity: 0, transform: `translateY(${from < 0 ? '-0.75em' : '0.75em'})` };
  row.rank.animate([start, { opacity: 1, transform: 'none' }], { duration: GLIDE_MS, easing: 'ease-out' });
}

/** @param {Row} row */
export function flash(row) {
  row.flash?.cancel();
  row.flash = row.score.animate([{ opacity: 1 }, { opacity: 0 }], {
    duration: FLASH_MS,
    easing: 'ease-out',
    pseudoElement: '::before',
  });
}
