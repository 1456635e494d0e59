// @ts-check

/** Icons of the star-flower page, from the symbols in stars.html. */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * @param {string} id of a symbol on the page
 * @returns {SVGElement}
 */
export function createIcon(id) {
  const svg = document.createElementNS(SVG, 'svg');
  const use = document.createElementNS(SVG, 'use');
  use.setAttribute('href', `#${id}`);
  svg.classList.add(id);
  svg.ariaHidden = 'true';
  svg.append(use);
  return svg;
}
