// @ts-check

/** The deliveries of results to the webhook that wait for their receiver. */

import { createElement } from '../shared/dom.js';
import { boardLink } from './form.js';
import { count, time } from './format.js';
import { pagedTable, pagesOf } from './table.js';

/**
 * @param {HTMLElement} view
 * @param {AbortSignal} signal
 */
export async function showDeliveries(view, signal) {
  const load = pagesOf('v1/deliveries', 'deliveries', signal);
  const cells = (/** @type {any} */ { board, period, since, attempts, next, error }) => [
    boardLink(board, period ? `${board}@${period}` : board),
    time(since), count(attempts), time(next), createElement('bdi', '', error ?? ''),
  ];
  const columns = ['Result of', 'Waits since', 'Attempts', 'Next attempt', 'Last error'];
  view.append(createElement('section', 'panel', createElement('h2', '', 'Webhook deliveries'),
    await pagedTable(columns, load, cells, 'No delivery waits.')));
}
