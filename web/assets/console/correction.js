// @ts-check

/** What corrects a member on all boards of an event at once: the event is taken back, or the difference is sent. */

import { newID } from '../../kit/connection.js';
import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { request } from './api.js';
import { ask } from './dialog.js';
import { eventForm, fieldsOf } from './event-form.js';
import { resultsTable, takeBackForm } from './event-take-back.js';
import { announce, field, select, showProblem } from './form.js';
import { scoreText } from './format.js';
import { quoted } from './moderation.js';
import { may } from './session.js';

/**
 * @typedef {import('./definitions.js').Definitions} Definitions
 * @typedef {import('./event-form.js').EventDefinition} EventDefinition
 * @typedef {import('./event-form.js').Update} Update
 */

/** What the form of a difference takes away at first. */
const DIFFERENCE = -1;

/**
 * @param {string} kind
 * @param {string} member
 * @param {Definitions} definitions
 * @param {() => void} onDone
 * @returns {HTMLElement[]} nothing if there is no event that the operator may correct
 */
export function correctionPanel(kind, member, definitions, onDone) {
  const scopes = ['moderate', 'write'];
  const events = definitions.eventsOf(kind).filter(({ event }) => scopes.some((scope) => may(scope, 'events', event.event)));
  if (events.length === 0) return [];
  const choice = select('event', events.map(({ event }) => event.event));
  const ways = createElement('div', 'section-content');
  choice.addEventListener('change', draw);
  draw();
  const hint = 'An event counts on several boards. What corrects it there corrects what the member has given to others, too.';
  return [createElement('section', 'panel', createElement('h2', '', 'Correct on all boards of an event'),
    createElement('p', 'quiet-text', hint), field('Event', choice), ways)];

  function draw() {
    const { event, own } = events[choice.selectedIndex];
    ways.replaceChildren();
    if (may('moderate', 'events', event.event)) {
      const hint = `For an event whose id you know. Ids hold for ${event.ids ?? '10m'} at least.`;
      ways.append(createElement('h3', '', 'Take it back'), createElement('p', 'quiet-text', hint), takeBackForm(event, onDone));
    }
    if (may('write', 'events', event.event)) {
      ways.append(createElement('h3', '', 'Send the difference'), ...differenceForm(event, own, member, definitions, onDone));
    }
  }
}

/**
 * @param {EventDefinition} definition
 * @param {Update[]} own the updates that count for members of the kind
 * @param {string} member
 * @param {Definitions} definitions
 * @param {() => void} onDone
 * @returns {HTMLElement[]}
 */
function differenceForm(definition, own, member, definitions, onDone) {
  const types = fieldsOf(definition);
  const amounts = [...types].filter(([, type]) => type === 'integer').map(([name]) => name);
  const positive = amounts.find((name) => (definition.fields?.[name]?.min ?? DIFFERENCE) > DIFFERENCE);
  if (positive || amounts.length === 0) {
    const why = positive ? `its field ${positive} takes no negative value` : 'it has no field that is a score';
    return [createElement('p', '', `This event cannot take anything away: ${why}. Take an event back by its id, set the score on each `
      + 'board, or define a second event with the same updates and without bounds.')];
  }
  // An update whose score is minus a field takes away by itself.
  const takesAway = (/** @type {string} */ name) =>
    own.some(({ score, columns }) => Object.values(columns ?? { score }).includes(`-{${name}}`));
  const values = Object.fromEntries(amounts.map((name) => [name, takesAway(name) ? -DIFFERENCE : DIFFERENCE]));
  const whole = own.map(({ member }) => member.match(/^\{(.+)\}$/)?.[1]).find(Boolean);
  if (whole) Object.assign(values, { [whole]: member });
  const fields = eventForm(definition, values);
  const form = createElement('form', 'difference', fields.element);
  const others = definition.updates.filter(({ board, op }) => (op ?? definitions.boardOf(board)?.mode ?? 'sum') !== 'sum');
  if (others.length) {
    const boards = [...new Set(others.map(({ board }) => quoted(board)))].join(', ');
    form.appendChild(createElement('p', '', `No difference corrects ${boards}: it keeps the best or the last score. Set the score there.`));
  }
  const answer = createElement('div', 'answer');
  form.appendChild(createElement('div', 'buttons', createElement('button', 'button danger', 'Send the difference …')));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    showProblem(form);
    const [body, id] = [fields.read(), newID()];
    /** @type {any[]} */
    let results = [];
    const done = await ask({
      title: `Send a correction of ${quoted(definition.event)}?`,
      content: [
        ...fields.updates().map((update) => `${quoted(update.board)}: ${quoted(update.member)}, ${scoreText(update)}`),
        'It counts as an event of its own, in the periods that are open now, and its feed shows it. The audit does not.',
        createElement('p', '', 'Its id, to take it back: ', createElement('bdi', 'name', id)),
      ],
      action: 'Send',
      danger: true,
      submit: async () => {
        try {
          ({ results } = await request('POST', `v1/events/${encodeSegment(definition.event)}`, { body: { ...body, id } }));
        } catch (error) {
          showProblem(form, error); // at the field; the dialog shows it too
          throw error;
        }
        announce('The correction is sent.');
      },
    });
    if (!done) return;
    answer.replaceChildren(resultsTable(results));
    onDone();
  });
  return [form, answer];
}
