// @ts-check
// @ts-self-types="./rankcast.d.ts"

/** Boards of a Rankcast server on any page. rankcast.d.ts tells all of it. */

export { connect, subscribe } from './connection.js';
export { scoreFormat, words } from './format.js';
export { LiveLeaderboard } from './live-leaderboard.js';
