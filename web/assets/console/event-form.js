// @ts-check

/** The form of an event's fields, which says on which boards the event will count. */

import { createElement } from '../shared/dom.js';
import { field, input } from './form.js';
import { count, scoreText } from './format.js';
import { tableRow, table } from './table.js';

/**
 * @typedef {string | number} Amount
 * @typedef {{ board: string, member: string, score?: Amount, columns?: { [column: string]: Amount }, op?: string,
 *   if?: 'exists' | 'absent', data?: unknown }} Update
 * @typedef {{ event: string, sender?: string, ids?: string, updates: Update[],
 *   fields?: { [field: string]: { min?: number, max?: number, kind?: string } } }} EventDefinition
 * @typedef {{ [field: string]: unknown }} Values by field, as a request has them; fields without a value are missing
 */

/** A field in a text of the definition. */
const FIELD = /\{([a-z][a-z0-9_]*)\}/g;
/** A text in the JSON of data that is a field. */
const DATA_FIELD = /"\{([a-z][a-z0-9_]*)\}"(?!:)/g;
const COLUMNS = ['Board', 'Member', 'Score'];

/**
 * @param {EventDefinition} definition
 * @returns {Map<string, 'integer' | 'text' | 'any'>} the types of its fields, in the order in which the updates use them
 */
export function fieldsOf({ updates }) {
  /** @type {Map<string, 'integer' | 'text' | 'any'>} */
  const fields = new Map();
  for (const { board, member, score, columns, data } of updates) {
    for (const name of namesIn(`${member}${board}`)) fields.set(name, 'text');
    for (const amount of Object.values(columns ?? { score })) for (const name of namesIn(String(amount))) fields.set(name, 'integer');
    for (const [, name] of JSON.stringify(data ?? {}).matchAll(DATA_FIELD)) if (!fields.has(name)) fields.set(name, 'any');
  }
  return fields;
}

/**
 * @param {EventDefinition} definition
 * @param {Values} values
 * @returns {Update[]} the updates that the event makes; a field without a value stays in its braces
 */
export function updatesOf({ updates }, values) {
  const filled = (/** @type {string} */ text) => text.replace(FIELD, (braces, name) => String(values[name] ?? braces));
  return updates.map((update) => {
    const { board, member, score, columns } = update;
    const amounts = Object.entries(columns ?? {}).map(([name, amount]) => [name, amountOf(amount, values)]);
    return {
      ...update, board: filled(board), member: filled(member),
      ...(columns ? { columns: Object.fromEntries(amounts) } : { score: amountOf(score ?? 0, values) }),
    };
  });
}

/**
 * The controls have the names of the fields. They belong into a form, which shows the server's problems at them (showProblem).
 *
 * @param {EventDefinition} definition
 * @param {Values} [values] with which the form begins
 * @returns {{ element: HTMLElement, read: () => Values, updates: () => Update[] }} read and updates: of what the form holds now
 */
export function eventForm(definition, values = {}) {
  const types = fieldsOf(definition);
  const controls = [...types].map(([name, type]) => controlOf(name, type, values[name], definition.fields?.[name]));
  const preview = table(COLUMNS);
  const caption = createElement('caption', '', 'It will count on:');
  preview.prepend(caption);
  const row = createElement('div', 'row', ...controls.map((control) => field(control.name, control, hintOf(definition, control.name))));
  const element = createElement('div', 'event-form', row, preview);
  element.addEventListener('input', draw);
  draw();
  return { element, read, updates };

  function read() {
    const entries = controls.filter(({ value }) => value !== '').map(({ name, value }) => [name, valueOf(value, types.get(name))]);
    return Object.fromEntries(entries);
  }

  function updates() {
    return updatesOf(definition, read());
  }

  function draw() {
    preview.tBodies[0].replaceChildren(...updates().map((update) => tableRow(COLUMNS, updateCells(update))));
  }
}

/**
 * @param {string} name
 * @param {'integer' | 'text' | 'any'} type
 * @param {unknown} value
 * @param {{ min?: number, max?: number }} [rule]
 */
function controlOf(name, type, value = '', { min, max } = {}) {
  const control = input(name, { required: true });
  if (type === 'integer') {
    Object.assign(control, { type: 'number', step: '1' });
    if (min !== undefined) control.min = String(min);
    if (max !== undefined) control.max = String(max);
  }
  control.value = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return control;
}

/**
 * @param {string} value that is not empty
 * @param {'integer' | 'text' | 'any' | undefined} type
 */
function valueOf(value, type) {
  if (type === 'integer') return Number(value);
  if (type === 'text') return value;
  try {
    return JSON.parse(value) ?? value;
  } catch {
    return value;
  }
}

/**
 * @param {EventDefinition} definition
 * @param {string} name
 */
function hintOf({ sender, fields }, name) {
  const { min, max, kind } = fields?.[name] ?? {};
  const range = min !== undefined && max !== undefined ? `${count(min)} to ${count(max)}`
    : min !== undefined ? `At least ${count(min)}` : max !== undefined ? `At most ${count(max)}` : '';
  return range || [kind && `Has a profile of the kind ${kind}`, name === sender && 'The sender'].filter(Boolean).join('. ');
}

/**
 * @param {Amount} amount of the definition
 * @param {Values} values
 */
function amountOf(amount, values) {
  if (typeof amount === 'number') return amount;
  const [name] = namesIn(amount);
  const value = values[name];
  return typeof value !== 'number' ? amount : amount.startsWith('-') ? -value || 0 : value;
}

/** @param {Update} update */
function updateCells({ board, member, score, columns, if: condition }) {
  const only = condition === 'exists' ? ' if the member is on the board' : condition === 'absent' ? ' if it is not on the board' : '';
  const value = createElement('span', '', scoreText({ score, columns }));
  if (only) value.append(createElement('small', '', only));
  return [createElement('bdi', '', board), createElement('bdi', '', member), value];
}

/** @param {string} text */
function namesIn(text) {
  return [...text.matchAll(FIELD)].map(([, name]) => name);
}
