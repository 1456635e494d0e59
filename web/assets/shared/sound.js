// @ts-check

/**
 * A short, soft tone when the leader of a board on the page changes, a rising one when the followed member rises, and a
 * high one when the server has taken a gift of the reader. settings.js turns it on.
 */

/** A busy board changes more often than a reader can listen. */
const PAUSE_MS = 1_000;
const LEADER = [523.25, 659.25]; // C5, E5
const RISE = [659.25, 783.99]; // E5, G5
const GIFT = [783.99, 1046.5]; // G5, C6
const NOTE_S = 0.14;
const FADE_S = 0.45;
const VOLUME = 0.08;

export class Sound {
  enabled = false;
  /** @type {AudioContext | undefined} */
  #context;
  #playedAt = -Infinity;

  constructor() {
    document.addEventListener('new-leader', () => this.#play(LEADER));
    document.addEventListener('rank-up', () => this.#play(RISE));
    document.addEventListener('gift', () => this.#play(GIFT));
    // Browsers play nothing before the reader has touched the page.
    for (const type of ['pointerdown', 'keydown']) addEventListener(type, () => this.#wake());
  }

  /** Turns it on for a page that nobody touches, such as a source of OBS, where it plays at once. */
  enable() {
    this.enabled = true;
    this.#wake();
  }

  /** Lets the reader hear what has just been turned on. */
  async try() {
    await this.#wake();
    this.#play(LEADER);
  }

  async #wake() {
    if (!this.enabled) return;
    this.#context ??= new AudioContext();
    await this.#context.resume();
  }

  /** @param {number[]} frequencies Hz, one after the other */
  #play(frequencies) {
    const context = this.#context;
    const now = performance.now();
    if (!this.enabled || context?.state !== 'running' || document.hidden || now - this.#playedAt < PAUSE_MS) return;
    this.#playedAt = now;
    frequencies.forEach((frequency, i) => {
      const start = context.currentTime + i * NOTE_S;
      const tone = new OscillatorNode(context, { frequency });
      const gain = new GainNode(context, { gain: 0 });
      gain.gain.setValueAtTime(0, start);
      gain.gain.linearRampToValueAtTime(VOLUME, start + 0.02);
      gain.gain.exponentialRampToValueAtTime(0.0001, start + FADE_S);
      tone.connect(gain).connect(context.destination);
      tone.start(start);
      tone.stop(start + FADE_S);
    });
  }
}
