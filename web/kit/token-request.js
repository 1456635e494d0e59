// @ts-check

/** Tokens from a URL of the page's site, for token-url.js. */

/**
 * @param {string} url
 * @returns {Promise<string | null>}
 */
export async function requestToken(url) {
  const response = await fetch(url, { cache: 'no-store', credentials: 'same-origin', headers: { accept: 'application/json, text/plain' } });
  const type = response.headers.get('content-type') ?? '';
  // A page that asks the user to log in has another type.
  if (!response.ok || !/^(text\/plain|application\/json)\b/i.test(type))
    throw new Error(`${url} answered with the status ${response.status} and the type '${type}'`);
  if (/^text/i.test(type)) return (await response.text()).trim();
  const { token, ticket = null } = await response.json();
  return token === undefined ? ticket : token;
}
