// @ts-check

/**
 * The dashboard: the server's boards as navigation, and one of them live. What
 * is shown is in the URL (`?board=stars&top=25&me=u4`), so it can be kept and
 * shared.
 */

import { setAttribute } from './dom.js';
import './live-leaderboard.js';
import { problemOf } from './member.js';
import { backoff } from './socket.js';

/**
 * @typedef {{ board: string, mode: string, order: string, ties: string }} Board
 */

const BOARDS_URL = new URL('../v1/boards', import.meta.url);

/** A server that takes longer than this to list its boards is as good as away. */
const FETCH_MS = 10_000;
/** Waits stop doubling here, at up to 8 s: somebody is looking at an empty page. */
const LONGEST_ATTEMPT = 5;

const DEFAULT_TOP = '10';

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

/** The server answered, but not with its boards. */
class RefusedError extends Error {}

const list = byId('boards', HTMLUListElement);
const nav = byId('nav', HTMLElement);
const note = byId('note', HTMLParagraphElement);
const shown = byId('shown', HTMLDivElement);
const name = byId('name', HTMLHeadingElement);
const rules = byId('rules', HTMLParagraphElement);
const meInput = byId('me', HTMLInputElement);
const meProblem = byId('me-problem', HTMLParagraphElement);
const topSelect = byId('top', HTMLSelectElement);
const leaderboard = byId('leaderboard', HTMLElement);

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

list.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  // Anything but a plain click asks the browser for a tab, a window or a file.
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.href !== location.href) history.pushState(null, '', link.href);
  show();
});

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
    board: query.get('board') || boards[0]?.board || '',
    top: offered ? top : DEFAULT_TOP,
    me: query.get('me') ?? '',
  };
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
  rules.textContent = describe(boards.find((known) => known.board === board));
  topSelect.value = top;
  // What is being typed is left alone.
  if (me !== followed) {
    followed = me;
    meInput.value = me;
    sayProblem(me);
  }
  setAttribute(leaderboard, 'top', top);
  setAttribute(leaderboard, 'me', problemOf(me) ? '' : me);
  setAttribute(leaderboard, 'board', board);
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
  boards.forEach(({ board }, i) => {
    const link = items[i].querySelector('a');
    if (!link) return;
    link.href = address(board, top, me);
    if (board !== current) {
      link.removeAttribute('aria-current');
    } else if (!link.hasAttribute('aria-current')) {
      link.setAttribute('aria-current', 'page');
      link.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
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
  return [MODE_TEXT.get(board.mode), ORDER_TEXT.get(board.order), TIES_TEXT.get(board.ties)]
    .filter((text) => text !== undefined)
    .join(', ');
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
