// @ts-check

/**
 * The second file of the kit, which the first one (rankcast.js) loads when something on the page needs it: what happens on a
 * board, the search, and tokens. A browser may have kept a first file of up to a year ago, so what the two files say to each other
 * changes as version 1 of the kit does: by additions.
 */

export { Credentials } from './credentials.js';
export { search } from './search.js';
export { share } from './shared.js';
export { Show } from './show.js';
export { requestToken } from './token-request.js';
