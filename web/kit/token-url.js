// @ts-check

/**
 * Tokens from a URL of the page's site (`token-url` of the element, in rankcast.js).
 *
 * @import {TokenFunction} from './rankcast.js'
 */

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
  if (!token) functions.set(href, (token = () => request(href)));
  return token;
}

/**
 * @param {string} url
 * @returns {Promise<string | null>}
 */
async function request(url) {
  const response = await fetch(url, { cache: 'no-store', credentials: 'same-origin', headers: { accept: 'application/json, text/plain' } });
  const type = response.headers.get('content-type') ?? '';
  // A page that asks the user to log in has another type.
  if (!response.ok || !/^(text\/plain|application\/json)\b/i.test(type)) throw new Error(`${url} answered with the status ${response.status} and the type '${type}'`);
  if (/^text/i.test(type)) return (await response.text()).trim();
  const { token, ticket = null } = await response.json();
  return token === undefined ? ticket : token;
}
