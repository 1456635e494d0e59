// @ts-check

/** The view of one event: its definition, to which a total can be added, a form that sends a test event, take-backs, and the live feed. */

import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { request } from './api.js';
import { definitionHead, definitionText } from './definition.js';
import { liveFeed } from './event-feed.js';
import { sendPanel } from './event-send.js';
import { takeBackForm } from './event-take-back.js';
import { addTotal } from './event-total.js';
import { boardLink, button } from './form.js';
import { count } from './format.js';
import { may } from './session.js';
import { fact, table } from './table.js';

/**
 * @param {HTMLElement} view
 * @param {string} name
 * @param {AbortSignal} signal
 */
export async function showEvent(view, name, signal) {
  view.append(definitionHead(name, { of: 'events', defined: name, lost: [
    'Only the definition goes. The scores that the event has given stay.',
    'From then on the server refuses this event, whoever sends it, and no occurrence of it can be taken back.',
  ] }));
  const definition = await request('GET', `v1/events/${encodeSegment(name)}`, { signal });
  const acts = createElement('div', 'event-acts');
  if (may('write', 'events', name)) acts.append(sendPanel(definition));
  if (may('moderate', 'events', name)) acts.append(takeBackPanel(definition));
  const summary = createElement('summary', '', 'The whole definition');
  const whole = createElement('details', '', summary, await definitionText('events', name, signal));
  view.append(definitionPanel(definition, whole), createElement('div', 'event-columns', acts, liveFeed(name, signal)));
}

/** @param {any} definition */
function takeBackPanel(definition) {
  const hint = `By the id that its sender gave it. An id holds for ${definition.ids ?? '10m'} at least; the live feed does not show ids.`;
  const title = createElement('h2', '', 'Take an event back');
  return createElement('section', 'panel', title, createElement('p', 'quiet-text', hint), takeBackForm(definition));
}

/**
 * @param {any} definition
 * @param {Node} whole
 */
function definitionPanel(definition, whole) {
  const { sender, ids = '10m', fields = {}, show, updates } = definition;
  const facts = createElement('dl', 'facts');
  for (const [term, text] of [
    ['Sender', sender ? `the field ${sender}` : 'none: no viewer with a token may send it'],
    ['Ids hold for', `${ids} at least`],
    ...Object.entries(fields).map(([name, rule]) => [`Field ${name}`, ruleText(rule)]),
    ...(show ? [['Page shows', [show.board, show.fans, show.recent].filter(Boolean).join(', ')]] : []),
  ]) facts.append(fact(term, text));
  const add = button('Add a total …', async () => {
    if (await addTotal(definition)) dispatchEvent(new Event('hashchange')); // the view begins anew
  });
  const adds = may('admin', 'events', definition.event) ? [createElement('p', 'buttons', add)] : [];
  return createElement('section', 'panel', createElement('h2', '', 'Definition'), facts, updatesTable(updates), ...adds, whole);
}

/** @param {any} rule of a field */
function ruleText({ min, max, kind, choices }) {
  if (kind !== undefined) return `a member with a profile of the kind ${kind}`;
  const bounds = [...(min !== undefined ? [`from ${count(min)}`] : []), ...(max !== undefined ? [`to ${count(max)}`] : [])].join(' ');
  return [...(bounds ? [bounds] : []), ...(choices ? [`pages offer ${choices.map(count).join(', ')}`] : [])].join('; ');
}

/** @param {any} update whose numbers stand as they are written */
function amountText({ score, columns }) {
  return columns ? Object.entries(columns).map(([name, amount]) => `${name} ${amount}`).join(', ') : String(score);
}

/** @param {any[]} updates */
function updatesTable(updates) {
  /** Those that no update uses are left out. @type {{ [column: string]: (update: any) => Node | string }} */
  const optional = {
    Op: ({ op = '' }) => op,
    'Only if': ({ if: condition }) => (condition ? `the member is ${condition === 'exists' ? 'there' : 'not there'}` : ''),
    Data: ({ data }) => (data ? createElement('bdi', 'code', JSON.stringify(data)) : ''),
  };
  const used = Object.entries(optional).filter(([, cell]) => updates.some((update) => cell(update) !== ''));
  const rows = updates.map((update) => [
    boardLink(update.board), createElement('bdi', '', update.member), amountText(update),
    ...used.map(([, cell]) => cell(update)),
  ]);
  return table(['Board', 'Member', 'Score', ...used.map(([name]) => name)], rows);
}
