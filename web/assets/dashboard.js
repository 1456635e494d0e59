// @ts-check

/**
 * The dashboard: the server's boards and families as navigation, and one of them:
 * a board live, a family as a list of its boards. What is shown is in the URL
 * (`?board=stars&top=25&me=u4`), so it can be kept and shared.
 */

import { setAttribute } from './dom.js';
import { Family } from './family.js';
import './live-leaderboard.js';
import { problemOf } from './member.js';
import { definitionOf, placeholders } from './names.js';
import { backoff } from './socket.js';

/**
 * @typedef {{ board: string, mode: string, order: string, ties: string, period?: string, timezone?: string, window?: string }} Board a family has placeholders in its name
 */

const BOARDS_URL = new URL('../v1/boards', import.meta.url);

/** A server that takes longer than this to list its boards is as good as away. */
const FETCH_MS = 10_000;
/** Waits stop doubling here, at up to 8 s: somebody is looking at an empty page. */
const LONGEST_ATTEMPT = 5;

const DEFAULT_TOP = '10';
/** What a server starts with, and most have. */
const DEFAULT_BOARD = 'stars';

const MODE_TEXT = new Map([
  ['sum', 'Scores add up'],
  ['best', 'Best score counts'],
  ['last', 'Latest score counts'],
]);
const ORDER_TEXT = new Map([
  ['desc', 'highest first'],
  ['asc', 'lowest first'],
]);
const TIES_TEXT = new Map([
  ['first', 'ties to the earlier'],
  ['shared', 'ties share a rank'],
  ['dense', 'ties share a rank, none skipped'],
  ['member', 'ties by member id'],
]);

const PERIOD_TEXT = new Map([
  ['hour', 'by the hour'],
  ['day', 'by day'],
  ['week', 'by week'],
  ['month', 'by month'],
  ['year', 'by year'],
]);

const WINDOW_TEXT = new Map([
  ['s', 'second'],
  ['m', 'minute'],
  ['h', 'hour'],
  ['d', 'day'],
]);

/** The server answered, but not with its boards. */
class RefusedError extends Error {}

const list = byId('boards', HTMLUListElement);
const nav = byId('nav', HTMLElement);
const main = byId('board', HTMLElement);
const note = byId('note', HTMLParagraphElement);
const shown = byId('shown', HTMLDivElement);
const name = byId('name', HTMLHeadingElement);
const rules = byId('rules', HTMLParagraphElement);
const choices = byId('choices', HTMLDivElement);
const meInput = byId('me', HTMLInputElement);
const meProblem = byId('me-problem', HTMLParagraphElement);
const topSelect = byId('top', HTMLSelectElement);
const leaderboard = byId('leaderboard', HTMLElement);
const instances = byId('instances', HTMLUListElement);
const family = new Family(
  {
    element: byId('family', HTMLElement),
    form: byId('instance', HTMLFormElement),
    parts: byId('parts', HTMLDivElement),
    problem: byId('parts-problem', HTMLParagraphElement),
    note: byId('instances-note', HTMLParagraphElement),
    list: instances,
  },
  (board) => address(board, wanted().top, wanted().me),
  (board) => choose(address(board, wanted().top, wanted().me)),
);

/** @type {Board[]} */
let boards = [];
/** Whom the URL follows, as put into the box. */
let followed = '';
let attempt = 0;
let loading = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let retryTimer;

addEventListener('popstate', show);
addEventListener('online', load);
// Boards are made and removed while nobody looks at this page.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') load();
});

for (const links of [list, instances]) {
  links.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    // Anything but a plain click asks the browser for a tab, a window or a file.
    if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (links === list) go(link.href);
    else choose(link.href);
  });
}

/**
 * Goes where the control that was used is no more, so that the focus goes along.
 *
 * @param {string} url
 */
function choose(url) {
  go(url);
  main.focus({ preventScroll: true });
}

/** @param {string} url of this page, showing something else */
function go(url) {
  const { href } = new URL(url, location.href);
  if (href !== location.href) history.pushState(null, '', href);
  show();
}

topSelect.addEventListener('change', () => {
  const { board, me } = wanted();
  history.replaceState(null, '', address(board, topSelect.value, me));
  show();
});

// Enter changes it, as leaving the box does.
meInput.addEventListener('change', () => {
  meInput.value = meInput.value.trim();
  if (sayProblem(meInput.value)) return;
  const { board, top } = wanted();
  history.replaceState(null, '', address(board, top, meInput.value));
  show();
});

show();
load();

async function load() {
  if (loading) return;
  loading = true;
  clearTimeout(retryTimer);
  try {
    const response = await fetch(BOARDS_URL, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(FETCH_MS),
    });
    if (!response.ok) throw new RefusedError();
    boards = (await response.json()).boards;
    attempt = 0;
    note.textContent = boards.length === 0 ? 'This server has no boards yet.' : '';
  } catch (error) {
    const what = error instanceof RefusedError ? 'The server can’t list its boards now.' : 'The server can’t be reached.';
    note.textContent = `${what} Trying again…`;
    // At least a second: a refused connection fails at once.
    retryTimer = setTimeout(load, 1_000 + backoff(Math.min(++attempt, LONGEST_ATTEMPT)));
  } finally {
    loading = false;
  }
  show();
}

/** @returns {{ board: string, top: string, me: string }} what the URL asks for */
function wanted() {
  const query = new URLSearchParams(location.search);
  const top = query.get('top') ?? '';
  const offered = [...topSelect.options].some((option) => option.value === top);
  return {
    board: query.get('board') || firstBoard(),
    top: offered ? top : DEFAULT_TOP,
    me: query.get('me') ?? '',
  };
}

/** What is shown where nothing was asked for. */
function firstBoard() {
  const names = boards.map(({ board }) => board);
  if (names.includes(DEFAULT_BOARD)) return DEFAULT_BOARD;
  return names.find((name) => placeholders(name).length === 0) ?? names[0] ?? '';
}

/**
 * @param {string} board
 * @param {string} top
 * @param {string} me
 * @returns {string}
 */
function address(board, top, me) {
  const query = new URLSearchParams({ board });
  if (top !== DEFAULT_TOP) query.set('top', top);
  if (me) query.set('me', me);
  return `?${query}`;
}

function show() {
  const { board, top, me } = wanted();
  showList(board, top, me);

  shown.hidden = board === '';
  document.title = board ? `${board} · Rankcast` : 'Rankcast';
  if (!board) return;
  name.textContent = board;
  name.title = board;
  rules.textContent = describe(definitionOf(boards, board));
  const isFamily = placeholders(board).length > 0;
  choices.hidden = leaderboard.hidden = isFamily;
  family.show(isFamily ? board : '');
  topSelect.value = top;
  // What is being typed is left alone.
  if (me !== followed) {
    followed = me;
    meInput.value = me;
    sayProblem(me);
  }
  setAttribute(leaderboard, 'top', top);
  setAttribute(leaderboard, 'me', problemOf(me) ? '' : me);
  setAttribute(leaderboard, 'board', isFamily ? '' : board);
}

/**
 * @param {string} member
 * @returns {boolean} whether there is one
 */
function sayProblem(member) {
  const problem = problemOf(member);
  meProblem.textContent = problem;
  setAttribute(meInput, 'aria-invalid', String(problem !== ''));
  return problem !== '';
}

/**
 * @param {string} current
 * @param {string} top
 * @param {string} me
 */
function showList(current, top, me) {
  const before = new Map([...list.children].map((item) => [item.textContent, item]));
  const items = boards.map(({ board }) => before.get(board) ?? newItem(board));
  nav.hidden = boards.length === 0;
  // Replacing the list would take the focus from the link that was just used.
  if (items.length !== list.children.length || items.some((item, i) => item !== list.children[i])) {
    list.replaceChildren(...items);
  }
  const definition = definitionOf(boards, current);
  boards.forEach(({ board }, i) => {
    const link = items[i].querySelector('a');
    if (!link) return;
    link.href = address(board, top, me);
    const before = link.getAttribute('aria-current');
    setAttribute(link, 'aria-current', board === current ? 'page' : definition?.board === board ? 'true' : null);
    if (!before && link.hasAttribute('aria-current')) link.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
}

/** @param {string} board */
function newItem(board) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.textContent = board;
  link.title = board;
  item.append(link);
  return item;
}

/** @param {Board | undefined} board */
function describe(board) {
  if (!board) return '';
  return [MODE_TEXT.get(board.mode), ORDER_TEXT.get(board.order), TIES_TEXT.get(board.ties), describePeriod(board), describeWindow(board)]
    .filter((text) => text)
    .join(', ');
}

/** @param {Board} board */
function describePeriod({ period, timezone }) {
  if (!period) return '';
  return (PERIOD_TEXT.get(period) ?? `every ${period}`) + (timezone && timezone !== 'UTC' ? ` in ${timezone}` : '');
}

/** @param {Board} board */
function describeWindow({ window }) {
  const [, count, unit] = window?.match(/^(\d+)([smhd])$/) ?? [];
  if (!count) return '';
  const text = WINDOW_TEXT.get(unit);
  return count === '1' ? `of the last ${text}` : `of the last ${count} ${text}s`;
}

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
function byId(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`no ${type.name} with id ${id}`);
  return element;
}
