// @ts-check

/** What the wall does with its screen: it keeps the screen awake, fills it, and does not burn into it. */

import { setAttribute, setProperty } from '../shared/dom.js';

/** The picture moves so often. */
const DRIFT_MS = 3 * 60_000;
/** Where it stands then, one place after the other, in shares of the room around it. */
const PLACES = [[0, 0], [1, 0.5], [0.5, 1], [-0.5, 1], [-1, 0.5], [-1, -0.5], [-0.5, -1], [0.5, -1], [1, -0.5]];
/** How long the pointer and the button for the whole screen stay after a movement. */
const IDLE_MS = 3_000;

export class Screen {
  #wall;
  #step = 0;
  /** @type {WakeLockSentinel | null} */
  #lock = null;
  #isLocking = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #idle;

  /**
   * @param {HTMLElement} wall
   * @param {HTMLButtonElement} button
   */
  constructor(wall, button) {
    this.#wall = wall;
    button.hidden = !document.fullscreenEnabled;
    button.addEventListener('click', () => this.#toggle());
    addEventListener('keydown', ({ key, ctrlKey, altKey, metaKey, repeat }) => {
      if (key.toLowerCase() === 'f' && !ctrlKey && !altKey && !metaKey && !repeat) this.#toggle();
    });
    addEventListener('pointermove', () => {
      document.documentElement.dataset.pointed = '';
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => delete document.documentElement.dataset.pointed, IDLE_MS);
    });
    document.addEventListener('visibilitychange', () => this.#keepAwake());
    this.#keepAwake();
  }

  #toggle() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen().catch(() => {}); // the browser has refused: the page stays as it is
  }

  /** The system ends a lock when the page is hidden, or the battery is low. */
  async #keepAwake() {
    if (document.hidden || this.#isLocking || this.#lock?.released === false) return;
    this.#isLocking = true;
    try {
      this.#lock = (await navigator.wakeLock?.request('screen')) ?? null;
    } catch {
      // The browser has refused; the next step tries again.
    } finally {
      this.#isLocking = false;
    }
  }

  /**
   * Moves the picture if it is time. Each second move also swaps the two sides, so that bright parts change their place.
   *
   * @param {boolean} isEnding whether a room looks at the end of a period
   */
  tick(isEnding) {
    const step = Math.floor(performance.now() / DRIFT_MS);
    if (step === this.#step || isEnding) return;
    this.#step = step;
    const [x, y] = PLACES[step % PLACES.length];
    setProperty(this.#wall, '--x', x);
    setProperty(this.#wall, '--y', y);
    setAttribute(document.documentElement, 'data-mirrored', step % 4 > 1 && '');
    this.#keepAwake();
  }
}
