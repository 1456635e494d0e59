// @ts-check

/** Petals that fly from a button to a star, and the number of flowers where they arrive. */

import { numbers } from '../../kit/format.js';
import { createElement } from '../shared/dom.js';
import { isCalm } from '../shared/motion.js';

const MIN_PETALS = 6;
const MAX_PETALS = 16;
const FLIGHT_MS = 850;
/** From the first petal's start to the last one's. */
const SPREAD_MS = 260;
const COUNT_MS = 1_400;
/** Between the score and the number of flowers, px. */
const COUNT_GAP = 8;

export class GiftFlights {
  /** Above the page, as large as the window. */
  #sky = createElement('div', 'sky');
  /** @type {HTMLElement | undefined} */
  #count;

  constructor() {
    this.#sky.ariaHidden = 'true';
    document.body.append(this.#sky);
  }

  /** Removes what still flies. */
  clear() {
    this.#sky.replaceChildren();
  }

  /**
   * @param {Element} from
   * @param {HTMLElement} to the score that the flowers add to
   * @param {number} flowers
   */
  async fly(from, to, flowers) {
    if (isCalm()) return;
    const start = centerOf(from);
    const end = centerOf(to);
    const count = Math.min(MIN_PETALS + Math.floor(flowers / 10), MAX_PETALS);
    const petals = Array.from({ length: count }, (_, i) => newPetal(start, end, (i / count) * SPREAD_MS));
    this.#sky.append(...petals.map(({ element }) => element));
    await petals[0].flight.finished.catch(() => {});
    if (petals[0].element.isConnected && to.isConnected && to.checkVisibility()) this.#showCount(to, flowers);
    // What clear() removes has ended too.
    for (const { element, flight } of petals) flight.finished.then(() => element.remove(), () => {});
  }

  /**
   * Shows the number beside the score, or below it if the score leaves no room: neither covers the name above it.
   *
   * @param {HTMLElement} at
   * @param {number} flowers
   */
  #showCount(at, flowers) {
    this.#count?.remove();
    const count = createElement('span', 'sky-count', `+${numbers.format(flowers)}`);
    this.#count = count;
    this.#sky.append(count);
    const { offsetWidth: width, offsetHeight: height } = count;
    const { right, bottom } = at.getBoundingClientRect();
    const { x, y } = centerOf(at);
    const end = at.parentElement?.getBoundingClientRect().right ?? 0;
    const place =
      right + COUNT_GAP + width <= end
        ? `translate(${right + COUNT_GAP}px, ${y - height / 2}px)`
        : `translate(${x - width / 2}px, ${bottom + COUNT_GAP}px)`;
    const rise = count.animate(
      [
        { transform: `${place} translateY(1rem) scale(0.6)`, opacity: 0 },
        { transform: place, opacity: 1, offset: 0.2 },
        { transform: place, opacity: 1, offset: 0.8 },
        { transform: place, opacity: 0 },
      ],
      { duration: COUNT_MS, easing: 'ease-out' },
    );
    rise.finished.then(() => count.remove(), () => {});
  }
}

/** @param {Element} element */
function centerOf(element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}

/**
 * @param {{ x: number, y: number }} start
 * @param {{ x: number, y: number }} end
 * @param {number} delay
 */
function newPetal(start, end, delay) {
  const element = createElement('span', 'petal');
  const between = (/** @type {number} */ from, /** @type {number} */ to) => from + Math.random() * (to - from);
  const place = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ turn, /** @type {number} */ scale) =>
    `translate(${x}px, ${y}px) rotate(${turn}deg) scale(${scale})`;
  const turn = between(-180, 180);
  // A petal bursts out of the button before it flies on.
  const burst = place(start.x + between(-70, 70), start.y - between(40, 90), turn, 1);
  const flight = element.animate(
    [
      { transform: place(start.x, start.y, 0, 0.4), opacity: 0, easing: 'cubic-bezier(0.1, 0.7, 0.4, 1)' },
      { transform: burst, opacity: 1, offset: 0.35, easing: 'cubic-bezier(0.6, 0, 0.7, 0.6)' },
      { transform: place(end.x + between(-12, 12), end.y + between(-6, 6), turn * 2, 0.5), opacity: 0.9 },
    ],
    { duration: FLIGHT_MS, delay, fill: 'backwards' },
  );
  return { element, flight };
}
