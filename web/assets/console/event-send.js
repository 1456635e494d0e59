// @ts-check

/** The form that sends a test event. */

import { newID } from '../../kit/connection.js';
import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { request } from './api.js';
import { eventForm } from './event-form.js';
import { resultsTable, takeBack } from './event-take-back.js';
import { announce, button, field, input, showProblem } from './form.js';
import { may } from './session.js';

/**
 * @param {import('./event-form.js').EventDefinition} definition
 * @returns {HTMLElement}
 */
export function sendPanel(definition) {
  const { event } = definition;
  const fields = eventForm(definition);
  const id = input('id', { required: true, value: newID() });
  const send = createElement('button', 'button primary', 'Send');
  const form = createElement('form', 'event-send', fields.element, field('Id', id, 'An id that is sent again counts once.'),
    createElement('div', 'buttons', send));
  const answer = createElement('div', 'answer');
  answer.tabIndex = -1;
  form.addEventListener('submit', async (submit) => {
    submit.preventDefault();
    if (send.disabled) return;
    send.disabled = true;
    showProblem(form);
    try {
      const sent = id.value;
      const { results } = await request('POST', `v1/events/${encodeSegment(event)}`, { body: { ...fields.read(), id: sent } });
      showAnswer(sent, results);
      id.value = newID();
    } catch (error) {
      showProblem(form, error);
    }
    send.disabled = false;
  });
  const hint = 'It counts as any other event does, and whoever watches sees it at once.';
  const title = createElement('h2', '', 'Send a test event');
  return createElement('section', 'panel', title, createElement('p', 'quiet-text', hint), form, answer);

  /**
   * @param {string} sent the id
   * @param {any[]} results
   */
  function showAnswer(sent, results) {
    const isRetry = results.every(({ duplicate }) => duplicate);
    const told = isRetry ? 'This id was there before. The event has counted once.' : 'The event is sent.';
    announce(told);
    answer.replaceChildren(createElement('p', '', told, ' Id: ', createElement('bdi', 'name', sent)), resultsTable(results));
    if (may('moderate', 'events', event)) answer.append(createElement('div', 'buttons', button('Take it back …', undo, 'danger')));

    async function undo() {
      const undone = await takeBack(definition, sent);
      if (!undone) return;
      answer.replaceChildren(undone);
      answer.focus(); // the button that had it is gone
    }
  }
}
