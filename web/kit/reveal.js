// @ts-check

/**
 * A file of the kit that the first one (rankcast.js) loads for a frozen board: what is revealed there. It stands between the
 * subscription and the element: a change of one member becomes a few lists, so that a room sees who it is, its old and its new
 * score, and how it climbs, place by place. For what the files say to each other, see on-demand.js.
 *
 * @import {Entry, Snapshot} from './rankcast.js'
 * @import {Row} from './row.js'
 * @import {RowList} from './rows.js'
 * @import {Now} from './show.js'
 * @import {Step} from './steps.js'
 *
 * What a Show has for reveals. take: gives the element a list; say: announces at once, leader: who leads by then; showResult: the
 * first three
 * @typedef {{ element: HTMLElement, list: RowList, now: Now, take: (list: Snapshot) => void,
 *   dispatch: (type: string, detail: object) => void, say: (text: string, leader: Entry) => void,
 *   showResult: (title: string, result: Snapshot) => void }} Stage
 */

import { part, setAttribute, setText } from './dom.js';
import sheet from './reveal.css' with { type: 'css' };
import { phrase, scoreFormat } from './shared.js';
import { listAt, placesOf, stepOf } from './steps.js';

export { share } from './shared.js';

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
/** How long the row of the member stands out before its score changes, and then before it moves. */
const LOOK_MS = 1_200;
const SCORE_MS = 1_100;
/** A place on the way takes a glide and a rest, which is longer at the first three. */
const HOP_MS = 520;
const FIRST_HOP_MS = 850;
const FIRST = 3;
/** How long the row stands out in its new place, unless another step follows. */
const LANDED_MS = 6_000;
/** How long the last step is seen before the result. */
const END_MS = 2_800;
/** The end of a freeze comes just before the last change. */
const LATE_MS = 500;

export class Reveal {
  #stage;
  #banner = part('p', 'reveal');
  #name = part('span', 'reveal-name');
  #before = part('span', 'reveal-before');
  #score = part('b', 'reveal-score');
  #move = part('span', 'reveal-move');
  #rank = part('b', 'reveal-rank');
  /** The list at the end of the step that is shown; null: none. @type {Snapshot | null} */
  #target = null;
  /** The step that is shown, and its scores in a row. @type {(Step & { gap: string }) | null} */
  #step = null;
  /** The row of the member has its new place. */
  #landed = false;
  /** The row that stands out. @type {Row | undefined} */
  #row;
  /** Steps were shown since the board froze. */
  #seen = false;
  /** What is still to be shown, each after a time. @type {[ms: number, show: () => void][]} */
  #acts = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {Stage} stage */
  constructor(stage) {
    this.#stage = stage;
    this.#banner.append(this.#name, ' ', this.#before, ' ', this.#score, ' ', this.#move, ' ', this.#rank);
    this.#banner.hidden = true;
    // A text for screen readers says the same.
    this.#banner.ariaHidden = 'true';
    const root = /** @type {ShadowRoot} */ (stage.element.shadowRoot);
    root.querySelector('[part=header]')?.append(this.#banner);
    // After the sheet of the element, and before those of a page of this server.
    root.adoptedStyleSheets.splice(1, 0, sheet);
  }

  /** A step is shown. */
  get isOn() {
    return this.#target !== null;
  }

  /**
   * @param {Snapshot | null} shown the list that the element has
   * @param {Snapshot} now
   * @returns {boolean} whether the list is shown in steps; else the element takes it as it is
   */
  take(shown, now) {
    const target = this.#target;
    if (target && isSame(target, now)) {
      this.#target = now;
      if (this.#landed) this.#land();
      return true;
    }
    this.stop();
    const before = target ?? shown;
    if (!before || before.period !== now.period || before.epoch !== now.epoch) return false;
    const { frozen } = before;
    const step = frozen && !document.hidden && stepOf(before, now);
    if (step) {
      this.#target = now;
      this.#show(before, step);
      return true;
    }
    if (!frozen || now.frozen) return false;
    /** @type {[number, () => void][]} */
    const result = this.#seen || (frozen.reveals === 'host' && this.#isPast(now)) ? [[END_MS, () => this.#end(now)]] : [];
    const isHeld = isSame(before, now);
    this.#run(isHeld ? [[LATE_MS, () => this.#stage.take(now)], ...result] : result);
    return isHeld;
  }

  /** Ends the step that is shown: the element shows what follows. */
  stop() {
    clearTimeout(this.#timer);
    this.#banner.hidden = true;
    this.#target = this.#step = null;
    this.#landed = false;
    this.mark();
  }

  /** The element shows the end of the step at once. */
  finish() {
    const target = this.#target;
    this.stop();
    if (target) this.#stage.take(target);
  }

  /** Lets the row of the member stand out, after each render of the list. */
  mark() {
    const row = this.#step ? this.#stage.list.rows.get(this.#step.entry.member) : undefined;
    if (row !== this.#row && this.#row) setAttribute(this.#row.element, 'data-revealed', false);
    this.#row = row;
    if (row) setAttribute(row.element, 'data-revealed', this.#landed ? 'there' : '');
  }

  /**
   * @param {Snapshot} before
   * @param {Step} step
   */
  #show(before, step) {
    const { entry, old, from } = step;
    const { element, take, dispatch, say } = this.#stage;
    const { exact } = this.#stage.now().formats;
    const plain = this.#plainFormat(before);
    const [was, is] = [old ? plain(old) : '', plain(entry)];
    const gap = old ? `${was} → ${is}` : '';
    this.#step = { ...step, gap };
    this.#seen = true;
    setText(this.#name, entry.name || entry.member);
    setText(this.#before, was);
    for (const later of [this.#score, this.#move, this.#rank]) setText(later, '');
    this.#banner.removeAttribute('data-podium');
    this.#banner.hidden = false;
    const showScore = () => {
      setText(this.#before, was && `${was} →`);
      setText(this.#score, is);
      dispatch('reveal', { entry, before: old });
    };
    const land = () => {
      this.#landed = true;
      const rise = old ? old.rank - entry.rank : 0;
      setText(this.#move, rise ? (rise > 0 ? '▲' : '▼') + Math.abs(rise) : '');
      setText(this.#rank, String(entry.rank));
      setAttribute(this.#banner, 'data-podium', entry.rank <= FIRST && String(entry.rank));
      this.#land();
      const { name, member, score, rank } = entry;
      const values = { name: name || member, score: exact(score, entry), rank };
      const text = old
        ? phrase('revealed_from', { ...values, before: exact(old.score, old), from: old.rank })
        : phrase('revealed', values);
      say(text, /** @type {Snapshot} */ (this.#target).top[0]);
    };
    if (reducedMotion.matches || element.hasAttribute('calm')) {
      showScore();
      land();
      return;
    }
    const takeAt = (/** @type {number} */ at, /** @type {object} */ more) => {
      const list = listAt(before, /** @type {Snapshot} */ (this.#target), step, at);
      take({ ...before, top: list.map((other) => (other.member === entry.member ? { ...other, ...more } : other)) });
    };
    const way = placesOf(step);
    takeAt(from, old ? { score: old.score, columns: old.columns } : {});
    this.#run([
      [
        LOOK_MS,
        () => {
          takeAt(from, { gap });
          showScore();
        },
      ],
      ...way.map((at, i) => {
        /** @type {[number, () => void]} */
        const act = [i === 0 ? SCORE_MS : way[i - 1] < FIRST ? FIRST_HOP_MS : HOP_MS, at === step.to ? land : () => takeAt(at, { gap })];
        return act;
      }),
    ]);
  }

  /** The element has the list of after, in which the member still shows its scores of before and after. */
  #land() {
    const [step, target] = [this.#step, this.#target];
    if (!step || !target) return;
    const { entry, gap } = step;
    this.#stage.take({ ...target, top: target.top.map((other) => (other.member === entry.member ? { ...other, gap } : other)) });
    this.#run([[target.frozen ? LANDED_MS : END_MS, () => this.#end(target)]]);
  }

  /** @param {Snapshot} list */
  #end(list) {
    this.finish();
    if (list.frozen) return;
    this.#seen = false;
    const [first, second] = list.top;
    if (!first) return;
    const { exact } = this.#stage.now().formats;
    const values = { name: first.name || first.member, score: exact(first.score, first) };
    const word = second?.rank === 1 ? 'all_revealed' : !list.ends || this.#isPast(list) ? 'wins' : 'leads';
    this.#stage.showResult(phrase(word, values), list);
  }

  /** @param {Snapshot} list */
  #isPast({ ends }) {
    return Date.parse(ends ?? '') <= (this.#stage.now().connection?.now() ?? Date.now());
  }

  /**
   * @param {Snapshot} list
   * @returns {(entry: Entry) => string} writes a score in little room, as of columns only the values
   */
  #plainFormat({ info }) {
    const columns = info?.columns?.map(({ name, display }) => ({ name, format: scoreFormat({ ...display, unit: undefined }) }));
    const { gap } = this.#stage.now().formats;
    return ({ score, columns: values }) => columns?.map(({ name, format }) => format(values?.[name] ?? 0)).join(' · ') ?? gap(score);
  }

  /** @param {[ms: number, show: () => void][]} acts */
  #run(acts) {
    clearTimeout(this.#timer);
    this.#acts = acts;
    const next = () => {
      const act = this.#acts.shift();
      if (!act) return;
      const [ms, show] = act;
      this.#timer = setTimeout(() => {
        show();
        if (this.#acts === acts) next();
      }, ms);
    };
    next();
  }
}

/**
 * @param {Snapshot} before
 * @param {Snapshot} now
 * @returns {boolean} whether the two have the same standings
 */
function isSame(before, now) {
  return (
    before.period === now.period &&
    before.epoch === now.epoch &&
    before.top.length === now.top.length &&
    before.top.every(({ member, score }, i) => member === now.top[i].member && score === now.top[i].score)
  );
}
