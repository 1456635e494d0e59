// @ts-check

/** Takes a step again and again, with a pause between two. */

export class Autoplay {
  #step;
  #onChange;
  /** Between two steps, s. */
  pace = 10;
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

  /** @param {number} pace s */
  start(pace) {
    this.pace = pace;
    this.isOn = true;
    this.wait();
  }

  stop() {
    clearTimeout(this.#timer);
    this.isOn = false;
    this.#onChange();
  }

  /** Begins the pause anew: a step was taken. */
  wait() {
    if (!this.isOn) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#step(), this.pace * 1_000);
    this.#onChange();
  }
}
