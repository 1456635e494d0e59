// @ts-check

/**
 * The options of the overlay in its address, which the builder writes, too (web/assets/builder). The server knows those that
 * it renders (server/pages/overlay.go).
 */

/** The values of an option; the first is the default. @type {{ [name: string]: string[] }} */
export const CHOICES = {
  mode: ['list', 'compact', 'me', 'goal'],
  theme: ['dark', 'light', 'clear'],
  place: ['top-left', 'top', 'top-right', 'left', 'center', 'right', 'bottom-left', 'bottom', 'bottom-right'],
  face: ['sans', 'serif', 'round', 'narrow', 'mono'],
  ends: ['on', 'off'],
  avatars: ['on', 'off'],
  motion: ['full', 'calm'],
  sound: ['off', 'on'],
  lang: ['en', 'zh'],
};

/** Numbers: the least, the most, and the default. @type {{ [name: string]: [number, number, number] }} */
export const NUMBERS = {
  top: [1, 100, 5],
  /** Slow enough for viewers who watch something else, ms. */
  pace: [0, 60_000, 800],
  /** %, of the size that texts have otherwise at most. */
  scale: [50, 300, 100],
  /** 0: no alerts. */
  gifts: [0, Number.MAX_SAFE_INTEGER, 0],
};

/** A color, as CSS writes it after #. */
export const ACCENT = /^([0-9a-f]{3}|[0-9a-f]{6})$/i;

/** Texts that stand for something even if they are empty, each with its greatest length. @type {{ [name: string]: number }} */
export const TEXTS = { title: 80, unit: 20 };

/** All options, in the order in which an address has them. */
export const NAMES = ['mode', 'theme', 'top', 'me', 'pace', 'lang', 'scale', 'place', 'accent', 'face', 'title', 'unit', 'ends',
  'avatars', 'motion', 'sound', 'gifts', 'event', 'goal'];

/** @param {import('../shared/url-options.js').URLOptions} options of an address, which know its faults then */
export function readOptions(options) {
  const look = Object.fromEntries(Object.entries(CHOICES).map(([key, values]) => [key, options.oneOf(key, values)]));
  const sizes = Object.fromEntries(Object.entries(NUMBERS).map(([key, bounds]) => [key, options.numberOf(key, ...bounds)]));
  const accent = options.formOf('accent', ACCENT, 'ff4081');
  const goal = options.goalOf('goal');
  const texts = Object.fromEntries(Object.entries(TEXTS).map(([key, most]) => [key, options.ownText(key, most)]));
  options.checkKeys(NAMES);
  return { look, sizes, accent, goal, texts };
}
