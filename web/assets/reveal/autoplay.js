// @ts-check

/** Takes a step again and again, with a pause between two. */

export class Autoplay {
  #step;
  #onChange;
  /** Between two steps, s. */
  pace = 10;
  /** How long it waits this time, ms. */
  ms = 0;
  isOn = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {() => Promise<void>} step
   * @param {() => void} onChange called when it begins, ends, or waits anew
   */
  constructor(step, onChange) {
    this.#step = step;
    this.#onChange = onChange;
  }

  /**
   * @param {number} pace s
   * @param {number} least that it waits the first time, ms
   */
  start(pace, least) {
    this.pace = pace;
    this.isOn = true;
    this.wait(least);
  }

  stop() {
    clearTimeout(this.#timer);
    this.isOn = false;
    this.#onChange();
  }

  /**
   * Begins the pause anew: a step was taken.
   *
   * @param {number} least ms
   */
  wait(least) {
    if (!this.isOn) return;
    clearTimeout(this.#timer);
    this.ms = Math.max(this.pace * 1_000, least);
    this.#timer = setTimeout(() => this.#step(), this.ms);
    this.#onChange();
  }
}
