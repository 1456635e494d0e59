// @ts-check

/**
 * The token functions of `token-url` (the attribute of the element, in rankcast.js).
 *
 * @import {TokenFunction} from './rankcast.js'
 */

import { loadOnDemand } from './load.js';

/** By URL, so that elements with the same URL share a connection. @type {Map<string, TokenFunction>} */
const functions = new Map();

/**
 * @param {string} url relative to the page
 * @returns {TokenFunction} which requests the URL
 * @throws {TypeError} `url` is not a URL
 */
export function tokenFrom(url) {
  const { href } = new URL(url, document.baseURI);
  let token = functions.get(href);
  if (!token) functions.set(href, (token = () => loadOnDemand().then(({ requestToken }) => requestToken(href))));
  return token;
}
