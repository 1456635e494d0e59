// @ts-check

/**
 * The token of the page's user, which the fragment of the page's address holds:
 * `/show/gift#token=eyJ…`. Browsers send no fragment to servers. This module takes the token from the
 * address at once, and keeps it in memory only. A link to another page of this server passes it
 * on when it is clicked, so that neither an address nor a copied link holds it. All pages use it.
 */

import { claimsOf } from '../../kit/claims.js';
import { clickedLink, ROOT } from './links.js';

/** The pages that take a token. */
const PAGES = /^(stars|tv|show\/[^/]+(\/[^/]+)?|(boards|overlay|docs|tv)\/[^/]+|boards\/[^/]+\/(story|overlay)|members\/[^/]+\/[^/]+)?$/;

/** A viewer's token or a key; '': none. */
export const token = tokenOf(location.hash);
const claims = claimsOf(token);

/** The member that the token is for; '': none, because there is no token, or it is a key. */
export const tokenSub = typeof claims.sub === 'string' ? claims.sub : '';

if (token) {
  removeToken();
  addEventListener('click', passToken);
}
// An edited fragment loads no new page by itself.
addEventListener('hashchange', () => {
  if (tokenOf(location.hash)) location.reload();
});

/**
 * @param {string} event
 * @returns {boolean} whether the token may send the event. The server decides; a key does not say
 */
export function tokenMaySend(event) {
  if (!token || !tokenSub) return token !== '';
  const patterns = claims.rankcast?.events;
  return Array.isArray(patterns) && patterns.some((pattern) => typeof pattern === 'string' && matches(pattern, event));
}

/**
 * @param {string} pattern in which `*` is any run of characters
 * @param {string} name
 */
function matches(pattern, name) {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(name);
}

/** @param {string} hash */
function tokenOf(hash) {
  return new URLSearchParams(hash.slice(1)).get('token') ?? '';
}

/** Removes the token from the address, and leaves what else the fragment holds. */
function removeToken() {
  const url = new URL(location.href);
  const rest = new URLSearchParams(url.hash.slice(1));
  rest.delete('token');
  url.hash = rest.toString();
  history.replaceState(history.state, '', url);
}

/**
 * @param {URL | string} address
 * @returns {URL} the address, with the token if it is that of a page of this server which takes one
 */
export function withToken(address) {
  const url = new URL(address);
  const isOwn = url.origin === ROOT.origin && url.pathname.startsWith(ROOT.pathname);
  if (token && isOwn && !url.hash && PAGES.test(url.pathname.slice(ROOT.pathname.length)))
    url.hash = new URLSearchParams({ token }).toString();
  return url;
}

/** @param {MouseEvent} event */
function passToken(event) {
  const link = clickedLink(event);
  if (!link || event.defaultPrevented || link.target || link.hasAttribute('download')) return;
  const url = withToken(link.href);
  if (url.href === link.href) return;
  event.preventDefault();
  location.assign(url);
}
