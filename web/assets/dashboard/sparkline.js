// @ts-check

/** A line chart of one value over time, without axes. score-trend.js draws scores with it. */

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 240;
const HEIGHT = 40;
/** The chart shows no more points than it has pixels. A series with twice as many drops every second one. */
const MAX_POINTS = 240;

/** Values with their times. The series thins itself out as it grows. */
export class Series {
  /** @type {{ at: number, value: number }[]} */
  points = [];
  /** A point that follows the one before within this time replaces it, ms. */
  #step = 250;

  /**
   * @param {number} at ms, not before the last
   * @param {number} value
   */
  add(at, value) {
    const { points } = this;
    const last = points.at(-1);
    if (last?.value === value) return;
    if (last && points.length > 1 && at - points[points.length - 2].at < this.#step) points.pop();
    points.push({ at, value });
    if (points.length < 2 * MAX_POINTS) return;
    this.points = points.filter((_, i) => i % 2 === 0 || i === points.length - 1);
    this.#step *= 2;
  }
}

export class Sparkline {
  element = document.createElementNS(SVG, 'svg');
  #line = document.createElementNS(SVG, 'path');
  #area = document.createElementNS(SVG, 'path');

  constructor() {
    const { element } = this;
    element.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
    element.setAttribute('preserveAspectRatio', 'none');
    element.setAttribute('class', 'sparkline');
    element.setAttribute('aria-hidden', 'true'); // the text beside it says the same
    this.#area.setAttribute('class', 'area');
    this.#line.setAttribute('class', 'line');
    element.append(this.#area, this.#line);
  }

  /**
   * @param {readonly { at: number, value: number }[]} points
   * @param {number} now ms: where the line ends
   * @param {{ least?: number, ascending?: boolean }} [scale] least: the difference of scores that fills the height, unless the
   *   points differ by more; ascending: less is better, so it is drawn above
   */
  render(points, now, { least = 0, ascending } = {}) {
    if (points.length === 0) {
      this.#line.removeAttribute('d');
      this.#area.removeAttribute('d');
      return;
    }
    const from = points[0].at;
    const values = points.map(({ value }) => value);
    const min = Math.min(...values);
    const max = Math.max(...values);
    const span = Math.max(max - min, least);
    const x = (/** @type {number} */ at) => ((at - from) / Math.max(1, now - from)) * WIDTH;
    const y = (/** @type {number} */ value) =>
      HEIGHT / 2 - (span && ((value - (min + max) / 2) / span) * (HEIGHT - 6) * (ascending ? -1 : 1));
    // A score stays until it changes, so the line has steps and no slopes. A change at the very end is a slope: a step there
    // would be an edge of the picture.
    let path = `M0 ${y(points[0].value).toFixed(1)}`;
    for (const { at, value } of points.slice(1))
      path += at < now ? `H${x(at).toFixed(1)}V${y(value).toFixed(1)}` : `L${WIDTH} ${y(value).toFixed(1)}`;
    path += `H${WIDTH}`;
    this.#line.setAttribute('d', path);
    this.#area.setAttribute('d', `${path}V${HEIGHT}H0Z`);
  }
}
