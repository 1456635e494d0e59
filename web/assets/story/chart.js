// @ts-check

/**
 * The chart of a story: a line for each member, its places over time. Place 1 is at the top. The rows of the standing
 * (standing.js) stand beside the places.
 */

import { gapsOf, OUTSIDE, pathOf, runsOf, thin } from '../shared/history.js';
import { setAttribute } from '../shared/dom.js';
import { ticksOf } from '../shared/time-scale.js';

/** @typedef {import('../shared/history.js').History} History */

const SVG = 'http://www.w3.org/2000/svg';
/** Changes that are closer than this are drawn as one, px. */
const LEAST_PX = 5;
/** The greatest width of the curve between two places, px. */
const CURVE_PX = 28;
/** The least room of a tick of the time axis, in em. */
const TICK_EM = 5.75;
/** A chart with fewer places would be a strip. The server renders as many. */
const LEAST_PLACES = 5;
/** A history keeps the first ten. */
export const MAX_PLACES = 10;

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {...Node} content
 */
function svg(tag, className, ...content) {
  const element = document.createElementNS(SVG, tag);
  element.setAttribute('class', className);
  element.append(...content);
  return element;
}

/**
 * @param {History} history
 * @returns {number} how many places the chart has
 */
export function placesOf({ steps }) {
  return Math.min(MAX_PLACES, Math.max(LEAST_PLACES, ...steps.map(({ entries }) => entries.length)));
}

export class Chart {
  #gaps = svg('g', 'gaps');
  #lines = svg('g', 'lines');
  #view = svg('svg', 'chart-view', this.#lines); // cuts off what is outside
  #ticks = svg('g', 'ticks');
  #future = svg('rect', 'future');
  #playhead = svg('line', 'playhead');
  #dots = svg('g', 'dots');
  #svg = svg('svg', 'chart-lines', this.#gaps, this.#ticks, this.#view, this.#future, this.#playhead, this.#dots);
  #element;
  #width = 0;
  #height = 0;
  #rowHeight = 0;
  #em = 16;
  #from = 0;
  #to = 1;
  /** By member. @type {Map<string, SVGGElement>} */
  #groups = new Map();

  /** @param {HTMLElement} element of the page; its height has room for the places and the time axis */
  constructor(element) {
    this.#element = element;
    this.#svg.setAttribute('aria-hidden', 'true'); // the standing and the table beside it say the same
    element.append(this.#svg);
  }

  /**
   * Draws all lines.
   *
   * @param {History} history with steps
   * @param {string} zone of the time axis
   * @param {(member: string) => number} colorOf 1 to 10; 0: none
   */
  draw(history, zone, colorOf) {
    const { clientWidth, clientHeight } = this.#element;
    const places = placesOf(history);
    this.#em = parseFloat(getComputedStyle(this.#svg).fontSize);
    this.#rowHeight = this.#element.parentElement?.querySelector('.place')?.getBoundingClientRect().height ?? 40;
    this.#width = clientWidth;
    this.#height = places * this.#rowHeight;
    this.#from = history.steps[0].at;
    this.#to = Math.max(history.until, this.#from + 1_000);
    this.#svg.setAttribute('viewBox', `0 0 ${clientWidth} ${clientHeight}`);
    place(this.#view, { width: this.#width, height: this.#height });
    this.#drawAxis(clientHeight, zone);
    this.#gaps.replaceChildren(
      ...gapsOf(history).map(({ from, to }) => rect('gap', this.x(from), this.x(to) - this.x(from), this.#height)),
    );
    const drawn = thin(history, (LEAST_PX * (this.#to - this.#from)) / this.#width);
    const runs = runsOf(drawn);
    for (const [member, group] of this.#groups) {
      if (runs.has(member)) continue;
      group.remove();
      this.#groups.delete(member);
    }
    // The leader's line is on top, and members without a color are below all others.
    const order = [...runs.keys()].sort((a, b) => (colorOf(b) || 11) - (colorOf(a) || 11));
    for (const member of order) {
      const path = (runs.get(member) ?? [])
        .map((run) =>
          pathOf(
            run,
            (time) => this.x(time),
            (place) => this.#y(place === OUTSIDE ? places + 1 : place),
            CURVE_PX,
          ),
        )
        .join('');
      const group = this.#groups.get(member) ?? svg('g', 'line', svg('path', 'halo'), svg('path', 'stroke'));
      this.#groups.set(member, group);
      group.dataset.member = member;
      group.dataset.color = String(colorOf(member));
      for (const each of group.children) each.setAttribute('d', path);
    }
    this.#lines.replaceChildren(...order.map((member) => /** @type {SVGGElement} */ (this.#groups.get(member))));
  }

  /**
   * @param {number} bottom
   * @param {string} zone
   */
  #drawAxis(bottom, zone) {
    const most = Math.max(2, this.#width / (TICK_EM * this.#em));
    this.#ticks.replaceChildren(
      ...ticksOf(this.#from, this.#to, most, zone).flatMap(({ at, label, isDay }) => {
        const x = this.x(at);
        const mark = svg('line', isDay ? 'tick day' : 'tick');
        place(mark, { x1: x, x2: x, y1: 0, y2: this.#height });
        const text = svg('text', isDay ? 'tick-label day' : 'tick-label', document.createTextNode(label));
        // A label at an edge would be cut.
        const room = (label.length * this.#em) / 3;
        if (x < room || x > this.#width - room) return [mark];
        place(text, { x, y: this.#height + (bottom - this.#height) * 0.7 });
        return [mark, text];
      }),
    );
  }

  /**
   * Marks a time.
   *
   * @param {number} time
   * @param {readonly { member: string }[]} entries at that time
   * @param {(member: string) => number} colorOf
   */
  mark(time, entries, colorOf) {
    const x = this.x(time);
    place(this.#future, { x, y: 0, width: Math.max(0, this.#width - x), height: this.#height });
    place(this.#playhead, { x1: x, x2: x, y1: 0, y2: this.#height });
    while (this.#dots.childElementCount > entries.length) this.#dots.lastElementChild?.remove();
    entries.forEach(({ member }, i) => {
      const dot = this.#dots.children[i] ?? this.#dots.appendChild(svg('circle', 'dot'));
      place(dot, { cx: x, cy: this.#y(i + 1), r: 0.28 * this.#em });
      setAttribute(dot, 'data-color', String(colorOf(member)));
      setAttribute(dot, 'data-member', member);
    });
  }

  /** @param {string} member whose line stands out; '': none */
  highlight(member) {
    this.#svg.toggleAttribute('data-highlight', this.#groups.has(member));
    for (const [other, group] of this.#groups) {
      const isChosen = other === member;
      if (isChosen && !group.hasAttribute('data-chosen')) this.#lines.append(group);
      group.toggleAttribute('data-chosen', isChosen);
    }
    for (const dot of this.#dots.children) dot.toggleAttribute('data-chosen', dot.getAttribute('data-member') === member);
  }

  /** @param {number} time */
  x(time) {
    return ((time - this.#from) / (this.#to - this.#from)) * this.#width;
  }

  /** @param {number} place */
  #y(place) {
    return (place - 0.5) * this.#rowHeight;
  }

  /**
   * @param {PointerEvent} event over the chart
   * @returns {{ time: number, place: number }} the time and the place at that point
   */
  at({ clientX, clientY }) {
    const { left, top } = this.#svg.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (clientX - left) / Math.max(1, this.#width)));
    return { time: this.#from + share * (this.#to - this.#from), place: Math.floor((clientY - top) / Math.max(1, this.#rowHeight)) + 1 };
  }
}

/**
 * @param {string} className
 * @param {number} x
 * @param {number} width
 * @param {number} height
 */
function rect(className, x, width, height) {
  const element = svg('rect', className);
  place(element, { x, y: 0, width, height });
  return element;
}

/**
 * @param {Element} element
 * @param {{ [attribute: string]: number }} values
 */
function place(element, values) {
  for (const [name, value] of Object.entries(values)) setAttribute(element, name, String(Math.round(value * 10) / 10));
}
