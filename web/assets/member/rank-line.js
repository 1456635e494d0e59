// @ts-check

/** A member's rank on a board over time, as a small chart: rank 1 is at the top, and below rank 10 nothing is recorded. */

import { numbers } from '../../kit/format.js';
import { setText } from '../shared/dom.js';
import { gapsOf, OUTSIDE, pathOf, runsOf, thin } from '../shared/history.js';

/** @typedef {import('../shared/history.js').History} History */

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 300;
const HEIGHT = 66;
/** A history keeps the first ten. */
const PLACES = 10;
const CURVE = 6;
/** Changes that are closer than this are drawn as one. */
const LEAST = 2;

export class RankLine {
  #path = document.createElementNS(SVG, 'path');
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
    this.#gaps.setAttribute('class', 'rank-gaps');
    svg.append(this.#gaps, this.#path);
    const scale = document.createElement('p');
    scale.className = 'rank-scale';
    scale.ariaHidden = 'true';
    scale.append(...[1, PLACES].map((place) => Object.assign(document.createElement('span'), { textContent: numbers.format(place) })));
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
    const y = (/** @type {number} */ place) => (((place === OUTSIDE ? PLACES + 1 : place) - 0.5) / PLACES) * HEIGHT;
    const drawn = thin(history, (LEAST * (to - from)) / WIDTH);
    const [runs = []] = runsOf(drawn, ({ rank }) => rank).values();
    this.#path.setAttribute('d', runs.map((run) => pathOf(run, x, y, CURVE)).join(''));
    this.#gaps.setAttribute('d', gapsOf(history).map((gap) => `M${x(gap.from)} 0H${x(gap.to)}V${HEIGHT}H${x(gap.from)}Z`).join(''));
    setText(this.#from, moment(from));
    setText(this.#to, moment(history.until));
  }
}
