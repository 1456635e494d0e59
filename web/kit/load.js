// @ts-check

/**
 * Loads further files of the kit, each once for a page, when something on the page needs what it holds.
 *
 * @typedef {typeof import('./on-demand.js')} OnDemand
 */

import { dateParts, gapText, language, phrase, scoreFormat, textIn } from './format.js';
import { itemsOf } from './items.js';
import { periodText } from './period.js';
import { roll, Row } from './row.js';
import { RankcastError } from './socket.js';

/** After a failure, the file is not asked for again within this time. */
export const RELOAD_MS = 5_000;

/** What those files have from this one. A page of before may have an older file, so a name stays. */
export const shared = {
  dateParts,
  gapText,
  itemsOf,
  language,
  loadReveal: () => loadReveal(),
  periodText,
  phrase,
  roll,
  Row,
  scoreFormat,
  textIn,
};

/**
 * @template {{ share: (first: typeof shared) => void }} File
 * @param {() => Promise<File>} load
 * @returns {() => Promise<File>} throws a RankcastError if the file has not come; a later call may try again
 */
function once(load) {
  /** @type {Promise<File> | undefined} */
  let loading;
  return () =>
    (loading ??= load().then(
      (file) => {
        file.share(shared);
        return file;
      },
      (error) => {
        setTimeout(() => (loading = undefined), RELOAD_MS);
        throw new RankcastError({ code: 'unavailable', message: String(error) });
      },
    ));
}

/** What happens on a board, the search, and tokens. */
export const loadOnDemand = once(() => import('./on-demand.js'));
/** What shows the scores of a board with columns. */
export const loadColumns = once(() => import('./columns.js'));
/** What shows how far the followed member is from its goals. */
export const loadGoal = once(() => import('./goal.js'));
/** What shows reveals on a frozen board. */
const loadReveal = once(() => import('./reveal.js'));
