// @ts-check

/** Who has signed in, and what the operator may do. The server decides; the console hides what it would refuse. */

/**
 * @typedef {{ open: boolean, key: string | null, scopes: string[], boards: string[], events: string[], kinds: string[],
 *   expires: string | null }} Session
 */

/** @type {Session | undefined} undefined: nobody has signed in */
export let session;

/** @param {Session | undefined} to */
export function setSession(to) {
  session = to;
}

/**
 * @param {string} scope
 * @returns {boolean} whether the operator has the scope, for some names at least; what everybody may read counts too
 */
export function mayAny(scope) {
  return scope === 'read' || (session?.scopes.includes(scope) ?? false);
}

/**
 * @param {string} scope
 * @param {'boards' | 'events' | 'kinds'} list
 * @param {string} name of a board, also with a period, an event or a kind
 * @returns {boolean}
 */
export function may(scope, list, name) {
  if (!session?.scopes.includes(scope)) return false;
  const [plain] = list === 'boards' ? name.split('@') : [name];
  return session[list].some((pattern) => matches(pattern, plain));
}

/**
 * @param {string} pattern `*` stands for any run of characters
 * @param {string} name
 */
function matches(pattern, name) {
  const escaped = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 's').test(name);
}
