/**
 * Boards of a Rankcast server on any page:
 *
 * ```html
 * <script type="module" src="https://your-server/kit/rankcast.js"></script>
 * <live-leaderboard board="stars" top="10" me="u4"></live-leaderboard>
 * ```
 *
 * or, drawn by the page itself:
 *
 * ```js
 * import { subscribe } from 'https://your-server/kit/rankcast.js';
 * const leave = subscribe('stars', { top: 3, me: 'u4' }, {
 *   onTop: ({ top }) => draw(top),
 *   onMe: ({ rank, score }) => drawOwn(rank, score),
 * });
 * ```
 *
 * A page of another site needs that the server allows its origin (`--origins`).
 * Names, avatars and data are text of whoever sent them: write them with `textContent`.
 */

/** One place on a board. */
export interface Entry {
  /** From 1. */
  readonly rank: number;
  /** The member's id. */
  readonly member: string;
  /** An integer within ±(2^53−1). */
  readonly score: number;
  /** From the member's profile. */
  readonly name?: string;
  readonly avatar?: string;
  /** What the last update that had data sent along. */
  readonly data?: unknown;
}

/** The first entries of a board, and how it stands. */
export interface Snapshot {
  readonly board: string;
  /** '' on a board without periods. */
  readonly period: string;
  readonly epoch: string;
  readonly seq: number;
  /** Members on the board. */
  readonly total: number;
  /** When the period closes, or closed: RFC 3339, by the server's clock (see {@link Connection.now}); null: never. */
  readonly ends: string | null;
  /** The period has closed: nothing changes any more, and the next one follows. */
  readonly final?: boolean;
  readonly top: readonly Entry[];
}

/**
 * Where the followed member is. It goes another way than the list, so its `seq` may be
 * lower or higher than the list's: both are right, each as of its own.
 */
export interface Me {
  /** −1: it was known before the list came that was handed over last. */
  readonly seq: number;
  /** null, as is `score`: not on the board. */
  readonly rank: number | null;
  readonly score: number | null;
  readonly total: number;
  /** Score between the member and the place above; null: there is none; absent: not known now. */
  readonly to_next?: number | null;
  /** With `around`: neighbours and the member itself; absent: not known now. */
  readonly around?: readonly Entry[];
}

/** What is asked of a board. */
export interface Wish {
  /** Entries, 0 to 1,000 (or what the server allows). Default 10. */
  readonly top?: number;
  /** The member to follow. Default none. */
  readonly me?: string;
  /** Its neighbours on each side, 0 to 20. Default 0: neither they nor `to_next` are told. */
  readonly around?: number;
}

/**
 * - `connecting`: first attempt, or connected and waiting for the list
 * - `live`: what was handed over last is what the server shows
 * - `stale`: connected, but the server has lost its store
 * - `away`: the connection is lost and is being tried again
 * - `paused`: the tab is hidden; when it is shown again one frame catches up
 * - `stopped`: refused for good, nothing more comes
 */
export type State = 'connecting' | 'live' | 'stale' | 'away' | 'paused' | 'stopped';

export interface StateDetail {
  /** With `stale`: as of when the last data are (RFC 3339), or ''. */
  readonly asOf?: string;
  /** With `stopped`: why. */
  readonly problem?: Problem;
}

/** A refusal: a code of the server's (`unknown_board`, `forbidden`, …), `cannot_connect` or `closed`. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  /** What it is about, where it is one field. */
  readonly field?: string;
}

/** None is called from within `subscribe`, nor after it was left. */
export interface Callbacks {
  /** The whole list, after each change; entries that a delta left as they are are the same objects. */
  onTop?(snapshot: Snapshot): void;
  onMe?(me: Me): void;
  onState?(state: State, detail: StateDetail): void;
}

export interface FeedCallbacks {
  /** What happened, in order; `skipped` were left out before them. The first call, without items, says that it begins. */
  onItems(items: readonly { readonly at: string; readonly data: any }[], skipped: number): void;
  /** It was refused, or the connection is stopped for good. */
  onError?(problem: Problem): void;
}

/**
 * A server's live connection. There is one for each server on a page (and one more socket for
 * each further time that a board is watched, and for each 100 boards). It opens when there is
 * something to watch or send, comes back by itself with growing, random waits when it is
 * lost, offers what it holds so that only what changed is sent again, notices an end that is
 * gone without a word within 25 s, waits as long as a server asks that stops (`bye`), and gives
 * up where it is told not to come back (close codes 4500 to 4999).
 */
export interface Connection {
  /** Watches a board. @returns ends it; calling it again does nothing */
  subscribe(board: string, wish: Wish, callbacks: Callbacks): () => void;
  /** Watches what happens: the events of a name, or `periods`. @returns ends it */
  feed(name: string, callbacks: FeedCallbacks): () => void;
  /**
   * Sends an event until it is answered, over lost connections and new ones, for nine minutes at
   * most, always under the same id (`data.id`, or one that is made), so that it counts once.
   *
   * @param within ms, default nine minutes: less for what was sent before by a page that was left, as
   * servers know an id for ten
   * @returns what it did on each of its boards: an entry, or an object with `error`
   * @throws {Problem} refused (always `forbidden` to a page of another site), or (`unavailable`) it is not known whether it counts
   */
  send(event: string, data: { readonly id?: string; readonly [field: string]: unknown }, within?: number): Promise<any[]>;
  /** The server's clock, by which periods end: ms since 1970. The page's own until it was heard. */
  now(): number;
  /** @returns how long a message to the server and back takes, in ms; null: the connection is not there, or lost */
  ping(): Promise<number | null>;
}

/**
 * @param server where it is; default: where this module came from
 * @returns the page's connection to it, which opens when it is used
 * @throws {TypeError} `server` is no URL
 */
export function connect(server?: string | URL): Connection;

/** Watches a board of the server that this module came from. */
export function subscribe(board: string, wish: Wish, callbacks: Callbacks): () => void;

/** How a board's scores are shown (its `display`). */
export interface Display {
  /** `time_ms`: 83456 is 1:23.456. */
  readonly format?: string;
  /** After the number. */
  readonly unit?: string;
  /** 12345 with 2 is 123.45. Default 0. */
  readonly decimals?: number;
}

export function scoreFormat(display: Display): (score: number) => string;

/**
 * A countdown, in words that change seldom: `3 d 4 h`, `2 h 5 min`, `4:59`.
 *
 * @param ms until then, by the server's clock: `Date.parse(snapshot.ends) - connection.now()`
 * @returns the words, '' when it is over; and after how many ms they are others, Infinity for never
 */
export function timeLeft(ms: number): { text: string; changesIn: number };

/** All that the element says, in English. A page in another language puts its own words in before it shows one. */
export const words: { [word: string]: string };

/** `update`: what is shown, after each change of it. */
export interface Update {
  /** null: not known yet. */
  readonly snapshot: Snapshot | null;
  /** null: nobody is followed, or it is not known yet. */
  readonly me: Me | null;
  readonly state: State;
}

/** `rank-up`: the followed member has risen. */
export interface RankUp {
  readonly member: string;
  readonly rank: number;
  readonly before: number;
}

/** `overtaken`: the followed member has fallen. */
export interface Overtaken extends RankUp {
  /** Who is now just above, where that is known. */
  readonly by: Entry | null;
}

/** `enter-top`: somebody has come into the list. */
export interface EnterTop {
  readonly entry: Entry;
}

/** `new-leader`: somebody else is first. */
export interface NewLeader extends EnterTop {
  readonly before: Entry;
}

/**
 * `<live-leaderboard>`: one board, live. A board with periods shows the current one, counts
 * down to its end, and turns over to the next.
 *
 * Attributes
 * - `board`: as named on the wire: `stars`, `fans:s17`, `stars@2026-W46`
 * - `top`: entries shown, 1 to 1,000, default 10
 * - `me`: the member to follow: marked in the list, or in a row of its own below it, which
 *   stays in view while the list is scrolled; default none
 * - `around`: so many neighbours, 1 to 20, above and below that row; default none
 * - `format`, `unit`, `decimals`: how scores are shown, see {@link Display}
 * - `pace`: least time between two changes of the scores that are shown, ms, 0 to 60,000,
 *   default 0: each frame of the screen shows at most one
 * - `server`: URL of the server; default: where this module came from
 * - `data-state`, `data-final` (set by the element): see {@link State} and {@link Snapshot.final}
 *
 * Slot `row`: `<template slot="row">` is what each row is made of. In it, elements with
 * `data-field` are filled: `rank`, `name` (or the id), `member`, `score`, `gap` (what the followed
 * member lacks), `data.…` (of the entry's data), as text; an `<img data-field="avatar">` shows the
 * avatar. A template with one element has the whole row for it, another is a grid of columns.
 * It may come after the element.
 *
 * Parts: `header`, `state`, `dot`, `total`, `period` (with `period-name`, `ends`), `connection` (around `dot` and `state`), `list`, `row`,
 * `me` (the followed member's row, besides `row`), `rank`, `who`, `avatar`, `member`, `gap`, `score`, `note`;
 * and those of a template. Rows have `data-member`; `data-podium` (1 to 3) by rank; `data-below` below the list.
 *
 * Custom properties: `--rankcast-ink`, `-quiet`, `-line`, `-surface`, `-accent`, `-warn`, `-me`,
 * `-gold`, `-silver`, `-bronze`, `-row-height`. Light and dark follow the page's `color-scheme`.
 *
 * Events, which bubble, with these details: `update` ({@link Update}), `rank-up` ({@link RankUp}), `overtaken` ({@link Overtaken}),
 * `enter-top` ({@link EnterTop}), `new-leader` ({@link NewLeader}). For the last four, what was so
 * when the board came, and what a turn of the period does, is no event.
 */
export class LiveLeaderboard extends HTMLElement {
  addEventListener<T extends keyof LiveLeaderboardEvents>(type: T, listener: (this: LiveLeaderboard, event: LiveLeaderboardEvents[T]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<T extends keyof LiveLeaderboardEvents>(type: T, listener: (this: LiveLeaderboard, event: LiveLeaderboardEvents[T]) => void, options?: boolean | EventListenerOptions): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | EventListenerOptions): void;
}

export interface LiveLeaderboardEvents extends HTMLElementEventMap {
  'update': CustomEvent<Update>;
  'rank-up': CustomEvent<RankUp>;
  'overtaken': CustomEvent<Overtaken>;
  'enter-top': CustomEvent<EnterTop>;
  'new-leader': CustomEvent<NewLeader>;
}

declare global {
  interface HTMLElementTagNameMap {
    'live-leaderboard': LiveLeaderboard;
  }
}
