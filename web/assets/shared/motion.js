// @ts-check

/** Whether pages move: the settings of the system and of the page (settings.js) say so. All pages with movement use it. */

const reduced = matchMedia('(prefers-reduced-motion: reduce)');

/** @returns {boolean} whether the reader wants no movement that is not needed */
export const isCalm = () => reduced.matches || document.documentElement.dataset.motion === 'calm';
