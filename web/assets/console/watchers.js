// @ts-check

/** How many clients watch each board, on all nodes together. */

import { request } from './api.js';
import { count } from './format.js';

/** A node tells of so many boards, those that most clients watch (GET /v1/nodes). */
const BOARDS_OF_A_NODE = 500;

/**
 * @param {AbortSignal} signal
 * @returns {Promise<(board: string) => string>} what the console writes for a board
 */
export async function watchersByBoard(signal) {
  const { nodes } = await request('GET', 'v1/nodes', { signal });
  /** @type {Map<string, number>} */
  const watchers = new Map();
  let least = 0; // watchers that the nodes may leave out
  for (const node of nodes) {
    for (const { board, subscriptions } of node.watchers) watchers.set(board, (watchers.get(board) ?? 0) + subscriptions);
    if (node.watchers.length >= BOARDS_OF_A_NODE) least += node.watchers.at(-1).subscriptions;
  }
  return (board) => watchers.has(board) || !least ? count(watchers.get(board) ?? 0) : `at most ${count(least)}`;
}
