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
import { language, phrase, scoreFormat } from './shared.js';
import { FIRST, listAt, LOOK_MS, placesOf, READ_MS, stepOf, timesOf } from './steps.js';

export { share } from './shared.js';

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
/** How long the row stands out in its new place, unless another step follows. */
const LANDED_MS = 6_000;
/** How long the last step is seen before the result. */
const END_MS = 2_800;
/** The end of a freeze comes just before the last change. */
const LATE_MS = 500;
/** With more steps waiting, all but the newest end at once. */
const MOST_WAITING = 3;

export class Reveal {
  #stage;
  #banner = part('p', 'reveal');
  #name = part('span', 'reveal-name');
  #before = part('span', 'reveal-before');
  #score = part('b', 'reveal-score');
  #move = part('span', 'reveal-move');
  #rank = part('b', 'reveal-rank');
  #numbers = new Intl.NumberFormat(language);
  /** The list at the end of the step that is shown; null: none. @type {Snapshot | null} */
  #target = null;
  /** The step that is shown, and its scores in a row. @type {(Step & { gap: string, frozen: Snapshot['frozen'] }) | null} */
  #step = null;
  /** The steps that follow it. @type {{ before: Snapshot, now: Snapshot, step: Step }[]} */
  #waiting = [];
  /** Of a freeze that is over by the end of these steps: one more may follow. @type {Snapshot['frozen']} */
  #frozen;
  /** The row of the member has its new place. */
  #landed = false;
  /** And it has been there long enough for the next step. */
  #isRead = false;
  /** The reader has scrolled during the step. */
  #isScrolled = false;
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
    const places = part('span', 'reveal-places', this.#move, ' ', this.#rank);
    this.#banner.append(this.#name, ' ', part('span', 'reveal-figures', this.#before, ' ', this.#score, ' ', places));
    this.#banner.hidden = true;
    // A text for screen readers says the same.
    this.#banner.ariaHidden = 'true';
    const root = /** @type {ShadowRoot} */ (stage.element.shadowRoot);
    root.querySelector('[part=header]')?.append(this.#banner);
    // After the sheet of the element, and before those of a page of this server.
    root.adoptedStyleSheets.splice(1, 0, sheet);
    for (const type of ['wheel', 'touchmove']) addEventListener(type, () => (this.#isScrolled = true), { passive: true });
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
    const waits = this.#waiting.at(-1);
    const last = waits?.now ?? this.#target;
    if (last && isSame(last, now)) {
      if (!now.frozen) this.#frozen ??= last.frozen;
      if (waits) waits.now = now;
      else {
        this.#target = now;
        if (this.#landed) this.#land();
      }
      return true;
    }
    const before = last ?? shown;
    const frozen = before?.frozen ?? this.#frozen;
    const goesOn = before && before.period === now.period && before.epoch === now.epoch;
    const step = goesOn && frozen && !document.hidden && stepOf(before, now);
    if (step) {
      const next = { before: { ...before, frozen }, now, step };
      if (!this.#target || this.#isRead || this.#waiting.length === MOST_WAITING) this.stop();
      this.#frozen = undefined;
      this.#waiting.push(next);
      if (!this.#target) this.#next();
      return true;
    }
    this.stop();
    if (!goesOn) return false;
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
    this.#waiting = [];
    this.#frozen = undefined;
    this.#landed = false;
    this.mark();
  }

  /** The element shows the end of the steps at once. */
  finish() {
    const target = this.#waiting.at(-1)?.now ?? this.#target;
    this.stop();
    if (target) this.#stage.take(target);
  }

  /** Lets the row of the member stand out, after each render of the list. */
  mark() {
    const row = this.#step ? this.#stage.list.rows.get(this.#step.entry.member) : undefined;
    if (row !== this.#row && this.#row) setAttribute(this.#row.element, 'data-revealed', false);
    this.#row = row;
    if (!row) return;
    setAttribute(row.element, 'data-revealed', this.#landed ? 'there' : '');
    this.#follow(row.element);
  }

  /**
   * Keeps the row in view, unless the reader looks at something else.
   *
   * @param {HTMLElement} row
   */
  #follow(row) {
    const { top, bottom } = this.#stage.element.getBoundingClientRect();
    // A list that shows one of its lines at a time scrolls by itself.
    const isClipped = row.getBoundingClientRect().bottom > bottom + 1;
    if (this.#isScrolled || isClipped || top > innerHeight || bottom < 0) return;
    row.scrollIntoView({ block: 'nearest', behavior: reducedMotion.matches ? 'instant' : 'smooth' });
  }

  /** Shows the step that has waited longest, if there is one. */
  #next() {
    const next = this.#waiting.shift();
    if (!next) return;
    this.#target = next.now;
    this.#landed = this.#isRead = this.#isScrolled = false;
    this.#show(next.before, next.step);
  }

  /**
   * @param {Snapshot} before
   * @param {Step} step
   */
  #show(before, step) {
    const { entry, old, isNew, from } = step;
    const { element, take, dispatch, say } = this.#stage;
    const { exact } = this.#stage.now().formats;
    const { gap: plain } = this.#stage.now().formats;
    const columns = this.#columnFormat(before);
    const written = columns ?? ((/** @type {Entry} */ other) => exact(other.score, other));
    const [was, is] = [old ? written(old) : '', written(entry)];
    const gap = old ? (columns ? `${was} → ${is}` : `${plain(old.score)} → ${plain(entry.score)}`) : '';
    this.#step = { ...step, gap, frozen: before.frozen };
    this.#seen = true;
    setText(this.#name, entry.name || entry.member);
    setText(this.#before, was);
    const place = old ? this.#numbers.format(old.rank) : isNew ? phrase('new') : '';
    setText(this.#move, place);
    for (const later of [this.#score, this.#rank]) setText(later, '');
    this.#banner.removeAttribute('data-podium');
    this.#banner.hidden = false;
    const showScore = () => {
      setText(this.#before, was && `${was} →`);
      setText(this.#score, is);
      dispatch('reveal', { entry, before: old });
    };
    const land = () => {
      this.#landed = true;
      setText(this.#move, place && old?.rank !== entry.rank ? `${place} →` : '');
      setText(this.#rank, this.#numbers.format(entry.rank));
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
    takeAt(from, { score: old?.score ?? null, columns: old?.columns });
    this.#run([
      [
        LOOK_MS,
        () => {
          takeAt(from, { gap });
          showScore();
        },
      ],
      ...timesOf(way).map((ms, i) => {
        /** @type {[number, () => void]} */
        const act = [ms, way[i] === step.to ? land : () => takeAt(way[i], { gap })];
        return act;
      }),
    ]);
  }

  /** The element has the list of after, in which the member still shows its scores of before and after. It looks frozen to the end. */
  #land() {
    const [step, target] = [this.#step, this.#target];
    if (!step || !target) return;
    const { entry, gap, frozen } = step;
    this.#stage.take({ ...target, frozen, top: target.top.map((other) => (other.member === entry.member ? { ...other, gap } : other)) });
    this.#isRead = false;
    const read = () => {
      this.#isRead = true;
      this.#next();
    };
    this.#run([
      [READ_MS, read],
      [(target.frozen ? LANDED_MS : END_MS) - READ_MS, () => this.#end(target)],
    ]);
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
   * @returns {((entry: Entry) => string) | undefined} writes the values of columns, without their names
   */
  #columnFormat({ info }) {
    const columns = info?.columns?.map(({ name, display }) => ({ name, format: scoreFormat({ ...display, unit: undefined }) }));
    return columns && (({ columns: values }) => columns.map(({ name, format }) => format(values?.[name] ?? 0)).join(' · '));
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
 * @returns {boolean} whether the two have the same standings, as far as both list them: a page may ask for more rows
 */
function isSame(before, now) {
  return (
    before.period === now.period &&
    before.epoch === now.epoch &&
    before.total === now.total &&
    before.top.every(({ member, score }, i) => !now.top[i] || (member === now.top[i].member && score === now.top[i].score))
  );
}
