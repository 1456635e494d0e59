// @ts-check

/**
 * A board of the wall. Its element stays live while the wall shows another one, so that each scene begins with the present rows,
 * and the wall knows whose end is near.
 *
 * @import {Info, Snapshot} from '../../kit/rankcast.js'
 */

import { textIn } from '../../kit/format.js';
import { ScoreBars } from '../dashboard/score-bars.js';
import { fetchJSON } from '../shared/api.js';
import { formatsOf } from '../shared/board-display.js';
import { setToken } from '../shared/connection.js';
import { setAttribute, setProperty } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { periodTitle } from '../shared/period-title.js';
import { Poll } from '../shared/poll.js';
import { countedText } from '../shared/texts.js';
import rowsSheet from './rows.css' with { type: 'css' };

/** Titles and descriptions may change while the wall is open. */
const DEFINITION_MS = 60_000;
/** Least time between two changes: a room looks at other things too. Of a board that is not shown it is longer. */
const PACE_MS = 400;
const HIDDEN_PACE_MS = 2_000;
/** The last seconds are counted down large. */
export const COUNTED_MS = 10_000;
/** How long a result stays: of a short period, a part of it. */
const RESULT_MS = 30_000;
const RESULT_SHARE = 1 / 12;
/** The ends of shorter periods do not interrupt what a wall shows: it would show nothing else. */
const LEAST_PERIOD_MS = 60_000;
/** The end of a period is near: the wall stays with the board. */
const LAST_MS = 20_000;
/** The height of a row, and of what else may be in the list, in em. */
const ROW_EM = 2.2;
const HEADS_EM = 2.2;
const FROZEN_EM = 3.5;
const BELOW_EM = 0.5;
/** The second line of each row, with the columns of a list that is narrower than this, in em, by the room that they need: see
 * columns.css of the kit. */
const UNDER_EM = 1.375;
const NARROW_EM = [0, 20, 30, 38, 47, 62];
/** The size of the text of rows, in rem: readable from the other side of a room, and no larger than the rest of the wall. */
const [LEAST_REM, MOST_REM] = [1.2, 2.1];
/** A narrow wall has smaller rows: its width in em. */
const WIDTH_EM = 24;

/** @typedef {{ first: import('../../kit/rankcast.js').Entry, sentence: import('./news.js').Sentence }} Result */

export class WallBoard {
  element = document.createElement('live-leaderboard');
  formats = formatsOf();
  /** @type {import('../dashboard/definition-summary.js').Definition | undefined} */
  definition;
  /** @type {Info | null} */
  info = null;
  /** @type {Snapshot | null} */
  snapshot = null;
  /** @type {Result | null} */
  #result = null;
  #onChange;
  #bars = new ScoreBars(this.element);
  #poll = new Poll(DEFINITION_MS, (signal) => this.#read(signal));
  /** When it was shown: what comes within the pace of a hidden board has happened before. */
  #shownAt = -Infinity;

  /**
   * @param {string} name
   * @param {() => void} onChange
   */
  constructor(name, onChange) {
    this.name = name;
    this.#onChange = onChange;
    const { element } = this;
    for (const [attribute, value] of Object.entries({ board: '', heading: '', moments: '' }))
      element.setAttribute(attribute, value);
    element.shadowRoot?.adoptedStyleSheets.push(rowsSheet);
    element.addEventListener('update', ({ detail }) => {
      this.snapshot = detail.snapshot;
      this.#bars.update(detail, this.definition);
      this.fit();
      if (performance.now() - this.#shownAt < HIDDEN_PACE_MS) this.#rest();
      this.#onChange();
    });
    // With the end of a result, the whole wall changes.
    new MutationObserver(() => {
      this.#onChange();
      this.fit();
    }).observe(element, { attributeFilter: ['data-finish'] });
    setToken([element]);
    this.show(false);
    this.#poll.start();
  }

  /** @param {AbortSignal} signal */
  async #read(signal) {
    const { element, name } = this;
    try {
      const { info, definition } = await fetchJSON(`v1/boards/${encodeSegment(name)}`, signal);
      this.info = info;
      this.definition = definition;
      this.formats = formatsOf(definition);
      // What was refused may be allowed now, and what did not exist may exist.
      if (element.dataset.state === 'stopped') element.setAttribute('board', '');
    } finally {
      // Before the board's first frame, which may be that of a period that has just begun.
      setAttribute(element, 'hold', String(Math.floor(this.resultMs / 1_000)));
      if (!signal.aborted) element.setAttribute('board', name);
      this.#onChange();
    }
  }

  /** @returns {string} its name for people */
  get title() {
    return textIn(this.info?.title) || this.name;
  }

  /** @returns {string} what the wall says below the title */
  get facts() {
    // The element says why; and nothing of the next period stands over a result.
    if (this.isStopped || this.result) return '';
    const { total, final, frozen } = this.snapshot ?? {};
    // Since when it is frozen stands above the list.
    const state = !frozen && this.element.shadowRoot?.querySelector('[part=state]')?.textContent;
    const period = final ? '' : periodTitle(this.info?.period?.every, 0);
    return [state, period, total && countedText('members', total)].filter(Boolean).join(' · ');
  }

  /** @returns {boolean} whether there is nothing to show: the board does not exist, or nobody may see it here */
  get isStopped() {
    return this.element.dataset.state === 'stopped';
  }

  /** @returns {number} ms; Infinity: the board does not count anew */
  get #periodMs() {
    const { opens, ends, every } = this.info?.period ?? {};
    return every && opens && ends ? Date.parse(ends) - Date.parse(opens) : Infinity;
  }

  /** @returns {number} how long a result stays, ms */
  get resultMs() {
    return Math.min(RESULT_MS, this.#periodMs * RESULT_SHARE);
  }

  /** @returns {Result | null} the one that is shown */
  get result() {
    return this.element.hasAttribute('data-finish') ? this.#result : null;
  }

  set result(result) {
    this.#result = result;
  }

  /**
   * @param {number} now the server's clock, ms since 1970
   * @returns {number} ms until the end of the period; NaN: it does not end, or has ended, or the result of the last one stands
   */
  timeLeft(now) {
    const left = this.snapshot?.final || this.result ? NaN : Date.parse(this.snapshot?.ends ?? '') - now;
    return left > 0 ? left : NaN;
  }

  /**
   * @param {number} now the server's clock
   * @returns {boolean} whether a room looks at it: in the last seconds, at the result, and while something is revealed
   */
  isEnding(now) {
    const reveal = this.element.shadowRoot?.querySelector('[part=reveal]:not([hidden])');
    const isEnd = this.timeLeft(now) <= LAST_MS || this.element.hasAttribute('data-finish');
    return (isEnd && this.#periodMs >= LEAST_PERIOD_MS) || Boolean(reveal);
  }

  /** @param {boolean} isShown */
  show(isShown) {
    this.element.hidden = !isShown;
    this.element.setAttribute('pace', String(isShown ? PACE_MS : HIDDEN_PACE_MS));
    if (isShown) this.#shownAt = performance.now();
    this.fit();
    if (isShown) this.#rest();
  }

  /** Ends what moves in the list: the browser starts all of it again when the list is shown. */
  #rest() {
    const list = this.element.shadowRoot?.querySelector('[part=list]');
    for (const animation of list?.getAnimations({ subtree: true }) ?? []) animation.finish();
  }

  /** @param {string} member '': none */
  follow(member) {
    setAttribute(this.element, 'me', member || undefined);
  }

  /** Has the element show as many rows as fit, as large as they fit. While the wall shows a result, lists have another room. */
  fit() {
    const { element, snapshot } = this;
    const { clientWidth, clientHeight } = element.parentElement ?? document.body;
    if (clientHeight === 0 || document.documentElement.hasAttribute('data-finish')) return;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const room = Number(element.shadowRoot?.querySelector('[part=stage]')?.getAttribute('data-room') ?? 0);
    const rows = element.shadowRoot?.querySelector('[part=list]')?.children;
    const isBelow = rows?.item(rows.length - 1)?.hasAttribute('data-below') ?? false;
    const own = element.hasAttribute('me') ? 1 : 0;
    const beside = (room ? HEADS_EM : 0) + (snapshot?.frozen ? FROZEN_EM : 0) + own * BELOW_EM;
    const widest = clientWidth / WIDTH_EM;
    const least = Math.min(LEAST_REM * rem, widest);
    const fitting = (/** @type {number} */ row) => {
      const top = Math.max(1 + own, Math.floor((clientHeight / least - beside) / row));
      const count = Math.min(top, (snapshot?.total || top) + Number(isBelow));
      return { top, size: Math.max(least, Math.min(clientHeight / (count * row + beside), MOST_REM * rem, widest)) };
    };
    let { top, size } = fitting(ROW_EM);
    if (clientWidth / size < NARROW_EM[room]) ({ top, size } = fitting(ROW_EM + UNDER_EM));
    setAttribute(element, 'top', String(top));
    // The followed member's row takes the place of the last one.
    setAttribute(element, 'data-full', isBelow && (rows?.length ?? 0) > top && '');
    setProperty(element, '--size', size);
  }
}
