// @ts-check

/**
 * A member's rank on a board over time, as a small chart: rank 1 is at the top, and a dashed line at the foot stands for the
 * ranks below 10.
 */

import { numbers } from '../../kit/format.js';
import { setText } from '../shared/dom.js';
import { absencesOf, gapsOf, OUTSIDE, pathOf, runsOf, thin } from '../shared/history.js';
import { text } from '../shared/texts.js';

/**
 * @typedef {import('../shared/history.js').History} History
 * @typedef {import('../shared/history.js').Stretch} Stretch
 */

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 300;
const HEIGHT = 90;
/** A history keeps the first ten. */
const PLACES = 10;
/** Of a place. */
const LANE = 6.6;
/** The line of the ranks that a history does not keep. */
const FOOT = 78;
const CURVE = 6;
/** Changes that are closer than this are drawn as one. */
const LEAST = 2;

export class RankLine {
  #path = document.createElementNS(SVG, 'path');
  #absences = document.createElementNS(SVG, 'path');
  #gaps = document.createElementNS(SVG, 'path');
  #from = document.createElement('span');
  #to = document.createElement('span');

  /** @param {Element} element of the page, whose room does not depend on what is drawn */
  constructor(element) {
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('aria-hidden', 'true'); // the text below it says the best rank, and the text above it the present one
    this.#path.setAttribute('class', 'rank-path');
    this.#absences.setAttribute('class', 'rank-absences');
    this.#gaps.setAttribute('class', 'rank-gaps');
    svg.append(this.#gaps, this.#absences, this.#path);
    const scale = document.createElement('p');
    scale.className = 'rank-scale';
    scale.ariaHidden = 'true';
    const labels = [numbers.format(1), numbers.format(PLACES), text('member_below', { n: numbers.format(PLACES) })];
    scale.append(...labels.map((label) => Object.assign(document.createElement('span'), { textContent: label })));
    const times = document.createElement('p');
    times.className = 'rank-times';
    times.append(this.#from, this.#to);
    element.replaceChildren(scale, svg, times);
  }

  /**
   * @param {History} history of one member
   * @param {(time: number) => string} moment
   */
  draw(history, moment) {
    const [begin] = history.steps;
    if (!begin) return;
    const from = begin.at;
    const to = Math.max(history.until, from + 1_000);
    const x = (/** @type {number} */ time) => ((time - from) / (to - from)) * WIDTH;
    const y = (/** @type {number} */ place) => (place === OUTSIDE ? FOOT : (place - 0.5) * LANE);
    const drawn = thin(history, (LEAST * (to - from)) / WIDTH);
    const [runs = []] = runsOf(drawn, ({ rank }) => rank).values();
    this.#path.setAttribute('d', runs.flatMap(visitsOf).map((visit) => pathOf(visit, x, y, CURVE)).join(''));
    this.#absences.setAttribute('d', absencesOf(drawn).map((absence) => `M${x(absence.from)} ${FOOT}H${x(absence.to)}`).join(''));
    this.#gaps.setAttribute('d', gapsOf(history).map((gap) => `M${x(gap.from)} 0H${x(gap.to)}V${HEIGHT}H${x(gap.from)}Z`).join(''));
    setText(this.#from, moment(from));
    setText(this.#to, moment(history.until));
  }
}

/**
 * @param {readonly Stretch[]} run
 * @returns {Stretch[][]} its parts among the first ten, each with the absences around it
 */
function visitsOf(run) {
  /** @type {Stretch[][]} */
  const visits = [[]];
  run.forEach((stretch, i) => {
    visits.at(-1)?.push(stretch);
    if (stretch.place === OUTSIDE && i > 0 && i < run.length - 1) visits.push([stretch]);
  });
  return visits;
}
