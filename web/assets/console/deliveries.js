// @ts-check

/** The deliveries of results to the webhook that wait for their receiver. */

import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { request } from './api.js';
import { link } from './form.js';
import { count, time } from './format.js';
import { pagedTable } from './table.js';

/**
 * @param {HTMLElement} view
 * @param {AbortSignal} signal
 */
export async function showDeliveries(view, signal) {
  const load = async (/** @type {string | undefined} */ cursor) => {
    const page = await request('GET', 'v1/deliveries', { query: { limit: 20, cursor }, signal });
    return { items: page.deliveries, cursor: page.cursor };
  };
  const cells = (/** @type {any} */ { board, period, since, attempts, next, error }) => [
    link(period ? `${board}@${period}` : board, `/boards/${encodeSegment(board)}`),
    time(since), count(attempts), time(next), createElement('bdi', '', error ?? ''),
  ];
  const columns = ['Result of', 'Waits since', 'Attempts', 'Next attempt', 'Last error'];
  view.append(createElement('section', 'panel', createElement('h2', '', 'Webhook deliveries'),
    await pagedTable(columns, load, cells, 'No delivery waits.')));
}
