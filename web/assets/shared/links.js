// @ts-check

/**
 * URLs of this server's pages, and the links between them. All pages use it. Each link keeps the
 * language that the URL of the page asks for.
 */

/** The URL of the server's root. A proxy may serve the pages below a prefix. */
export const ROOT = new URL('../../', import.meta.url);

/** The language that the URL asks for; '': the reader's own. */
const LANGUAGE = new URLSearchParams(location.search).get('lang') ?? '';

if (LANGUAGE) {
  for (const link of document.querySelectorAll('.masthead a:not([hreflang])')) {
    if (link instanceof HTMLAnchorElement) link.href = pageURL(link.href).href;
  }
}

/**
 * @param {string} path of a page, relative to the server's root
 * @param {{ [name: string]: string }} [query] parameters that are '' are left out
 * @returns {URL} the page in the language of this one
 */
export function pageURL(path, query = {}) {
  const url = new URL(path, ROOT);
  for (const [name, value] of Object.entries({ ...query, lang: LANGUAGE })) if (value) url.searchParams.set(name, value);
  return url;
}

/**
 * Points a link to this page in the other language.
 *
 * @param {HTMLAnchorElement} link
 */
export function updateLanguageLink(link) {
  const url = new URL(location.href);
  url.searchParams.set('lang', document.documentElement.lang === 'en' ? 'zh' : 'en');
  link.href = url.href;
}

/**
 * Has this page handle clicks on links to its own views, without a new load.
 *
 * @param {(pathname: string) => boolean} isOwn whether a path belongs to this page
 * @param {(href: string) => void} navigate
 */
export function handleLinks(isOwn, navigate) {
  document.addEventListener('click', (event) => {
    const link = clickedLink(event);
    if (!link) return;
    const { origin, pathname, hash, searchParams } = new URL(link.href);
    // Another language needs a new load.
    if ((searchParams.get('lang') ?? '') !== LANGUAGE || origin !== ROOT.origin || hash || !isOwn(pathname)) return;
    event.preventDefault();
    navigate(link.href);
  });
}

/**
 * @param {MouseEvent} event
 * @returns {HTMLAnchorElement | undefined} the link that the browser would follow in this tab
 */
export function clickedLink(event) {
  // A click with another button or with a key opens a tab or a window, or saves the page.
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return undefined;
  // Links in rows are in the shadow root of a board.
  return event.composedPath().find((node) => node instanceof HTMLAnchorElement);
}

/**
 * @param {string} name of a board or a member
 * @returns {string} the name as one segment of a path, with `:`, `@` and `,` as they are
 */
export function encodeSegment(name) {
  return encodeURIComponent(name).replace(/%(3A|40|2C)/g, decodeURIComponent);
}

/**
 * @param {string} segment of a path
 * @returns {string} the name that it encodes
 */
export function decodeSegment(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
