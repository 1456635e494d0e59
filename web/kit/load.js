// @ts-check

/**
 * Loads the second file of the kit, once for a page, when something on the page needs what it holds.
 *
 * @typedef {typeof import('./on-demand.js')} OnDemand
 */

import { dateParts, language, phrase } from './format.js';
import { itemsOf } from './items.js';
import { Row } from './row.js';
import { RankcastError } from './socket.js';

/** After a failure, the file is not asked for again within this time. */
const RETRY_MS = 5_000;

/** What that file has from this one. A page of before may have an older file, so a name stays. */
export const shared = { dateParts, itemsOf, language, phrase, Row };

/** @type {Promise<OnDemand> | undefined} */
let loading;

/**
 * @returns {Promise<OnDemand>}
 * @throws {RankcastError} the file has not come; a later call may try again
 */
export function loadOnDemand() {
  return (loading ??= import('./on-demand.js').then(
    (file) => {
      file.share(shared);
      return file;
    },
    (error) => {
      setTimeout(() => (loading = undefined), RETRY_MS);
      throw new RankcastError({ code: 'unavailable', message: String(error) });
    },
  ));
}
