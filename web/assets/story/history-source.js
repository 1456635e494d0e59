// @ts-check

/** The history of a board, read from the server: all of it in coarse steps, and then each step that is recorded. */

import { fetchJSON, HTTPError } from '../shared/api.js';
import { historyOf, join } from '../shared/history.js';
import { msOf, PAGE, readPage, readWhole } from '../shared/history-read.js';
import { encodeSegment } from '../shared/links.js';
import { Poll } from '../shared/poll.js';

/**
 * @typedef {import('../shared/history.js').History} History
 * @typedef {import('../../kit/rankcast.js').Info} Info
 * @typedef {import('../shared/history-read.js').Answer} Answer
 *
 * step: at which the server records, ms; 0: it records no more
 * @typedef {{ info: Info, period: string, final: boolean, step: number, history: History, profiles: Map<string, { name?: string,
 *   avatar?: string }> }} Story
 */

/** Half of the shortest step of a history: the end of a story is hardly older than what the server has recorded. */
const INTERVAL_MS = 5_000;
/** Steps of the whole history: more than a chart has room for. */
const MAX_STEPS = 600;
/** The page reads all of it anew after this time: members may have been hidden or erased. */
const RELOAD_MS = 10 * 60_000;

export class HistorySource {
  #path;
  #onStory;
  #onProblem;
  /** @type {Story | null} */
  #story = null;
  #loadedAt = 0;
  #reloadedAt = 0;
  #poll = new Poll(INTERVAL_MS, (signal) => this.#load(signal));

  /**
   * @param {string} board
   * @param {(story: Story) => void} onStory after each change
   * @param {(problem: unknown, info: Info | null) => void} onProblem info null: not even that is known
   */
  constructor(board, onStory, onProblem) {
    this.#path = `v1/boards/${encodeSegment(board)}`;
    this.#onStory = onStory;
    this.#onProblem = onProblem;
    this.#poll.start();
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    const now = performance.now();
    const before = this.#story;
    const steps = before?.history.steps.length ?? 0;
    const anew = !before || steps === 0 || steps > 2 * MAX_STEPS || now - this.#reloadedAt > RELOAD_MS;
    if (before && !anew && (before.final || now - this.#loadedAt < before.step / 2)) return;
    let info = before?.info ?? null;
    try {
      if (anew) ({ info } = await fetchJSON(this.#path, signal));
      if (!info) return;
      this.#story = before && !anew ? await this.#loadLatest(before, signal) : await this.#loadAll(info, signal);
      this.#loadedAt = now;
      if (anew) this.#reloadedAt = now;
    } catch (error) {
      if (!signal.aborted) this.#onProblem(error, info);
      // What does not exist will hardly exist soon.
      if (error instanceof HTTPError && error.status === 404) return;
      throw error;
    }
    this.#onStory(this.#story);
  }

  /**
   * @param {Info} info
   * @param {AbortSignal} signal
   * @returns {Promise<Story>}
   */
  async #loadAll(info, signal) {
    const [first, ...pages] = await readWhole(this.#path, {}, MAX_STEPS, signal);
    return pages.reduce(merged, storyOf(info, first));
  }

  /**
   * @param {Story} story
   * @param {AbortSignal} signal
   * @returns {Promise<Story>}
   */
  async #loadLatest(story, signal) {
    const page = await readPage(this.#path, { from: new Date(story.history.until).toISOString(), limit: String(PAGE) }, signal);
    // Else the period has closed, and the next one is another story; or very much has happened since.
    return page.period === story.period && !page.cursor
      ? merged(story, page)
      : this.#loadAll((await fetchJSON(this.#path, signal)).info, signal);
  }
}

/**
 * @param {Info} info
 * @param {Answer} answer
 * @returns {Story} without steps
 */
function storyOf(info, answer) {
  return {
    info,
    period: answer.period,
    final: answer.final,
    step: msOf(answer.step),
    history: { steps: [], until: historyOf(answer).until },
    profiles: new Map(),
  };
}

/**
 * @param {Story} story
 * @param {Answer} page
 * @returns {Story}
 */
function merged(story, page) {
  const history = join(story.history, historyOf(page));
  return {
    ...story,
    final: page.final,
    step: msOf(page.step),
    history,
    profiles: new Map([...story.profiles, ...Object.entries(page.profiles)]),
  };
}
