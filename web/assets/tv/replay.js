// @ts-check

/** The scene between two boards: how the first ten of a board went, played in some seconds, by the chart of its story. */

import { numbers } from '../../kit/format.js';
import { byId, createElement, setText } from '../shared/dom.js';
import { stepAt, historyOf, join } from '../shared/history.js';
import { readWhole } from '../shared/history-read.js';
import { encodeSegment } from '../shared/links.js';
import { isCalm } from '../shared/motion.js';
import { momentFormat, zoneOf } from '../shared/time-scale.js';
import { Chart, MAX_PLACES, placesOf } from '../story/chart.js';
import { Standing } from '../story/standing.js';

/** @typedef {import('./wall-board.js').WallBoard} WallBoard */
/** @typedef {{ history: import('../shared/history.js').History, profiles: Map<string, { name?: string, avatar?: string }> }} Story */

/** Of the whole time that is played. */
const STEPS = 400;
/** How long it plays, and how long its end stays. */
const PLAY_MS = 9_000;
const REST_MS = 5_000;
/** Rows that pass each other stand again before the next ones do. */
const STAND_MS = 600;
/** What took less time is no story: the list has shown it. */
const LEAST_SPAN_MS = 60_000;
/** With shorter steps, a moment has its seconds. */
const SECONDS_SPAN_MS = 30 * 60_000;

export class Replay {
  element = byId('replay', HTMLElement);
  #places = byId('places', HTMLOListElement);
  #time = byId('replay-time', HTMLTimeElement);
  #chart = new Chart(byId('plot', HTMLElement));
  #standing = new Standing(byId('standing', HTMLOListElement), byId('standing-heads', HTMLElement));
  #frame = 0;

  /** How long the scene lasts. */
  static LENGTH_MS = PLAY_MS + REST_MS;

  /**
   * @param {WallBoard} board
   * @returns {Promise<Story | null>} null: there is nothing to play
   */
  static async load({ name }) {
    const answers = await readWhole(`v1/boards/${encodeSegment(name)}`, {}, STEPS, AbortSignal.timeout(PLAY_MS));
    const [first, ...pages] = answers;
    const history = pages.map(historyOf).reduce(join, { steps: [], until: historyOf(first).until });
    const { steps, until } = history;
    if (steps.length < 2 || until - steps[0].at < LEAST_SPAN_MS) return null;
    return { history, profiles: new Map(pages.flatMap(({ profiles }) => Object.entries(profiles))) };
  }

  /**
   * @param {WallBoard} board
   * @param {Story} story
   */
  play({ info, formats }, { history, profiles }) {
    this.element.hidden = false;
    const { steps, until } = history;
    const [begin] = steps;
    const zone = info ? zoneOf(info) : 'UTC';
    const momentText = momentFormat(zone, until - begin.at < SECONDS_SPAN_MS);
    const colors = new Map((steps.at(-1)?.entries ?? []).slice(0, MAX_PLACES).map(({ member }, i) => [member, i + 1]));
    const colorOf = (/** @type {string} */ member) => colors.get(member) ?? 0;
    const count = placesOf(history);
    this.element.style.setProperty('--places', String(count));
    this.#places.replaceChildren(
      ...Array.from({ length: count }, (_, i) => createElement('li', 'place', createElement('b', '', numbers.format(i + 1)))),
    );
    this.#chart.draw(history, zone, colorOf);
    const end = Math.max(until, begin.at + 1);
    const startedAt = performance.now();
    let stoodAt = -Infinity;
    const show = () => {
      const now = performance.now();
      const share = isCalm() ? 1 : Math.min(1, (now - startedAt) / PLAY_MS);
      const time = begin.at + share * (end - begin.at);
      const entries = stepAt(history, time)?.entries ?? [];
      this.#chart.mark(time, entries, colorOf);
      if (share === 1 || now - stoodAt >= STAND_MS) {
        stoodAt = now;
        this.#standing.render(entries.slice(0, MAX_PLACES), profiles, colorOf, formats);
      }
      setText(this.#time, momentText(time));
      this.#frame = share < 1 ? requestAnimationFrame(show) : 0;
    };
    cancelAnimationFrame(this.#frame);
    show();
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    this.element.hidden = true;
  }
}
