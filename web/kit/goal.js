// @ts-check

/**
 * A file of the kit that the first one (rankcast.js) loads for an element with goals: how far the followed member is from the next
 * one, and the levels that it reaches. For what the files say to each other, see on-demand.js.
 *
 * @import {Snapshot} from './rankcast.js'
 * @import {Formats, Item} from './row.js'
 *
 * own: the followed member; null: not known now; isLive: the two are what the server shows
 * @typedef {{ snapshot: Snapshot | null, own: Item | null, isLive: boolean, formats: Formats }} Standing
 */

import { part, setAttribute, setProperty, setText } from './dom.js';
import sheet from './goal.css' with { type: 'css' };
import { goalsOf } from './goals.js';
import { phrase } from './shared.js';

export { share } from './shared.js';

/** How long a level that was reached is celebrated, before the bar begins anew for the next one. */
const REACHED_MS = 6_000;
const SPARKS = 36;
/** The time in which the sparks of goal.css fly. */
const SPARKS_MS = 2_400;

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');

export class Goal {
  #element;
  #goal;
  #title = part('span', 'goal-title');
  #text = part('b', 'goal-text');
  #fill = part('div', 'goal-fill');
  #bar = part('div', 'goal-bar', this.#fill);
  /** The two ends of the bar, and which of the levels it leads to. */
  #ends = [part('span', 'goal-level'), part('span', 'goal-level'), part('span', 'goal-level')];
  #scale = part('div', 'goal-levels', this.#ends[0], ' ', this.#ends[1], ' ', this.#ends[2]);
  /** The attribute, as last read; null: there is none, or no member to follow. @type {string | null} */
  #attribute = null;
  /** @type {readonly number[]} */
  #levels = [];
  /** The member and the period for which levels count. */
  #of = '';
  #epoch = '';
  /** The most levels that were reached in this period: one that is taken back and reached again is not reached anew. */
  #reached = 0;
  /** The level that is celebrated, from 1; 0: none. */
  #celebrated = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** As last told. @type {Standing | null} */
  #standing = null;

  /**
   * @param {HTMLElement} element
   * @param {HTMLElement} goal its part
   */
  constructor(element, goal) {
    this.#element = element;
    this.#goal = goal;
    // The spaces are for text that is read aloud or copied.
    goal.append(this.#title, ' ', this.#text, ' ', this.#bar, this.#scale);
    // After the sheet of the element, and before those of a page of this server.
    /** @type {ShadowRoot} */ (element.shadowRoot).adoptedStyleSheets.splice(1, 0, sheet);
  }

  /** @param {Standing} standing */
  update(standing) {
    const attribute = this.#element.getAttribute('me') ? this.#element.getAttribute('goal') : null;
    if (attribute !== this.#attribute) this.#read(attribute);
    const { snapshot, own, isLive, formats } = standing;
    const { order, columns } = snapshot?.info ?? {};
    // Less is better: nobody comes closer to a goal. Nor do columns make one number.
    this.#goal.hidden = !this.#levels.length || order === 'asc' || Boolean(columns);
    // A reveal shows a row whose score is not known yet.
    if (this.#goal.hidden || !snapshot || !own || (own.score === null && own.rank !== null)) return;
    // A member without an entry comes without a name: it keeps the one that was known on the board.
    const before = this.#standing;
    const isSame = before?.own?.member === own.member && before.snapshot?.board === snapshot.board;
    const named = { ...own, name: own.name ?? (isSame ? before.own?.name : undefined) };
    this.#standing = { ...standing, own: named };
    if (isLive) this.#count(snapshot, named, formats);
    this.#render();
  }

  /** @param {string | null} attribute */
  #read(attribute) {
    this.#attribute = attribute;
    this.#levels = attribute === null ? [] : goalsOf(attribute);
    // What comes in place of it, or comes back, counts from its first standing on.
    this.#of = '';
    this.#end();
    if (attribute !== null && !this.#levels.length) {
      console.warn(`goal="${attribute}": 1 to 10 integers are expected, from 1, each above the last one`);
    }
    // The text says all about a single level.
    this.#scale.hidden = this.#levels.length < 2;
  }

  /** @param {number} score */
  #levelsAt(score) {
    return this.#levels.filter((level) => level <= score).length;
  }

  /**
   * Tells of a level that was reached. The first standing of a member, of a period and of a store tells of none.
   *
   * @param {Snapshot} snapshot
   * @param {Item} own
   * @param {Formats} formats
   */
  #count({ board, period, epoch }, { member, name, score }, { exact }) {
    const reached = this.#levelsAt(score ?? 0);
    const of = JSON.stringify([board, period, member]);
    const isSame = of === this.#of && (!this.#epoch || epoch === this.#epoch);
    this.#of = of;
    this.#epoch = epoch;
    if (!isSame) {
      this.#reached = reached;
      this.#end();
    }
    if (reached <= this.#reached) return;
    this.#reached = reached;
    const goal = this.#levels[reached - 1];
    this.#celebrate(reached);
    // The announcer of the element is there before its first text.
    const announcer = this.#element.shadowRoot?.querySelector('[part=announcer]');
    if (announcer) setText(announcer, phrase('goal_told', { name: name || member, score: exact(goal) }));
    const detail = { member, goal, score, next: this.#levels[reached] ?? null };
    this.#element.dispatchEvent(new CustomEvent('goal', { detail, bubbles: true, composed: true }));
  }

  /** @param {number} reached the number of levels */
  #celebrate(reached) {
    this.#end();
    this.#celebrated = reached;
    setAttribute(this.#goal, 'data-celebrates', '');
    this.#timer = setTimeout(() => {
      this.#end();
      this.#render();
    }, REACHED_MS);
    if (reducedMotion.matches || this.#element.hasAttribute('calm')) return;
    const sparks = part('div', 'goal-sparks', ...Array.from({ length: SPARKS }, newSpark));
    sparks.ariaHidden = 'true';
    this.#goal.append(sparks);
    setTimeout(() => sparks.remove(), SPARKS_MS);
  }

  #end() {
    clearTimeout(this.#timer);
    this.#celebrated = 0;
    setAttribute(this.#goal, 'data-celebrates', false);
  }

  #render() {
    const { snapshot, own, formats } = /** @type {Standing & { own: Item }} */ (this.#standing);
    const score = own.score ?? 0;
    const at = this.#levelsAt(score);
    // A level that is celebrated is the end of the bar until then, whatever comes after it.
    const shown = this.#celebrated ? this.#celebrated - 1 : Math.min(at, this.#levels.length - 1);
    const [from, to] = [this.#levels[shown - 1] ?? 0, this.#levels[shown]];
    const isReached = this.#celebrated > 0 || score >= to;
    const share = isReached ? 1 : Math.max(0, score - from) / (to - from);
    const { exact, gap } = formats;
    const left = snapshot?.final ? `${gap(score)} / ${exact(to)}` : phrase('goal_left', { score: exact(to - score) });
    setText(this.#title, own.name || own.member);
    this.#title.title = own.member;
    setText(this.#text, isReached ? phrase('goal_reached') : left);
    setAttribute(this.#goal, 'data-reached', isReached && '');
    setProperty(this.#fill, '--_share', Math.round(share * 1_000) / 1_000);
    this.#bar.role = 'progressbar'; // which has a name from now on
    setAttribute(this.#bar, 'aria-label', own.name || own.member);
    setAttribute(this.#bar, 'aria-valuenow', String(Math.floor(share * 100)));
    setAttribute(this.#bar, 'aria-valuetext', this.#text.textContent ?? '');
    if (this.#scale.hidden) return;
    const step = phrase('goal_level', { n: shown + 1, count: this.#levels.length });
    [gap(from), step, gap(to)].forEach((text, i) => setText(this.#ends[i], text));
  }
}

/** @returns {HTMLElement} a spark that flies from the bar within the part: an overlay may show the goal alone, and clips the rest */
function newSpark() {
  const spark = part('i', 'goal-spark');
  const random = (/** @type {number} */ least, /** @type {number} */ most) => least + Math.random() * (most - least);
  setProperty(spark, '--_at', random(0.15, 0.85));
  setProperty(spark, '--_x', random(-3, 3));
  setProperty(spark, '--_y', random(-1.7, 1.3));
  setProperty(spark, '--_turn', random(-1.5, 1.5));
  setProperty(spark, '--_late', random(0, 0.35));
  return spark;
}
