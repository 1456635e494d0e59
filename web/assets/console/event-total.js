// @ts-check

/** The dialog that adds a total to an event: a board whose one member gets what each occurrence counts, and the update for it. */

import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { Problem, request } from './api.js';
import { ask } from './dialog.js';
import { announce, field, input, problemNote, select } from './form.js';
import { table } from './table.js';

/** From the last letter to the look at what will change, ms. */
const LOOK_PAUSE_MS = 300;
/** What the members of a new board are. */
const KIND = 'total';
/** What a new board has of one that the event counts on: when it counts, and how its scores look. */
const SHARED = [
  ...['period', 'base', 'timezone', 'week_starts', 'day_starts_at', 'starts', 'ends', 'freeze', 'reveal', 'reveal_within'],
  ...['ids', 'display'],
];

/** @typedef {import('./event-form.js').EventDefinition & { show?: { board: string } }} EventDefinition */

/**
 * Asks, and adds a total.
 *
 * @param {EventDefinition} definition
 * @returns {Promise<boolean>} whether it was added
 */
export async function addTotal({ event, updates, show }) {
  const path = `v1/events/${encodeSegment(event)}`;
  const like = show?.board ?? updates.find(({ board }) => !board.includes('{'))?.board ?? updates[0].board;
  const board = input('board', { required: true, value: 'total' });
  const constant = { pattern: '[^\\{\\}]+', title: 'It is the same each time: without braces' };
  const member = input('member', { required: true, value: 'all', ...constant });
  const name = input('name', { maxLength: 64, placeholder: 'Everybody' });
  const amounts = amountsOf(updates);
  const score = select('score', amounts);
  const changes = createElement('div', 'checked');
  changes.role = 'status';
  let look = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const content = createElement('div', 'event-send',
    createElement('p', '', 'Each occurrence of ', createElement('bdi', 'name', event), ' adds to the score of one and the same member.'),
    createElement('div', 'row', field('Board', board), field('Member', member)),
    createElement('div', 'row', ...(amounts.length > 1 ? [field('Adds', score)] : []),
      field('Name of the member (optional)', name, 'Pages show it in place of the id.')),
    changes);
  content.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(showChanges, LOOK_PAUSE_MS);
  });
  showChanges();
  const done = await ask({ title: 'Add a total', content: [content], action: 'Add', submit: add });
  clearTimeout(timer);
  look.abort();
  if (done) announce(`The event ${event} counts on ${board.value} too.`);
  return done;

  function update() {
    return { board: board.value.trim(), member: member.value, score: amountOf(score.value) };
  }

  /** @param {AbortSignal} [signal] */
  async function newBoard(signal) {
    const { definition } = await request('GET', `v1/boards/${encodeSegment(like)}`, { signal });
    return { kind: KIND, ...Object.fromEntries(SHARED.filter((key) => key in definition).map((key) => [key, definition[key]])) };
  }

  async function showChanges() {
    look.abort();
    const { signal } = (look = new AbortController());
    const added = update();
    try {
      refuseTwice(updates, added);
      const present = await presentBoard(added.board, signal);
      const rows = Object.entries(await newBoard(signal)).map(([key, value]) => [key, shown(value)]);
      if (signal.aborted) return;
      const defines = createElement('p', '', ...(present
        ? ['The board ', createElement('bdi', 'name', added.board), ' is there, and stays as it is.']
        : ['This defines the board ', createElement('bdi', 'name', added.board), `, which counts over the same time as ${like}:`]));
      changes.replaceChildren(
        defines, ...(present ? [] : [table(['Field', 'Value'], rows)]),
        createElement('p', '', `And it adds update ${updates.length + 1} to the event:`),
        table(['Board', 'Member', 'Score'], [[shown(added.board), shown(added.member), shown(added.score)]]),
      );
    } catch (error) {
      if (!signal.aborted) changes.replaceChildren(problemNote(error));
    }
  }

  /** @param {FormData} values */
  async function add(values) {
    const added = update();
    // The event may have another definition by now.
    const { event: _event, ...definition } = await request('GET', path);
    refuseTwice(definition.updates, added);
    const present = await presentBoard(added.board);
    const body = present ?? (await newBoard());
    if (!present) await request('PUT', `v1/boards/${encodeSegment(added.board)}`, { body });
    await request('PUT', path, { body: { ...definition, updates: [...definition.updates, added] } });
    const named = String(values.get('name')).trim();
    if (!named) return;
    await request('PUT', `v1/members/${encodeSegment(body.kind)}/${encodeSegment(added.member)}`, { body: { name: named } });
  }
}

/**
 * @param {EventDefinition['updates']} updates
 * @param {{ board: string, member: string }} added
 * @throws {Problem} each occurrence would count twice
 */
function refuseTwice(updates, added) {
  if (updates.some(({ board, member }) => board === added.board && member === added.member))
    throw new Problem(409, { detail: `The event adds to ${added.member} on ${added.board} already.`, field: 'board' });
}

/**
 * @param {string} board
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} its definition; undefined: there is none
 */
async function presentBoard(board, signal) {
  try {
    return (await request('GET', `v1/boards/${encodeSegment(board)}`, { signal })).definition;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * @param {EventDefinition['updates']} updates
 * @returns {string[]} what they add, each once
 */
function amountsOf(updates) {
  return [...new Set(updates.flatMap(({ score, columns }) => Object.values(columns ?? { score })).map(String))];
}

/**
 * @param {string} amount
 * @returns {string | number} a field in braces, or a number
 */
function amountOf(amount) {
  return amount.includes('{') ? amount : Number(amount);
}

/** @param {unknown} value */
function shown(value) {
  return createElement('bdi', 'code', typeof value === 'string' ? value : JSON.stringify(value));
}
