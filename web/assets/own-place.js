// @ts-check

/**
 * Where the followed member is, from a list and an own place that may each be a
 * moment older than the other. Pure.
 *
 * - `unknown`: nothing was heard of it yet
 * - `listed`: in the list, whose own entry is then the one to show
 * - `below`: on the board, not in the list; `rank` null: not known at this
 *   moment; `toNext` null: there is no gap; undefined: not known at this moment, as
 *   with `name` and `avatar`, which are '' where there is none
 * - `absent`: not on the board
 * @typedef {{ kind: 'unknown' | 'absent' }
 *   | { kind: 'listed', entry: Entry, toNext: number | null }
 *   | { kind: 'below', rank: number | null, score: number, name: string | undefined, avatar: string | undefined, toNext: number | null | undefined }
 * } OwnPlace
 */

/** @typedef {import('./frames.js').Entry} Entry */
/** @typedef {import('./frames.js').Me} Me */
/** @typedef {import('./frames.js').Snapshot} Snapshot */

/**
 * @param {string} member
 * @param {Snapshot | null} list
 * @param {Me | null} me
 * @returns {OwnPlace}
 */
export function ownPlace(member, list, me) {
  if (!list) return { kind: 'unknown' };
  const { top } = list;
  const place = top.findIndex((entry) => entry.member === member);
  if (place >= 0) {
    const entry = top[place];
    return { kind: 'listed', entry, toNext: place > 0 ? Math.abs(top[place - 1].score - entry.score) : null };
  }
  if (!me) return { kind: 'unknown' };
  if (me.rank === null || me.score === null) return { kind: 'absent' };
  const own = me.around?.find((entry) => entry.member === member);
  const [name, avatar] = own ? [own.name ?? '', own.avatar ?? ''] : [];
  return contradicts(list, me)
    ? { kind: 'below', rank: null, score: me.score, name, avatar, toNext: undefined }
    : { kind: 'below', rank: me.rank, score: me.score, name, avatar, toNext: me.to_next };
}

/**
 * A newer list without the member shows that a rank within it is over. Members
 * with the last entry's score may share its rank, so an equal one may stand.
 *
 * @param {Snapshot} list
 * @param {Me} me
 */
function contradicts({ seq, top }, me) {
  const last = top.at(-1);
  if (!last || me.rank === null || me.seq >= seq) return false;
  return me.rank < last.rank || (me.rank === last.rank && me.score !== last.score);
}
