// @ts-check

/** Events are taken back by their ids; and what the boards answer to an event, or to a take-back. */

import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { request } from './api.js';
import { ask } from './dialog.js';
import { announce, boardLink, field, input, select } from './form.js';
import { count, scoreText } from './format.js';
import { table } from './table.js';

/**
 * @param {any} definition of an event
 * @param {() => void} [onDone]
 * @returns {HTMLElement} a form that takes an occurrence back by its id
 */
export function takeBackForm(definition, onDone) {
  const sender = select('sender', [['key', 'a key'], ['viewer', 'a viewer'], ['anonymous', 'an anonymous caller']]);
  const viewer = input('sub', { required: true });
  const sub = field('Viewer (sub of the token)', viewer);
  const form = createElement('form', 'event-send', field('Id', input('id', { required: true })),
    createElement('div', 'row', field('Sent by', sender), sub),
    createElement('div', 'buttons', createElement('button', 'button danger', 'Take back …')));
  const answer = createElement('div', 'answer');
  // Without a sub it would be the event of an anonymous caller.
  const showSub = () => (sub.hidden = viewer.disabled = sender.value !== 'viewer');
  sender.addEventListener('change', showSub);
  showSub();
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const values = new FormData(form);
    const from = { key: undefined, anonymous: '', viewer: String(values.get('sub')) }[sender.value];
    const results = await takeBack(definition, String(values.get('id')), from);
    if (!results) return;
    answer.replaceChildren(results);
    onDone?.();
  });
  return createElement('div', 'take-back', form, answer);
}

/**
 * Asks, and takes an occurrence of an event back.
 *
 * @param {any} definition of the event
 * @param {string} id
 * @param {string} [sub] of the viewer who has sent it; '': an anonymous caller; undefined: a key
 * @returns {Promise<HTMLElement | undefined>} what the boards answer; undefined: it was not done
 */
export async function takeBack({ event, updates }, id, sub) {
  /** @type {HTMLElement | undefined} */
  let results;
  const boards = [...new Set(updates.map((/** @type {any} */ { board }) => board))];
  await ask({
    title: 'Take the event back?',
    content: [
      createElement('p', '', 'The event ', createElement('bdi', 'name', event), ' with the id ', createElement('bdi', 'name', id)),
      `What it has added is subtracted, on each of its boards: ${boards.join(', ')}.`,
      'A best or last score that it has set becomes the one before. A period that has closed stays as it is.',
      'A take-back cannot be undone: send the event again, with another id.',
    ],
    action: 'Take back',
    danger: true,
    reason: 'optional',
    submit: async (values) => {
      const body = { id, sub, reason: String(values.get('reason')) || undefined };
      const answer = await request('POST', `v1/events/${encodeSegment(event)}/take-back`, { body });
      const done = answer.duplicate ? 'The event was taken back before.' : 'The event is taken back.';
      results = createElement('div', 'answer', createElement('p', '', done), resultsTable(answer.results));
      announce(done);
    },
  });
  return results;
}

/**
 * @param {any[]} results of the boards, as the API answers them
 * @returns {HTMLTableElement}
 */
export function resultsTable(results) {
  return table(['Board', 'Member', 'Before', 'Score', 'Rank', 'Note'], results.map(resultCells));
}

/** @param {any} result */
function resultCells({ board, period, member, previous, score, columns, rank, duplicate, taken_back: takenBack, error }) {
  const place = createElement('span', '', boardLink(board), ' ', createElement('small', '', period ?? ''));
  if (error) return [place, '', '', '', '', createElement('span', 'problem', error.message)];
  const note = takenBack && duplicate ? 'taken back before' : takenBack ? 'taken back' : duplicate ? 'counted before' : '';
  return [place, createElement('bdi', '', member), scoreText(previous ?? {}), scoreText({ score, columns }), count(rank), note];
}
