// @ts-check

/**
 * The frames that a server sends on `/v1/live`, and how a list is kept from
 * them. Pure data.
 *
 * @typedef {{ rank: number, member: string, score: number, name?: string, avatar?: string, data?: unknown }} Entry
 *
 * @typedef {object} Snapshot
 * @property {'snapshot'} type
 * @property {string} board
 * @property {string} period '' on a board without periods
 * @property {string} epoch
 * @property {number} seq
 * @property {number} total members on the board
 * @property {string | null} ends when the period closes, or closed (RFC 3339, by the server's clock); null: never
 * @property {boolean} [final] it has closed: nothing changes any more
 * @property {readonly Entry[]} top
 *
 * When a period closes, its last snapshot comes, which is final, and then the
 * first of the period that the board's name means from now on.
 *
 * @typedef {object} Delta
 * @property {'delta'} type
 * @property {string} board
 * @property {number} from seq of the frame this one builds on
 * @property {number} seq
 * @property {number} total
 * @property {readonly (readonly [place: number, entry: Entry])[]} rows
 * @property {number} len length of the list afterwards
 *
 * The followed member's own place. It goes another way than the list, so its
 * `seq` may be lower or higher than the list's: both are right, each as of its
 * own.
 *
 * @typedef {object} Me
 * @property {'me'} type
 * @property {string} board
 * @property {number} seq
 * @property {number | null} rank null: not on the board
 * @property {number | null} score null: not on the board
 * @property {number} total
 * @property {number | null} [to_next] score between this member and the entry above; null: there is none; absent: not known now
 * @property {readonly Entry[]} [around] the neighbours and the member itself; absent: not known now
 *
 * `now` is the clock by which periods end (RFC 3339).
 *
 * @typedef {{ code: string, message: string }} Problem
 *
 * @typedef {Snapshot | Delta | Me
 *   | { type: 'ok' | 'pong', id: number, now?: string }
 *   | { type: 'error', id?: number } & Problem
 *   | { type: 'status', stale: boolean, as_of?: string }
 *   | { type: 'bye', reason: string, retry_ms?: number }} ServerFrame
 */

/**
 * Folds a frame into the list that is held.
 *
 * @param {Snapshot | null} held
 * @param {Snapshot | Delta} frame
 * @returns {Snapshot | null} null: the delta does not fit (a gap), only a new snapshot helps
 */
export function fold(held, frame) {
  if (frame.type === 'snapshot') return frame;
  if (held === null || held.seq !== frame.from) return null;

  const top = held.top.slice(0, frame.len);
  for (const [place, entry] of frame.rows) top[place] = entry;

  // A place left empty, one beyond the end or a member in two places cannot
  // come from the list that the server thinks is held here.
  const members = new Set();
  for (const entry of top) members.add(entry?.member);
  if (top.length !== frame.len || members.size !== frame.len || members.has(undefined)) return null;

  return { ...held, seq: frame.seq, total: frame.total, top };
}
