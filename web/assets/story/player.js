// @ts-check

/** The controls of a story: a slider over its time, which plays at some speeds. */

import { setAttribute, setText } from '../shared/dom.js';
import { text } from '../shared/texts.js';

/** Positions of the slider, so that it moves by less than a pixel. */
const POSITIONS = 2_000;

export class Player {
  #button;
  #label;
  #slider;
  #speed;
  #latest;
  #onMove;
  #from = 0;
  #to = 1;
  #time = 1;
  #playing = false;
  #frameAt = 0;

  /**
   * @param {{ button: HTMLButtonElement, label: HTMLElement, slider: HTMLInputElement, speed: HTMLSelectElement,
   *   latest: HTMLButtonElement }} elements
   *   the value of the speed is the time for the whole story, s
   * @param {() => void} onMove
   */
  constructor({ button, label, slider, speed, latest }, onMove) {
    this.#button = button;
    this.#label = label;
    this.#slider = slider;
    this.#speed = speed;
    this.#latest = latest;
    this.#onMove = onMove;
    slider.max = String(POSITIONS);
    button.addEventListener('click', () => (this.#playing ? this.pause() : this.play()));
    latest.addEventListener('click', () => this.seek(this.#to));
    slider.addEventListener('input', () => this.seek(this.#from + (Number(slider.value) / POSITIONS) * (this.#to - this.#from)));
  }

  get time() {
    return this.#time;
  }

  /** Whether the story is at its end, and goes on with it. */
  get isLatest() {
    return this.#time >= this.#to;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  setSpan(from, to) {
    const wasLatest = this.isLatest;
    this.#from = from;
    this.#to = to;
    this.#time = wasLatest && !this.#playing ? to : Math.min(to, Math.max(from, this.#time));
    this.#onMove();
  }

  /** @param {number} time */
  seek(time) {
    this.pause();
    this.#moveTo(time);
  }

  pause() {
    this.#playing = false;
    this.#renderButton();
  }

  play() {
    if (this.isLatest) this.#moveTo(this.#from);
    this.#playing = true;
    this.#renderButton();
    this.#frameAt = performance.now();
    requestAnimationFrame((now) => this.#frame(now));
  }

  /** @param {number} now */
  #frame(now) {
    if (!this.#playing) return;
    const step = ((now - this.#frameAt) / (1_000 * Number(this.#speed.value))) * (this.#to - this.#from);
    this.#frameAt = now;
    this.#moveTo(this.#time + Math.max(0, step));
    if (this.isLatest) this.pause();
    else requestAnimationFrame((next) => this.#frame(next));
  }

  /** @param {number} time */
  #moveTo(time) {
    this.#time = Math.min(this.#to, Math.max(this.#from, time));
    this.#onMove();
  }

  #renderButton() {
    setAttribute(this.#button, 'data-playing', this.#playing && '');
    setText(this.#label, text(this.#playing ? 'story_pause' : 'story_play'));
  }

  /** @param {string} moment the time of the story, in words */
  render(moment) {
    this.#slider.value = String(Math.round(((this.#time - this.#from) / Math.max(1, this.#to - this.#from)) * POSITIONS));
    setAttribute(this.#slider, 'aria-valuetext', moment);
    // A button that is disabled would lose the focus.
    if (this.isLatest && document.activeElement === this.#latest) this.#slider.focus({ preventScroll: true });
    this.#latest.disabled = this.isLatest;
  }
}
