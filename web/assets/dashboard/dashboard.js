// @ts-check

/**
 * The dashboard: all boards, each with its leader (`/`); and one of them, live, or one family as a
 * list of its boards (`/boards/{b}?top=25&me=u4`). What is shown is in the URL, so it can be kept and shared.
 */

import { setAttribute, setText } from '../../kit/rows.js';
import { scoreFormat } from '../../kit/format.js';
import '../../kit/rankcast.js';
import { BoardPage } from './board-details.js';
import { Family } from './family.js';
import { problemOf, sayProblem } from '../shared/member-id.js';
import { definitionOf, placeholders } from '../shared/board-name.js';
import { OverviewPage } from './overview.js';
import { byId, followLinks, fromPath, inPath, make, pageURL, pointToOtherLanguage, Poll, read, RefusedError, ROOT } from '../shared/page.js';
import { describe } from './definition-summary.js';
import { text } from '../shared/texts.js';

/** @typedef {import('./definition-summary.js').Definition} Definition */
/** @typedef {import('../../kit/rankcast.js').Update} Update */

const DEFAULT_TOP = '10';
/** Neighbours shown of a member that is not among the first. */
const AROUND = '2';
const COPIED_MS = 2_000;
/** What is seen beside a link that the list is scrolled to, px: what comes next. */
const BESIDE = 16;
/** How a board is shown may change while it is looked at. */
const DEFINITIONS_MS = 15_000;

const main = byId('main', HTMLElement);
const nav = byId('nav', HTMLElement);
const list = byId('boards', HTMLUListElement);
const note = byId('note', HTMLParagraphElement);
const front = byId('front', HTMLElement);
const shown = byId('board', HTMLElement);
const name = byId('name', HTMLHeadingElement);
const rules = byId('rules', HTMLParagraphElement);
const choices = byId('choices', HTMLFormElement);
const meInput = byId('me', HTMLInputElement);
const meProblem = byId('me-problem', HTMLParagraphElement);
const topSelect = byId('top', HTMLSelectElement);
const live = byId('live', HTMLElement);
const leaderboard = byId('leaderboard', HTMLElement);
const share = byId('share', HTMLButtonElement);
const shareDone = byId('share-done', HTMLElement);
const overlayLink = byId('overlay-link', HTMLAnchorElement);
const home = byId('home', HTMLAnchorElement);
const otherLanguage = byId('other-language', HTMLAnchorElement);

const family = new Family(
  {
    element: byId('family', HTMLElement),
    form: byId('instance', HTMLFormElement),
    parts: byId('parts', HTMLDivElement),
    problem: byId('parts-problem', HTMLParagraphElement),
    note: byId('instances-note', HTMLParagraphElement),
    list: byId('instances', HTMLUListElement),
  },
  (board) => addressNow(board),
  (board) => go(addressNow(board)),
);
const overview = new OverviewPage(byId('cards', HTMLElement), byId('front-note', HTMLElement), (board) => addressNow(board), (board) => definitionOf(definitions, board), () => definitionsPoll.start());
const boardPage = new BoardPage(byId('periods', HTMLElement), byId('courses', HTMLElement), byId('lag', HTMLElement), (board) => addressNow(board));

/** @type {Definition[]} */
let definitions = [];
/** Before that it is not known how scores are to be shown. */
let asked = false;
/** Whom the URL follows, as put into the box. */
let followed = '';
/** @type {ReturnType<typeof setTimeout> | undefined} */
let shareTimer;

const definitionsPoll = new Poll(DEFINITIONS_MS, async (signal) => {
  try {
    ({ boards: definitions } = await read('v1/boards', signal));
    setText(note, '');
  } catch (error) {
    // Who knows them already is told by the boards themselves.
    if (!signal.aborted && definitions.length === 0) setText(note, text(error instanceof RefusedError ? 'boards_refused' : 'server_away'));
    throw error;
  } finally {
    asked ||= !signal.aborted;
    show();
  }
});

home.href = pageURL('').href;
addEventListener('popstate', show);
followLinks((path) => path === ROOT.pathname || path.startsWith(`${ROOT.pathname}boards/`), go);

topSelect.addEventListener('change', () => {
  const { board, me } = wanted();
  history.replaceState(null, '', address(board, topSelect.value, me));
  show();
});

// Enter changes it, as leaving the box does.
meInput.addEventListener('change', follow);
choices.addEventListener('submit', (event) => {
  event.preventDefault();
  follow();
});

leaderboard.addEventListener('update', (event) => {
  const { board } = wanted();
  const { detail } = /** @type {CustomEvent<Update>} */ (event);
  if (!leaderboard.hidden) boardPage.hear(detail, scoreFormat(definitionOf(definitions, board)?.display ?? {}));
});

share.addEventListener('click', async () => {
  clearTimeout(shareTimer);
  try {
    await navigator.clipboard.writeText(location.href);
    setText(shareDone, text('link_copied'));
    shareTimer = setTimeout(() => setText(shareDone, ''), COPIED_MS);
  } catch {
    // By http from another machine, or not allowed: there it is, to be copied by hand.
    setText(shareDone, location.href);
    getSelection()?.selectAllChildren(shareDone);
  }
});

show();
definitionsPoll.start();

function follow() {
  const { board, top, me } = wanted();
  meInput.value = meInput.value.trim();
  if (sayProblem(meInput.value, meInput, meProblem) || meInput.value === me) return;
  history.replaceState(null, '', address(board, top, meInput.value));
  show();
}

/** @param {string} href of this page, showing something else; the focus goes along */
function go(href) {
  if (href !== location.href) history.pushState(null, '', href);
  show();
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
}

/** @returns {{ board: string, top: string, me: string }} what the URL asks for; board '': the front page */
function wanted() {
  const query = new URLSearchParams(location.search);
  const top = query.get('top') ?? '';
  const offered = [...topSelect.options].some((option) => option.value === top);
  const [, part = ''] = location.pathname.slice(ROOT.pathname.length).match(/^boards\/([^/]+)$/) ?? [];
  return { board: fromPath(part), top: offered ? top : DEFAULT_TOP, me: query.get('me') ?? '' };
}

/**
 * @param {string} board
 * @param {string} top
 * @param {string} me
 */
function address(board, top, me) {
  return pageURL(board && `boards/${inPath(board)}`, { top: top === DEFAULT_TOP ? '' : top, me }).href;
}

/** @param {string} board */
function addressNow(board) {
  const { top, me } = wanted();
  return address(board, top, me);
}

function show() {
  const { board, top, me } = wanted();
  const definition = definitionOf(definitions, board);
  const isFamily = placeholders(board).length > 0;
  const isBoard = board !== '' && !isFamily;
  document.title = board ? `${board} · ${text('title')}` : text('title');
  front.hidden = board !== '';
  shown.hidden = board === '';
  overview.show(board === '');
  showList(board);
  family.show(isFamily ? board : '');
  choices.hidden = live.hidden = share.hidden = overlayLink.hidden = !isBoard;
  setText(name, board);
  name.title = board;
  setText(rules, definition ? describe(definition) : '');
  topSelect.value = top;
  // What is being typed is left alone.
  if (me !== followed) {
    followed = me;
    meInput.value = me;
    sayProblem(me, meInput, meProblem);
  }
  pointToOtherLanguage(otherLanguage);
  overlayLink.href = pageURL(`overlay/${inPath(board)}`, { me, top: top === DEFAULT_TOP ? '' : top }).href;
  const { format, unit, decimals } = definition?.display ?? {};
  setAttribute(leaderboard, 'format', format);
  setAttribute(leaderboard, 'unit', unit);
  setAttribute(leaderboard, 'decimals', decimals ? String(decimals) : undefined);
  setAttribute(leaderboard, 'top', top);
  setAttribute(leaderboard, 'around', AROUND);
  setAttribute(leaderboard, 'me', problemOf(me) ? '' : me);
  setAttribute(leaderboard, 'board', isBoard && asked ? board : '');
  boardPage.show(isBoard ? board : '', me);
  if (shareDone.textContent !== location.href) setText(shareDone, '');
}

/** @param {string} current */
function showList(current) {
  const before = new Map([...list.children].map((item) => [item.textContent, item]));
  const items = definitions.map(({ board }) => before.get(board) ?? newItem(board));
  nav.hidden = definitions.length === 0 || current === '';
  // Replacing the list would take the focus from the link that was just used.
  if (items.length !== list.children.length || items.some((item, i) => item !== list.children[i])) {
    list.replaceChildren(...items);
  }
  const definition = definitionOf(definitions, current);
  definitions.forEach(({ board }, i) => {
    const link = items[i].querySelector('a');
    if (!link) return;
    link.href = addressNow(board);
    const before = link.getAttribute('aria-current');
    setAttribute(link, 'aria-current', board === current ? 'page' : definition?.board === board && 'true');
    if (!before && link.hasAttribute('aria-current')) reveal(link);
  });
}

/** @param {HTMLElement} link in the list, which alone is scrolled: scrollIntoView would have the page scroll too */
function reveal(link) {
  const { left, right, top, bottom } = link.getBoundingClientRect();
  const room = list.getBoundingClientRect();
  list.scrollBy(
    Math.min(0, left - room.left - BESIDE) + Math.max(0, right - room.right + BESIDE),
    Math.min(0, top - room.top - BESIDE) + Math.max(0, bottom - room.bottom + BESIDE),
  );
}

/** @param {string} board */
function newItem(board) {
  const link = make('a', '', board);
  link.title = board;
  return make('li', '', link);
}
