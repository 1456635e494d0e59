// @ts-check

/** What the page shows a gift by: the icon of the board of the show, or else a flower. The server has put it into the page too. */

import { setAvatar } from '../../kit/portrait.js';
import { boardDefinition } from './event.js';

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

/** @returns {HTMLImageElement | null} the icon of the board; null: there is none that the page may show */
function createBoardIcon() {
  const image = document.createElement('img');
  setAvatar(image, boardDefinition()?.icon);
  return image.hidden || !image.dataset.src ? null : image;
}

/** @returns {Element} what stands for one gift */
export function createSymbol() {
  const symbol = createBoardIcon() ?? createIcon('flower');
  symbol.classList.add('symbol');
  return symbol;
}

/**
 * Replaces a flower by the icon of the board, once the page knows it.
 *
 * @param {Element | null} symbol
 */
export function updateSymbol(symbol) {
  const icon = symbol instanceof SVGElement ? createBoardIcon() : null;
  if (!symbol || !icon) return;
  icon.className = symbol.getAttribute('class') ?? '';
  const part = symbol.getAttribute('part');
  if (part) icon.setAttribute('part', part);
  symbol.replaceWith(icon);
}

/**
 * @param {{ display?: import('../../kit/rankcast.js').Display, columns?: unknown } | undefined} info of a board
 * @returns {boolean} whether the symbol stands beside its amounts: without one of the icon, a unit says what they are of
 */
export function hasSymbol({ display, columns } = {}) {
  return !columns && (!display?.unit || createBoardIcon() !== null);
}
