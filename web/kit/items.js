// @ts-check

/**
 * Which rows the element shows: the entries of the list, and the followed member. The functions are pure.
 *
 * @import {Me, Snapshot} from './rankcast.js'
 * @import {GapFormat, Item} from './row.js'
 */

import { phrase, words } from './format.js';

/**
 * @param {Snapshot | null} snapshot
 * @param {Me | null} own rank and score of the followed member
 * @param {string} me the followed member; '': none
 * @param {boolean} around whether the neighbours of a member below the list have rows
 * @param {GapFormat} format of a gap
 * @returns {{ items: readonly Item[], own: Item | null }} the rows of the list, with the followed member (and its neighbours)
 * below if the list does not hold it
 */
export function itemsOf(snapshot, own, me, around, format) {
  const top = snapshot?.top ?? [];
  const index = top.findIndex(({ member }) => member === me);
  const entry = top[index];
  if (entry) {
    const gap = entry.rank > 1 ? gapText(format, Math.abs(top[index - 1].score - entry.score), top[index - 1], entry) : '';
    const item = { ...entry, me: true, gap };
    return { items: top.map((entry, i) => (i === index ? item : entry)), own: item };
  }
  if (!me || !own) return { items: top, own: null };
  const neighbours = (around && own.around) || [];
  const known = own.around?.find(({ member }) => member === me);
  // The list and the own rank arrive independently. A newer list without the member shows that
  // a rank within it is outdated. (Members with equal scores may share the last rank.)
  const last = top.at(-1);
  const outdated =
    own.rank !== null &&
    last &&
    own.seq < (snapshot?.seq ?? 0) &&
    (own.rank < last.rank || (own.rank === last.rank && own.score !== last.score));
  /** @type {Item} */
  const item = {
    ...known,
    member: me,
    rank: outdated ? null : own.rank,
    score: own.score,
    columns: own.columns,
    me: true,
    below: true,
    gap: own.rank === null ? words[snapshot?.final ? 'absent' : 'no_score'] : outdated ? '' : gapText(format, own.to_next, own),
  };
  const listed = new Set(top.map(({ member }) => member));
  const below =
    outdated || !neighbours.length
      ? [item]
      : neighbours.filter(({ member }) => !listed.has(member)).map((entry) => (entry.member === me ? item : { ...entry, below: true }));
  // The own rank may be newer than the neighbours.
  below.sort((a, b) => Number(a.rank) - Number(b.rank));
  return { items: [...top, ...below], own: item };
}

/**
 * @param {GapFormat} format
 * @param {number | null | undefined} toNext
 * @param {...any} between what the format gets
 */
function gapText(format, toNext, ...between) {
  if (toNext === null || toNext === undefined) return '';
  return toNext === 0 ? words.level : phrase('to_next', { score: format(toNext, ...between) });
}
