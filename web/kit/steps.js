// @ts-check

/**
 * What one reveal on a frozen board changes, and the lists that show it as a climb, place by place. The functions are pure.
 *
 * @import {Entry, Snapshot} from './rankcast.js'
 *
 * entry: the member that is revealed; old: its entry of before; null: the list did not have it; isNew: nor did the board; from, to: its
 * places, from 0
 * @typedef {{ entry: Entry, old: Entry | null, isNew: boolean, from: number, to: number }} Step
 */

/** How long the row of the member stands out before its score changes, and then before it moves. */
export const LOOK_MS = 1_200;
const SCORE_MS = 1_100;
/** A place on the way takes a glide and a rest, which is longer at the first three. */
const HOP_MS = 520;
const FIRST_HOP_MS = 850;
export const FIRST = 3;
/** How long the new place is there to be read before the next step. */
export const READ_MS = 1_200;
/** A longer way passes several places at once, and the last ones one by one. */
const HOPS = 8;

/**
 * @param {Snapshot} before
 * @param {Snapshot} now
 * @returns {Step | null} null: it is not one member that was revealed, or not one whose change the list shows
 */
export function stepOf(before, now) {
  const old = new Map(before.top.map((entry) => [entry.member, entry]));
  const changed = now.top.filter(({ member, score }) => old.get(member)?.score !== score);
  if (changed.length !== 1) return null;
  const [entry] = changed;
  const to = now.top.indexOf(entry);
  const listed = new Set(now.top.map(({ member }) => member));
  const gone = before.top.filter(({ member }) => !listed.has(member));
  const was = old.get(entry.member);
  if (was) return gone.length ? null : { entry, old: was, isNew: false, from: before.top.indexOf(was), to };
  // A member that enters the list joins the board, or pushes out the last one. Otherwise it follows one that left.
  const joins = now.total > before.total;
  const last = before.top.length - 1;
  if (gone.length > 1 || (gone[0] && gone[0] !== before.top[last]) || (!joins && (!gone.length || to === last))) return null;
  return { entry, old: null, isNew: joins, from: gone.length ? last : before.top.length, to };
}

/**
 * @param {{ from: number, to: number }} step
 * @returns {number[]} the places of the way after the first one; the last is that of the step
 */
export function placesOf({ from, to }) {
  const way = Math.abs(from - to);
  if (!way) return [to];
  const hops = Math.min(way, HOPS);
  return Array.from({ length: hops }, (_, i) => {
    const left = way <= HOPS ? hops - 1 - i : Math.ceil(way * ((hops - 1 - i) / hops) ** 2);
    return to + Math.sign(from - to) * left;
  });
}

/**
 * @param {number[]} way
 * @returns {number[]} how long it takes to each place of the way, ms
 */
export function timesOf(way) {
  return way.map((_, i) => (i === 0 ? SCORE_MS : way[i - 1] < FIRST ? FIRST_HOP_MS : HOP_MS));
}

/**
 * @param {{ from: number, to: number }} step
 * @returns {number} how long the step is shown before the next one, ms
 */
export function lengthOf(step) {
  return timesOf(placesOf(step)).reduce((sum, ms) => sum + ms, LOOK_MS + READ_MS);
}

/**
 * @param {Snapshot} before
 * @param {Snapshot} now
 * @param {Step} step
 * @param {number} at the place of the member
 * @returns {Entry[]} the list while the member is there: whom it has passed has the rank of after, the others that of before
 */
export function listAt(before, now, { entry, from, to }, at) {
  if (at === to) return [...now.top];
  const old = new Map(before.top.map((entry) => [entry.member, entry]));
  const after = now.top.filter(({ member }) => member !== entry.member);
  const others = after.map((other) => old.get(other.member) ?? other);
  const rises = from > to;
  const passed = others[rises ? at : at - 1]?.rank ?? before.total + 1;
  const list = others.map((other, i) => (rises ? i >= at : i < at) ? after[i] : other);
  const rank = at === from ? (old.get(entry.member)?.rank ?? before.top[from]?.rank ?? before.total + 1) : passed;
  return list.toSpliced(at, 0, { ...entry, rank });
}
