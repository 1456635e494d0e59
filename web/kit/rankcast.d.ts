/**
 * The kit shows boards of a Rankcast server on any page. With the element:
 *
 * ```html
 * <script type="module" src="https://your-server/kit/rankcast.js"></script>
 * <live-leaderboard board="stars" top="10" me="s17"></live-leaderboard>
 * ```
 *
 * Or with a callback, if the page renders the board itself:
 *
 * ```js
 * import { subscribe } from 'https://your-server/kit/rankcast.js';
 * const unsubscribe = subscribe('stars', { top: 3, me: 's17' }, {
 *   onTop: ({ top }) => renderTop(top),
 *   onMe: ({ rank, score }) => renderOwn(rank, score),
 * });
 * ```
 *
 * In place of `/kit/rankcast.js`, `/kit/v1/rankcast.js` stays version 1 and is kept by browsers for a year. The
 * package `rankcast-kit` is for bundlers. The server of a module that comes from neither address is the root of the
 * page's own origin.
 *
 * If the page belongs to another site, the server must allow its origin (`--origins`). Such a page
 * watches boards, and sends only with a token. The element of a page that is not allowed shows which
 * flag is missing.
 * Names, avatars and data are untrusted text: write them with `textContent`.
 */

/** A member with its rank and score. */
export interface Entry {
  /** From 1. */
  readonly rank: number;
  /** The member's id. */
  readonly member: string;
  /** An integer within ±(2^53−1). On a board with columns: the order of the members, and nothing to show. */
  readonly score: number;
  /** On a board with columns: the value of each, by its name, see {@link Info.columns}. */
  readonly columns?: { readonly [name: string]: number };
  /** From the member's profile; absent without one. */
  readonly name?: string;
  /** URL of an image, from the member's profile; absent without one. */
  readonly avatar?: string;
  /** From the last update of the member that carried data. */
  readonly data?: unknown;
}

/** The first entries of a board, and the state of the board. */
export interface Snapshot {
  readonly board: string;
  /** '' on a board without periods. */
  readonly period: string;
  readonly epoch: string;
  /** The number of the last change in this epoch. */
  readonly seq: number;
  /** The number of members on the board. */
  readonly total: number;
  /** The end of the period (RFC 3339) by the server's clock, see {@link Connection.now}; null: the board has no end. */
  readonly ends: string | null;
  /** The period is closed: its result does not change, and the next period follows. */
  readonly final?: boolean;
  /** The standings stand still, while updates go on counting unseen; absent: they do not. */
  readonly frozen?: Frozen;
  readonly top: readonly Entry[];
  /** With {@link Wish.info}. The kit keeps it through later snapshots, with the span of each period. */
  readonly info?: Info;
}

/** Since when a board stands still, and how its results become public. */
export interface Frozen {
  /** RFC 3339. */
  readonly since: string;
  /** `auto`: all at once, after the end; `host`: one by one, when the host reveals them. */
  readonly reveals: 'auto' | 'host';
}

/** A text for all languages, or one for each of some languages, by its tag. {@link textIn} chooses one. */
export type Label = string | { readonly [language: string]: string };

/** What a board is. */
export interface Info {
  readonly title?: Label;
  readonly description?: Label;
  /** A path on the server, or an https URL. */
  readonly icon?: string;
  /** What the members are. */
  readonly kind: string;
  /** Less is better; absent where more is better. */
  readonly order?: 'asc';
  readonly display?: Display;
  /** The numbers of which a score consists, the one that counts first first; absent where a score is one number. */
  readonly columns?: readonly Column[];
  /** The length of a rolling window, such as `3h`. */
  readonly window?: string;
  /** null: the board neither counts anew nor begins nor ends. */
  readonly period: {
    readonly name?: string;
    /** `week`, or another `period` of the definition; absent for an activity. */
    readonly every?: string;
    readonly timezone?: string;
    /** RFC 3339; null: none. */
    readonly opens: string | null;
    /** RFC 3339; null: none. */
    readonly ends: string | null;
  } | null;
}

/**
 * Rank and score of the followed member. They arrive independently of the list, so their `seq`
 * may be lower or higher than the list's. Both are right as of their own `seq`.
 */
export interface Me {
  /** −1: from before the list that the page received last. */
  readonly seq: number;
  /** null if the member is not on the board. */
  readonly rank: number | null;
  /** null if the member is not on the board. */
  readonly score: number | null;
  /** The number of members on the board at seq. The present one is in the list. */
  readonly total: number;
  /** On a board with columns; absent if the member is not on the board. */
  readonly columns?: { readonly [name: string]: number };
  /** The score between the member and the entry above, 0 for equals; null: at rank 1, which several may share; absent: not known now. */
  readonly to_next?: number | null;
  /** On a board with columns, beside `to_next`: by how much the entry above is better in each. */
  readonly to_next_columns?: { readonly [name: string]: number };
  /** With {@link Wish.around}: the neighbours and the member itself; absent: not known now. */
  readonly around?: readonly Entry[];
}

/** The parts of a board that a subscription asks for. */
export interface Wish {
  /** The number of entries, from 0 to 1,000 or the server's limit. Default: 10. */
  readonly top?: number;
  /** The member to follow. Default: none. */
  readonly me?: string;
  /** The number of neighbours on each side of the member, 0 to 20. Default: 0, which sends no `around` and no `to_next`. */
  readonly around?: number;
  /** Whether the snapshots tell what the board is. Default: false. */
  readonly info?: boolean;
}

/**
 * The state of a subscription:
 *
 * - `connecting`: the first attempt to connect, or the list has not come yet
 * - `live`: the data are those that the server shows
 * - `stale`: the connection is open, but the server has lost its store
 * - `away`: the connection is lost, and the kit reconnects
 * - `paused`: the tab is hidden; one frame brings the list up to date when it becomes visible
 * - `stopped`: the subscription was refused and gets no more data
 */
export type State = 'connecting' | 'live' | 'stale' | 'away' | 'paused' | 'stopped';

export interface StateDetail {
  /** With `stale`: the time of the server's last data (RFC 3339), or '' if the server does not know it. */
  readonly asOf?: string;
  /** With `stopped`: the reason. With `away`: `no_token` while the page's function gives no token. */
  readonly problem?: Problem;
}

export interface SearchOptions {
  /** The maximum number of entries, 1 to 50. Default: 10. */
  readonly limit?: number;
  /** Aborts the search, for example when the user types on. The promise then rejects with its reason. Default: none. */
  readonly signal?: AbortSignal;
}

/** The answer to a search. */
export interface Found {
  readonly board: string;
  /** '' if the board has no periods. */
  readonly period: string;
  readonly ends: string | null;
  readonly final: boolean;
  /** The number of members on the board. */
  readonly total: number;
  /** false: the server has not looked at all members that match, so a longer text may find others. */
  readonly complete: boolean;
  /** First the member whose id is the text, then those whose whole name it is, then the others; each by rank. */
  readonly entries: readonly Entry[];
}

/** A refusal. All promises of the kit reject with one. `String(problem)` holds the message. */
export interface Problem extends Error {
  readonly name: 'RankcastError';
  /**
   * A code of the server (`unknown_board`, `forbidden`, …), or one of the kit: `cannot_connect`
   * (the URL is invalid, or the page may not open it), `closed` (the server closed the connection
   * for good, such as one of an origin that it does not allow), `no_board` (the element has no
   * `board`), `no_token` (the page's function gave no token, and the kit calls it again),
   * `unavailable` (no answer came in time).
   */
  readonly code: string;
  /** In English, for developers. */
  readonly message: string;
  /** The field of the request that the server refused, if it is one field. */
  readonly field?: string;
}

/** The kit calls no callback before `subscribe` returns, and none after the subscription ended. */
export interface Callbacks {
  /**
   * Receives the whole list after each change, also of {@link Snapshot.frozen}. An entry that did not change is the same object
   * as before.
   */
  onTop?(snapshot: Snapshot): void;
  /** Receives rank and score of the followed member after each change. */
  onMe?(me: Me): void;
  /** Receives each change of the state. */
  onState?(state: State, detail: StateDetail): void;
}

export interface FeedCallbacks {
  /**
   * Receives events in order. The first call has no items: the feed begins.
   *
   * @param skipped the number of events that the server left out before these
   */
  onItems(items: readonly { readonly at: string; readonly data: any }[], skipped: number): void;
  /** The server refused the feed, or closed the connection for good. */
  onError?(problem: Problem): void;
}

/**
 * Gives the credentials of the page's user: a viewer's token, a ticket of `POST /v1/tickets` (it
 * begins with `rct_`), or null for none. The kit calls it one call at a time, and a call may take
 * 10 s. If it throws, rejects, takes longer or returns anything else, the kit calls it again after
 * growing, random waits.
 *
 * The kit keeps a token and calls the function again:
 *
 * - before the token expires (`exp` of a JWT): at a random time in the last tenth of the time that
 *   was left when the server accepted it, at least 30 s before; halfway if less than 60 s were left
 * - after the server closed the connection because the token had expired (4401)
 * - once, if the server does not accept it (`unauthorized`). If the server does not accept the next
 *   one either, the connection stops with that problem
 *
 * A ticket opens one socket, so the kit calls the function for each. After null, it calls the
 * function again when it reconnects.
 */
export type TokenFunction = () => string | null | Promise<string | null>;

export interface ConnectOptions {
  /** Default: none; the connection has the rights of everybody. */
  readonly token?: TokenFunction;
}

/**
 * A live connection to a server. All elements and scripts of a page share one connection for each
 * server and token function.
 *
 * With a token function, the kit sends the token first (`auth`) and waits for the server to accept
 * it. Then it sends subscriptions and events. A renewal needs no reconnect. After it, the kit
 * requests again what the server had refused as `unauthorized` or `forbidden`. If the server takes
 * a right back, only the subscriptions to that board or feed stop, with `forbidden` or
 * `unauthorized`.
 *
 * The kit opens a socket when the page watches or sends something. It needs another socket for
 * each further subscription to the same board, and for each 100 subscriptions.
 *
 * The kit reconnects a lost socket after growing, random waits, and then receives only the
 * changes since. It detects a silent loss within 25 s. It waits as long as a stopping server
 * asks (`bye`), and does not reconnect after the close codes 4500 to 4999. Their reason is the
 * message of the problem.
 */
export interface Connection {
  /**
   * Watches a board. {@link Callbacks.onState} reports refusals.
   *
   * @returns a function that ends the subscription; further calls of it do nothing
   */
  subscribe(board: string, wish: Wish, callbacks: Callbacks): () => void;
  /**
   * Watches a feed: the events of a name, or `periods`.
   *
   * @returns a function that ends the subscription; further calls of it do nothing
   */
  feed(name: string, callbacks: FeedCallbacks): () => void;
  /**
   * Sends an event until the server answers it, also after reconnects. Each attempt carries the
   * same id (`data.id`, or a random one), so that the event counts once.
   *
   * @param within how long to try, ms. Default: nine minutes, because servers know an id for ten.
   *   An event that an earlier page began to send has less time left.
   * @returns the result on each board of the event: an entry, or an object with `error`
   * @throws {Problem} the server refused the event (`forbidden`: a page of another site may not send),
   *   or closed the connection for good (`closed`), or no answer came in time (`unavailable`): the
   *   event may count or not
   */
  send(event: string, data: { readonly id?: string; readonly [field: string]: unknown }, within?: number): Promise<any[]>;
  /**
   * Finds members of a board by the start of any word of their names, without regard to case, width and
   * accents, by any Chinese character, and by their ids, whole or from the start. It sends one request by HTTP, with the
   * token of the connection. A ticket opens a socket and nothing else, so a page with tickets searches without rights
   * of its own.
   *
   * @param text 1 to 128 bytes with a letter or a number
   * @throws {Problem} the server refused the search, or did not answer (`unavailable`), or the page's function gave
   *   no token (`no_token`)
   */
  search(board: string, text: string, options?: SearchOptions): Promise<Found>;
  /** The server's clock, by which periods end, in ms since 1970. Until the server has sent it: the page's own clock. */
  now(): number;
  /** @returns the round-trip time of a message, ms; null: the connection is not open, or was lost */
  ping(): Promise<number | null>;
}

/**
 * @param server URL of the server. Default: the server of this module.
 * @param options a call without `token` returns the connection without a token, also if another
 *   connection to the server has one. Two calls share a connection only if they pass the same
 *   function, so pass one that you keep, not a new one at each call
 * @returns the page's connection to the server; it opens on first use
 * @throws {TypeError} `server` is not a URL
 */
export function connect(server?: string | URL, options?: ConnectOptions): Connection;

/**
 * Watches a board of the server of this module, without a token: `connect().subscribe(…)`.
 *
 * @returns a function that ends the subscription; further calls of it do nothing
 */
export function subscribe(board: string, wish: Wish, callbacks: Callbacks): () => void;

/** The format of a board's scores (`display` of its definition). */
export interface Display {
  /** `time_ms`: 83456 is shown as 1:23.456. Default: a number. */
  readonly format?: string;
  /** Text after the number; of one and of other numbers: `vote|votes`. Default: none. */
  readonly unit?: Label;
  /** Decimal places: with 2, 12345 is shown as 123.45. Default: 0. */
  readonly decimals?: number;
}

/** One of the numbers of which a score consists. */
export interface Column {
  readonly name: string;
  /** `asc`: less is better. Default: more is better. */
  readonly order?: 'asc' | 'desc';
  /** Default: the name. */
  readonly title?: Label;
  readonly display?: Display;
}

/**
 * @param tag a language tag. Default: the language of the page
 * @returns the text of a label in a language; else of a shorter tag, of another tag of the language, in
 *   English, or of the first tag. '' without a label
 */
export function textIn(label: Label | undefined, tag?: string): string;

/**
 * @param maxLength a number with more characters is abbreviated: 12,345,678,901 as 12.35B. Default: none
 * @returns a function that formats scores in the page's language
 */
export function scoreFormat(display: Display, maxLength?: number): (score: number) => string;

/**
 * Formats a countdown so that its text changes seldom: `3 d 4 h`, `2 h 5 min`, `4:59`.
 *
 * @param ms the time left by the server's clock: `Date.parse(snapshot.ends) - connection.now()`
 * @returns text: '' when no time is left; changesIn: the time until the text changes, ms, or Infinity
 */
export function timeLeft(ms: number): { text: string; changesIn: number };

/** The words of the element, in English. A page in another language replaces them before it shows an element. */
export const words: { [word: string]: string };

/** Detail of `update`, which the element dispatches after each render. */
export interface Update {
  /** null: not known yet. */
  readonly snapshot: Snapshot | null;
  /** null: the element follows no member, or its rank is not known yet. */
  readonly me: Me | null;
  readonly state: State;
}

/** What `rank-up` and `overtaken` tell. */
export interface RankChange {
  readonly member: string;
  readonly rank: number;
  /** The rank before. */
  readonly before: number;
}

/** Detail of `rank-up`: the followed member has risen. */
export interface RankUp extends RankChange {
  /**
   * The entries that the member passed in this step, in order, if the list and the neighbours show all of them. Else the number of places
   * that it has gained, `before - rank`: members that left the board count in it, and one that came in between does not.
   */
  readonly passed: readonly Entry[] | number;
}

/** Detail of `overtaken`: the followed member has fallen. */
export interface Overtaken extends RankChange {
  /** The member that is now just above; null: not known. */
  readonly by: Entry | null;
}

/** Detail of `enter-top`: a member has entered the list. */
export interface EnterTop {
  readonly entry: Entry;
}

/** Detail of `new-leader`: another member is first. */
export interface NewLeader extends EnterTop {
  /** The leader before. */
  readonly before: Entry;
}

/** Detail of `moment`: one of the most notable things that happened, at most every 2.5 s. */
export interface Moment extends EnterTop {
  /** `passed`: the member has passed another; `closing`: the gap to the place above has shrunk fast and is small. */
  readonly kind: 'passed' | 'closing';
  /** The member's rank, 1 to 20. */
  readonly rank: number;
  /** Who was passed, or is about to be. */
  readonly other: Entry;
  /** A sentence in the page's language. */
  readonly text: string;
}

/** Detail of `goal`: the followed member has reached a level of its goals, for the first time in this period. */
export interface GoalReached {
  readonly member: string;
  /** The level; of several that were reached at once, the highest. */
  readonly goal: number;
  /** The score of the member, which may be above the level. */
  readonly score: number;
  /** The level that follows; null: none. */
  readonly next: number | null;
}

/** Detail of `freeze`: the standings stand still from now on, or go on. */
export interface Freeze {
  /** null: they go on. */
  readonly frozen: Frozen | null;
}

/** Detail of `reveal`: the score of one member of a frozen board has become public. Its row climbs to its place from now on. */
export interface Reveal {
  /** As it is now. */
  readonly entry: Entry;
  /** As it was; null: the list did not have the member. */
  readonly before: Entry | null;
}

/** Detail of `finish`: a period has ended, or all of a frozen board is revealed. */
export interface Finish {
  readonly period: string;
  /** RFC 3339; null: a board without an end was revealed. */
  readonly ends: string | null;
  /**
   * The first entries of the final result: as many as the list has; three for a viewer who came late, and for a list of one or
   * two rows of a board with periods.
   */
  readonly top: readonly Entry[];
}

/** Detail of `pick`: the page's user chose a row of an element with `pickable`. */
export interface Pick {
  readonly member: string;
  /** null: its row has no entry, because the member has no score. */
  readonly entry: Entry | null;
}

/**
 * `<live-leaderboard>` shows one board, live. If the board has periods, the element shows the
 * current period, counts down to its end, and goes on with the next one.
 *
 * Attributes:
 * - `board`: the name of the board: `stars`, `fans:s17`, `stars@2026-W46`. An element without it
 *   says so. It shows nothing if the value is empty, so that a page can set the name later
 * - `top`: the number of entries, 1 to 1,000. Default: 10
 * - `me`: the member to follow. Default: none. Its row is marked in the list; a member outside
 *   the list has a row below it, which stays in view while the list scrolls
 * - `around`: the number of neighbours above and below that row, 1 to 20. Default: none
 * - `format`, `unit`, `decimals`: the format of scores, see {@link Display}. Default: each as the board has it
 *   ({@link Info.display}). Columns always have those of the board, see {@link Info.columns}
 * - `heading`: the title above the list; '' for none. Default: that of the board ({@link Info.title})
 * - `goal`: the goals of the followed member: scores, from 1, separated by commas, each above the last one, 10 at most. The part
 *   `goal` tells how far it is from the next one; see {@link GoalReached}. Default: none. The element shows none on a board with
 *   `order: asc` or with columns
 * - `pace`: the least time between two renders of scores, ms, 0 to 60,000. Default: 0, at most one
 *   render per animation frame
 * - `server`: URL of the server. Default: the server of this module
 * - `token-url`: URL of your site that gives the token, relative to the page. Default: none. The
 *   element requests it as a {@link TokenFunction} (GET, `cache: no-store`, with the cookies of the
 *   page's own origin). The answer is JSON, `{"token": "…"}` or `{"ticket": "…"}`, or the token as
 *   `text/plain`; `{"token": null}` says that the user has none. Elements with the same server and
 *   `token-url` share a connection
 * - `moments`: the element shows {@link Moment.text} above the list, for 12 s or until the next one
 * - `pickable`: a row is chosen by a tap, a click, or the keyboard; see {@link Pick}. In a template, a
 *   `<button>` makes a row reachable by keyboard
 * - `calm`: nothing glides, rolls or shines, as for a reader who prefers reduced motion
 * - `hold`: how long the first three of a period stay on the board after its end, s, 0 to 60. Default: 15.
 *   A viewer who comes within that time sees them too. The last ten seconds of a period are counted down
 * - `data-state`, `data-final`, `data-frozen`, `data-finish`: set by the element, see {@link State}, {@link Snapshot.final} and
 *   {@link Snapshot.frozen}; `data-finish` while the first three of the last period are shown
 *
 * Slot `row`: a `<template slot="row">` is the content of each row. The element fills in the
 * template's elements with a `data-field`: `rank`, `name` (or the id), `member`, `score`, `gap` (the
 * score between the followed member and the place above, without the unit), `data.…` (a value of the entry's data).
 * All fields are text, except that `<img data-field="avatar">` shows the avatar, and that `portrait` and `move` are for
 * elements without text: a `portrait` shows the first letter of the name in a color of the member (it may hold the
 * avatar), and a `move` what the rank has changed in the last ten seconds, ▲2 or ▼1. A single element in
 * the template fills the row; several are columns of a grid. The page may add the template later.
 *
 * Numbers of more than 13 characters are abbreviated in rows (9.007T); the `title` holds the exact score.
 *
 * Parts: `header`, `title`, `state`, `dot`, `total`, `period` (with `period-name`, `ends`), `connection` (with
 * `dot`, `state`), `list`, `row`, `me` (also a `row`: the followed member's), `rank`, `who`, `portrait`, `avatar`, `member`,
 * `gap`, `score` (with `score-unit`), `note`, `moment`, `goal` (with `goal-title`, `goal-text`, `goal-bar`, `goal-fill`, `goal-levels`,
 * `goal-level`), `reveal` (with `reveal-name`, `reveal-before`, `reveal-score`, `reveal-move`,
 * `reveal-rank`, `reveal-figures`, `reveal-places`: the member that is revealed, over the header), `countdown`, `finish` (with
 * `result`, `result-note`, `podium`, `step`), of a board with columns `heads` (with `columns`, `head`, `unit`) and in a score `columns` (with `column`, `column-name`, `value`), and those of
 * a template. A row has the attribute `data-member`, `data-podium` (its rank, 1 to 3), `data-below` if it is below the list, and
 * `data-revealed` while its reveal is shown (`there`: it has its new place).
 *
 * Custom properties: `--rankcast-ink`, `-quiet`, `-line`, `-surface`, `-accent`, `-warn`, `-cold`, `-me`,
 * `-gold`, `-silver`, `-bronze`, `-row-height`. Light and dark colors follow the page's `color-scheme`.
 *
 * Events, which bubble, with their details: `update` ({@link Update}), `rank-up` ({@link RankUp}),
 * `overtaken` ({@link Overtaken}), `enter-top` ({@link EnterTop}), `new-leader` ({@link NewLeader}), `moment`
 * ({@link Moment}), `goal` ({@link GoalReached}), `finish` ({@link Finish}), `freeze` ({@link Freeze}), `reveal` ({@link Reveal}),
 * `pick` ({@link Pick}). The element dispatches `rank-up`, `overtaken`, `enter-top`, `new-leader`, `moment` and `goal` neither for the
 * first list of a board nor for a rollover.
 */
export class LiveLeaderboard extends HTMLElement {
  /** In place of `token-url`. Default: null. Elements with the same server and function share a connection. */
  token: TokenFunction | null;
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
  'moment': CustomEvent<Moment>;
  'goal': CustomEvent<GoalReached>;
  'finish': CustomEvent<Finish>;
  'freeze': CustomEvent<Freeze>;
  'reveal': CustomEvent<Reveal>;
  'pick': CustomEvent<Pick>;
}

declare global {
  interface HTMLElementTagNameMap {
    'live-leaderboard': LiveLeaderboard;
  }
}
