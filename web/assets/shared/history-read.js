// @ts-check

/** Reads histories from the server. The story of a board and the page of a member use it. */

import { fetchJSON } from './api.js';
import { historyOf } from './history.js';

/**
 * A page of a history; step: at which the server records, null: it records no more. The steps are as the request asks
 *
 * @typedef {{ period: string, final: boolean, step: string | null, until: string | null, steps: any[], cursor: string | null,
 *   profiles: { [member: string]: { name?: string, avatar?: string } }, best?: { rank: number, at: string, period: string }
 *   | null }} Answer
 */

/** The most steps of a page. */
export const PAGE = 1_000;
const UNITS = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** @param {string | null} step such as `10s` */
export function msOf(step) {
  const [, count, unit] = step?.match(/^(\d+)([smhd])$/) ?? [];
  return count ? Number(count) * (UNITS.get(unit) ?? 0) : 0;
}

/**
 * @param {string} path of the board
 * @param {{ [name: string]: string }} query
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export function readPage(path, query, signal) {
  return fetchJSON(`${path}/history?${new URLSearchParams(query)}`, signal);
}

/**
 * Reads the history of a whole period, in coarse steps.
 *
 * @param {string} path of the board
 * @param {{ [name: string]: string }} query
 * @param {number} most steps, about
 * @param {AbortSignal} signal
 * @returns {Promise<Answer[]>} the first tells what the server records; the others hold the steps
 */
export async function readWhole(path, query, most, signal) {
  const first = await readPage(path, { ...query, limit: '1' }, signal);
  const answers = [first];
  const { steps: [begin], until } = historyOf(first);
  if (!begin) return answers;
  const step = Math.max(1_000, msOf(first.step));
  const width = step * Math.max(1, Math.ceil((until - begin.at) / most / step));
  for (let cursor = ''; ; ) {
    const page = await readPage(path, { ...query, step: `${width / 1_000}s`, limit: String(PAGE), ...(cursor && { cursor }) }, signal);
    answers.push(page);
    if (!page.cursor) return answers;
    cursor = page.cursor;
  }
}
