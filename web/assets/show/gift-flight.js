// @ts-check

/**
 * Petals that fly from a button to a star as soon as a viewer taps, and the amount where they arrive. For the largest
 * choice, what stands for a gift also rains over the page.
 */

import { createElement } from '../shared/dom.js';
import { isCalm } from '../shared/motion.js';
import { amountPieces } from './event.js';
import { createSymbol } from './symbol.js';

const MIN_PETALS = 7;
const MAX_PETALS = 16;
/** Of quick taps together: more petals would slow down the page. */
const MAX_FLYING = 80;
const FLIGHT_MS = 850;
/** From the first petal's start to the last one's. */
const SPREAD_MS = 260;
const COUNT_MS = 1_400;
/** Between the score and the amount, px. */
const COUNT_GAP = 8;
const FALL_MS = [1_500, 2_700];
/** In which all drops of a rain have begun to fall. */
const RAIN_MS = 1_100;

export class GiftFlights {
  /** Above the page, as large as the window. */
  #sky = createElement('div', 'sky');
  /** The amount at the score, while it is shown. @type {{ element: HTMLElement, amount: number } | null} */
  #count = null;

  constructor() {
    this.#sky.ariaHidden = 'true';
    document.body.append(this.#sky);
  }

  /** Removes what still flies. */
  clear() {
    this.#sky.replaceChildren();
    this.#count = null;
  }

  /**
   * @param {Element} from
   * @param {HTMLElement} to the score that the gift adds to
   * @param {number} amount
   * @param {number} tier of the choice: 0 is the smallest, 1 the largest
   */
  async fly(from, to, amount, tier) {
    if (isCalm()) return;
    const start = centerOf(from);
    const end = centerOf(to);
    const room = MAX_FLYING - this.#sky.querySelectorAll('.petal').length;
    const count = Math.min(Math.round(MIN_PETALS + tier * (MAX_PETALS - MIN_PETALS)), Math.max(room, 1));
    const petals = Array.from({ length: count }, (_, i) => newPetal(start, end, (i / count) * SPREAD_MS));
    this.#sky.append(...petals.map(({ element }) => element));
    await petals[0].flight.finished.catch(() => {});
    if (petals[0].element.isConnected && to.isConnected && to.checkVisibility()) this.#showCount(to, amount);
    // What clear() removes has ended too.
    for (const { element, flight } of petals) flight.finished.then(() => element.remove(), () => {});
  }

  /**
   * Has what stands for a gift rain over the window, unless it rains.
   *
   * @param {number} count of what falls
   */
  rain(count) {
    if (isCalm() || document.hidden || this.#sky.querySelector('.drop')) return;
    const drops = Array.from({ length: count }, (_, i) => newDrop(i, count));
    this.#sky.append(...drops.map(({ element }) => element));
    for (const { element, fall } of drops) fall.finished.then(() => element.remove(), () => {});
  }

  /**
   * Shows the amount beside the score, or below it if the score leaves no room: neither covers the name above it. Amounts that
   * arrive together add up.
   *
   * @param {HTMLElement} at
   * @param {number} amount
   */
  #showCount(at, amount) {
    const sum = amount + (this.#count?.amount ?? 0);
    const isShown = this.#count !== null;
    this.#count?.element.remove();
    // The score has the unit.
    const element = createElement('span', 'sky-count', `+${amountPieces(sum)[0]}`);
    this.#count = { element, amount: sum };
    this.#sky.append(element);
    const { offsetWidth: width, offsetHeight: height } = element;
    const { right, bottom } = at.getBoundingClientRect();
    const { x, y } = centerOf(at);
    const end = at.closest('[part=amount], .star-head')?.getBoundingClientRect().right ?? 0;
    const place =
      right + COUNT_GAP + width <= end
        ? `translate(${right + COUNT_GAP}px, ${y - height / 2}px)`
        : `translate(${x - width / 2}px, ${bottom + COUNT_GAP}px)`;
    const rise = element.animate(
      [
        { transform: `${place} translateY(1rem) scale(0.6)`, opacity: 0 },
        { transform: place, opacity: 1, offset: 0.2 },
        { transform: place, opacity: 1, offset: 0.8 },
        { transform: place, opacity: 0 },
      ],
      { duration: COUNT_MS, easing: 'ease-out' },
    );
    // A sum that grows stays as it is.
    if (isShown) rise.currentTime = COUNT_MS / 2;
    rise.finished.then(
      () => {
        if (this.#count?.element === element) this.#count = null;
        element.remove();
      },
      () => {},
    );
  }
}

/** @param {Element} element */
function centerOf(element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}

/**
 * @param {number} from
 * @param {number} to
 */
function between(from, to) {
  return from + Math.random() * (to - from);
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} turn degrees
 * @param {number} scale
 */
function placed(x, y, turn, scale) {
  return `translate(${x}px, ${y}px) rotate(${turn}deg) scale(${scale})`;
}

/**
 * @param {{ x: number, y: number }} start
 * @param {{ x: number, y: number }} end
 * @param {number} delay
 */
function newPetal(start, end, delay) {
  const element = createElement('span', 'petal');
  const turn = between(-180, 180);
  // A petal bursts out of the button before it flies on.
  const burst = placed(start.x + between(-70, 70), start.y - between(40, 90), turn, 1);
  const flight = element.animate(
    [
      { transform: placed(start.x, start.y, 0, 0.4), opacity: 0, easing: 'cubic-bezier(0.1, 0.7, 0.4, 1)' },
      { transform: burst, opacity: 1, offset: 0.35, easing: 'cubic-bezier(0.6, 0, 0.7, 0.6)' },
      { transform: placed(end.x + between(-12, 12), end.y + between(-6, 6), turn * 2, 0.5), opacity: 0.9 },
    ],
    { duration: FLIGHT_MS, delay, fill: 'backwards' },
  );
  return { element, flight };
}

/**
 * @param {number} i
 * @param {number} count
 */
function newDrop(i, count) {
  const element = createElement('span', 'drop', createSymbol());
  // The drops of one rain are spread over the whole width.
  const x = ((i + Math.random()) / count) * innerWidth;
  const turn = between(-180, 180);
  const scale = between(0.7, 2);
  const drift = between(-80, 80);
  const fall = element.animate(
    [
      { transform: placed(x, -60, turn, scale), opacity: 1 },
      { transform: placed(x + drift, innerHeight * 0.75, turn + 160, scale), opacity: 1, offset: 0.75 },
      { transform: placed(x + drift * 1.3, innerHeight + 60, turn + 220, scale), opacity: 0.6 },
    ],
    // Neighbours do not fall together.
    { duration: between(FALL_MS[0], FALL_MS[1]), delay: (((i * 17) % count) / count) * RAIN_MS, fill: 'backwards', easing: 'ease-in' },
  );
  return { element, fall };
}
