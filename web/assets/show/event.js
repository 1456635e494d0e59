// @ts-check

/**
 * The event of the page, which the path names, and the boards that its definition shows: as the server has put them into the
 * page, or as its answers to the token of the page say.
 */

import { fill, scorePieces, setLabelLanguage, tagIn, textIn } from '../../kit/format.js';
import { fetchJSON, HTTPError } from '../shared/api.js';
import { formatsOf } from '../shared/board-display.js';
import { fieldOf, findDefinition, placeholders } from '../shared/board-name.js';
import { decodeSegment, encodeSegment, ROOT } from '../shared/links.js';
import { Poll } from '../shared/poll.js';

/**
 * @typedef {import('../../kit/rankcast.js').Label} Label
 *
 * @typedef {object} Definition of an event
 * @property {string} event
 * @property {{ board: string, fans?: string, recent?: string, title?: Label }} [show]
 * @property {string} [sender]
 * @property {{ [name: string]: { min?: number, max?: number, choices?: number[], kind?: string } }} [fields]
 * @property {Update[]} updates
 *
 * @typedef {{ board: string, member: string, score?: string | number, columns?: { [name: string]: string | number },
 *   data?: { [name: string]: unknown } }} Update
 *
 * @typedef {object} BoardDefinition
 * @property {string} board
 * @property {Label} [title]
 * @property {Label} [description]
 * @property {string} [icon]
 * @property {string} [period]
 * @property {import('../../kit/rankcast.js').Display} [display]
 * @property {readonly import('../../kit/rankcast.js').Column[]} [columns]
 */

/**
 * A star is a member of the board of the show, a fan is who sends a gift to a star, and a gift is one event.
 *
 * @typedef {object} Show
 * @property {Label | undefined} title
 * @property {string} board
 * @property {string} fans the board of one star's fans, with a placeholder; '': none
 * @property {string} recent the same for a short time
 * @property {string} star the field of the event for the star
 * @property {string} kind in which the star must have a profile; '': none
 * @property {string} fan the field for the viewer; '': none
 * @property {string} amount the field for the amount; '': each gift has the same
 * @property {boolean} namesSender otherwise no viewer may send the event
 * @property {string[]} others fields that the page cannot fill
 * @property {number[]} choices the amounts that the page offers, the largest last
 * @property {number} max the largest amount of one event
 */

const PATH = /^show\/([^/]+)(?:\/([^/]+))?$/;
/** The choices where the definition names none. */
const USUAL = [1, 10, 99];
/** The taps on the largest choice that one event holds, where the definition sets no bound. */
const MAX_TAPS = 100;

/**
 * @param {string} pathname
 * @returns {{ event: string, star: string }} '': none
 */
export function readPath(pathname) {
  const [, event = '', star = ''] = PATH.exec(pathname.slice(ROOT.pathname.length)) ?? [];
  return { event: decodeSegment(event), star: decodeSegment(star) };
}

/** The name of the event. */
export const { event } = readPath(location.pathname);

/** null: the page does not know it. @type {Show | null} */
export let show = readShow(read('show') ?? {});

/** Why the page does not know the event. @type {unknown} */
export let problem = null;

/** Those of the boards of the show that the page knows. @type {BoardDefinition[]} */
let definitions = read('first') ?? [];

/** @param {() => void} onChange called after each answer */
export function watchEvent(onChange) {
  new Poll(Infinity, async (signal) => {
    try {
      show = readShow(await fetchJSON(`v1/events/${encodeSegment(event)}`, signal));
      problem = show ? null : new HTTPError(404);
    } catch (error) {
      // Until an answer comes, the page goes on as it is. A refusal is one.
      if (!(error instanceof HTTPError) || error.status >= 500) throw error;
      problem = error;
      show &&= error.status === 404 ? null : show;
    }
    await readDefinitions(signal);
    chooseLanguage();
    onChange();
  }).start();
}

/** @param {AbortSignal} signal */
async function readDefinitions(signal) {
  const { board = '', fans = '', recent = '' } = show ?? {};
  const missing = [board, fans, recent].filter((name) => name && !findDefinition(definitions, name));
  const found = await Promise.all(
    missing.map((name) =>
      fetchJSON(`v1/boards/${encodeSegment(name)}`, signal).then(
        ({ definition }) => definition,
        () => null, // the page shows the board by its name
      ),
    ),
  );
  definitions = [...definitions, ...found.filter(Boolean)];
}

/**
 * @param {string} id of a script
 * @returns {any} what it holds; undefined: there is none
 */
function read(id) {
  const script = document.getElementById(id);
  return script ? JSON.parse(script.textContent ?? '') : undefined;
}

/**
 * Chooses amounts as choicesOf in server/pages/show.go: web/testdata/choices.json has cases for both.
 *
 * @param {Definition | { show?: undefined }} definition
 * @returns {Show | null}
 */
function readShow(definition) {
  if (!definition.show) return null;
  const { show: { board, fans = '', recent = '', title }, sender = '', fields = {}, updates } = definition;
  const updateOf = (/** @type {string} */ name) => updates.find((update) => update.board === name && fieldOf(update.member));
  const own = updateOf(board);
  const star = fieldOf(own?.member);
  const fan = sender || fieldOf(updateOf(fans)?.member) || fieldOf(updateOf(recent)?.member);
  const amount = fieldOf(own?.score);
  const fixed = typeof own?.score === 'number' ? own.score : 1;
  const choices = amount ? choicesOf(fields[amount]) : fixed > 0 ? [fixed] : [];
  return {
    title,
    board,
    fans,
    recent,
    star,
    kind: fields[star]?.kind ?? '',
    fan,
    amount,
    namesSender: sender !== '',
    others: fieldsIn(updates).filter((name) => ![star, fan, amount].includes(name)),
    choices,
    max: amount ? (fields[amount]?.max ?? MAX_TAPS * choices[choices.length - 1]) : fixed,
  };
}

/**
 * As usualChoices in server/pages/show.go.
 *
 * @param {{ min?: number, max?: number, choices?: number[] }} [rule] of the field
 * @returns {number[]}
 */
function choicesOf({ min = 1, max = Number.MAX_SAFE_INTEGER, choices } = {}) {
  if (choices) return choices;
  const least = Math.max(min, 1);
  const usual = USUAL.map((n) => n * least).filter((n) => n <= max);
  return usual.length === 1 && max > least ? [least, max] : usual;
}

/**
 * @param {Update[]} updates
 * @returns {string[]} the names of all fields
 */
function fieldsIn(updates) {
  /** @type {Set<string>} */
  const names = new Set();
  /** @param {unknown} value */
  const addAll = (value) => {
    if (typeof value === 'string') for (const name of placeholders(value)) names.add(name);
    else if (value && typeof value === 'object') Object.values(value).forEach(addAll);
  };
  for (const { board, member, score, columns, data } of updates) addAll([board, member, score, columns, data]);
  return [...names];
}

/** As labelTag in server/pages/show.go. The server has chosen the language of the labels that it has put into the page. */
function chooseLanguage() {
  const { lang } = document.documentElement;
  if (document.getElementById('show')) return;
  const languageOf = (/** @type {string} */ tag) => tag.toLowerCase().split('-')[0];
  const labels = definitions.flatMap(({ title, description, display }) => [title, description, display?.unit]);
  const known = [show?.title, ...labels].flatMap((label) => (typeof label === 'object' ? Object.keys(label) : []));
  const asked = [new URLSearchParams(location.search).get('lang') ?? '', ...navigator.languages];
  setLabelLanguage(asked.find((tag) => known.some((other) => languageOf(other) === languageOf(tag))) ?? lang);
}

/**
 * @param {Label | undefined} label
 * @returns {string | false} the language of its text; false: that of the page, or none
 */
export function langOf(label) {
  const lang = typeof label === 'object' && tagIn(label);
  return lang !== document.documentElement.lang && lang;
}

/** @returns {BoardDefinition | undefined} of the board of the show */
export function boardDefinition() {
  return show ? findDefinition(definitions, show.board) : undefined;
}

/** The title of the board of the show. */
export function boardTitle() {
  return textIn(boardDefinition()?.title) || (show?.board ?? '');
}

/** What the page is called. */
export function showTitle() {
  return textIn(show?.title) || boardTitle();
}

/**
 * @param {string} family a board of the show, with a placeholder
 * @param {string} star
 * @param {string} name of the star
 * @returns {string} the title of the star's board
 */
export function titleOfInstance(family, star, name) {
  const title = textIn(labelOf(family));
  return title ? fill(title.replace(/\{\w+\}/g, '{name}'), { name }) : instance(family, star);
}

/**
 * @param {string} family a board of the show, with a placeholder
 * @returns {Label | undefined} the title of its definition
 */
export function labelOf(family) {
  return findDefinition(definitions, family)?.title;
}

/**
 * @param {string} family a board of the show, with a placeholder
 * @param {string} star
 * @returns {string} the name of the star's board
 */
export function instance(family, star) {
  return family.replaceAll(`{${show?.star}}`, () => star);
}

/**
 * @param {{ [name: string]: unknown }} data of an item of the feed
 * @returns {{ star: unknown, fan: unknown, amount: unknown }}
 */
export function giftOf(data) {
  const { star = '', fan = '', amount = '', choices = [] } = show ?? {};
  return { star: data[star], fan: data[fan], amount: amount ? data[amount] : choices[0] };
}

/**
 * @param {{ star: string, fan: string, amount: number }} gift
 * @returns {{ [name: string]: unknown }} the fields of the event for it
 */
export function fieldsOf(gift) {
  const { star = '', fan = '', amount = '' } = show ?? {};
  return { [star]: gift.star, [fan]: gift.fan, ...(amount && { [amount]: gift.amount }) };
}

/**
 * @param {number} amount
 * @returns {string} the amount as the board of the show has it
 */
export function amountText(amount) {
  const { display, columns } = boardDefinition() ?? {};
  return formatsOf(columns ? {} : { display }).exact(amount);
}

/**
 * @param {number} amount
 * @returns {[number: string, unit: string]}
 */
export function amountPieces(amount) {
  return scorePieces(amountText(amount));
}

/**
 * @param {number} amount
 * @returns {boolean} whether it is as large as the largest of several choices
 */
export function isLargest(amount) {
  const { choices = [] } = show ?? {};
  return choices.length > 1 && amount >= choices[choices.length - 1];
}
