// @ts-check

/** The acts of moderation on one member: each is a dialog that says what will happen. */

import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { request } from './api.js';
import { ask } from './dialog.js';
import { announce, field, input } from './form.js';
import { count, scoreText } from './format.js';

/**
 * @typedef {import('./definitions.js').Definitions} Definitions
 * @typedef {{ board: string } | { kind: string }} Place where a member is hidden: on a board, or on all boards of a kind
 */

/** What showing a member again does. */
export const SHOW_TEXT = 'The member comes back, in the place that its score gives, within some seconds.';

/** The boards that the dialog of an erasure names. */
const NAMED = 10;
/** The boards that it counts. */
const COUNTED = 100;

/**
 * @param {Place} place
 * @param {string} member
 */
export function hiddenPath(place, member) {
  const of = 'board' in place ? `v1/boards/${encodeSegment(place.board)}/hidden` : `v1/hidden/${encodeSegment(place.kind)}`;
  return `${of}/${encodeSegment(member)}`;
}

/**
 * @param {string} kind
 * @param {string} member
 */
export function memberPath(kind, member) {
  return `v1/members/${encodeSegment(kind)}/${encodeSegment(member)}`;
}

/**
 * @param {FormData} values of a dialog
 * @returns {{ reason: string } | undefined} the body of a request that may have a reason
 */
export function reasonOf(values) {
  const reason = String(values.get('reason') ?? '').trim();
  return reason ? { reason } : undefined;
}

/**
 * @param {Place} place
 * @returns {string} the place in a sentence
 */
export function placeText(place) {
  return 'board' in place ? quoted(place.board) : `all boards of the kind ${quoted(place.kind)}`;
}

/**
 * @param {Place} place
 * @param {Definitions} definitions
 * @returns {string[]} what hiding does
 */
export function hideTexts(place, definitions) {
  const stays = 'Scores stay, and updates go on counting unseen. You can show the member again at any time.';
  if ('board' in place) {
    return [`The member leaves the ranks of ${quoted(place.board)} and of all its periods, within three seconds. ${stays}`];
  }
  return [
    `The member leaves the ranks of all boards of the kind ${quoted(place.kind)}, also of later ones, within some seconds. ${stays}`,
    ...given(place.kind, definitions, 'To take it away, correct it on all boards of the event.'),
  ];
}

/**
 * @param {string} kind
 * @param {Definitions} definitions
 * @param {string} advice what the operator can do about it
 * @returns {string[]} that what members of the kind have given to others stays, and where; nothing if they give nothing
 */
function given(kind, definitions, advice) {
  const places = definitions.eventsOf(kind).filter(({ others }) => others.length > 0)
    .map(({ event, others }) => `the event ${quoted(event.event)} on ${others.map(({ board }) => quoted(board)).join(', ')}`);
  return places.length === 0 ? [] : [`What the member has given to others stays in their sums: by ${places.join('; ')}. ${advice}`];
}

/**
 * @param {Place} place
 * @param {string} member
 * @param {Definitions} definitions
 */
export function hide(place, member, definitions) {
  return ask({
    title: `Hide ${quoted(member)} on ${placeText(place)}`,
    content: hideTexts(place, definitions),
    action: 'Hide',
    danger: true,
    reason: 'optional',
    submit: async (values) => {
      await request('PUT', hiddenPath(place, member), { body: reasonOf(values) });
      announce(`Hidden: ${member}`);
    },
  });
}

/**
 * @param {Place} place
 * @param {string} member
 */
export function unhide(place, member) {
  return ask({
    title: `Show ${quoted(member)} again on ${placeText(place)}`,
    content: [SHOW_TEXT],
    action: 'Show again',
    reason: 'optional',
    submit: async (values) => {
      await request('DELETE', hiddenPath(place, member), { body: reasonOf(values) });
      announce(`Shown again: ${member}`);
    },
  });
}

/**
 * @param {string} board
 * @param {string} member
 * @param {{ score: number, columns?: { [name: string]: number } }} present the present score
 */
export function setScore(board, member, present) {
  const { score, columns } = present;
  const numbers = Object.entries(columns ?? { score });
  const fieldOf = (/** @type {string} */ name) => (columns ? `columns.${name}` : name);
  const controls = numbers.map(([name, n]) => input(fieldOf(name), { type: 'number', step: '1', required: true, value: String(n) }));
  return ask({
    title: `Set the score of ${quoted(member)} on ${quoted(board)}`,
    content: [
      `The member gets exactly this score, on this board alone, in the period that is open now. Its score now is ${
        scoreText(present)}. An update that counts meanwhile is overwritten.`,
      ...controls.map((control, i) => field(columns ? numbers[i][0] : 'Score', control)),
    ],
    action: 'Set the score',
    reason: 'required',
    submit: async (values) => {
      const path = `v1/boards/${encodeSegment(board)}/members/${encodeSegment(member)}/score`;
      const set = Object.fromEntries(numbers.map(([name]) => [name, Number(values.get(fieldOf(name)))]));
      const result = await request('PUT', path, { body: { ...(columns ? { columns: set } : set), ...reasonOf(values) } });
      announce(`The score on ${board} is ${scoreText(result)}.`);
    },
  });
}

/**
 * @param {string} kind
 * @param {string} member
 * @param {Definitions} definitions
 */
export async function erase(kind, member, definitions) {
  const { boards, cursor } = await request('GET', `${memberPath(kind, member)}/boards`, { query: { limit: COUNTED } });
  const list = namesList(boards.slice(0, NAMED).map((/** @type {any} */ { board }) => board));
  const more = `${cursor ? ' and more' : ''}${boards.length > NAMED ? ', of which these are the first' : ''}`;
  const stands = boards.length === 0 ? 'It stands on no board now.'
    : boards.length === 1 && !cursor ? 'It stands on one board:' : `It stands on ${count(boards.length)} boards${more}:`;
  return ask({
    title: `Erase ${quoted(member)} for ever`,
    content: [...eraseTexts(kind, definitions), stands, ...(boards.length ? [list] : [])],
    action: 'Erase for ever',
    danger: true,
    reason: 'required',
    typed: member,
    submit: async (values) => {
      await request('DELETE', memberPath(kind, member), { body: reasonOf(values) });
      announce('The erasure has begun.');
    },
  });
}

/**
 * @param {string} kind
 * @param {Definitions} definitions
 * @returns {string[]} what an erasure does
 */
export function eraseTexts(kind, definitions) {
  return [
    'This cannot be undone.',
    `The member leaves all boards of the kind ${quoted(kind)}, their periods and histories. Its profile goes too.`,
    ...given(kind, definitions, 'To take it away, do that first: events of an erased member cannot be taken back.'),
    'The audit keeps the id. Later updates count anew. To keep the member away, hide it as well.',
  ];
}

/** @param {string[]} names */
export function namesList(names) {
  return createElement('ul', 'names', ...names.map((name) => createElement('li', '', createElement('bdi', '', name))));
}

/**
 * @param {string} name
 * @returns {string} the name in quotation marks, in its own direction
 */
export function quoted(name) {
  return `“\u2068${name}\u2069”`;
}
