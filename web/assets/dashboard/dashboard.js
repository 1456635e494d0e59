// @ts-check

/**
 * The script of the dashboard page: the overview of all boards (`/`), and one board, live, or one
 * family (`/boards/{b}?top=25&me=s17`). The URL holds all that the page shows, so that a reader can
 * keep and share it.
 */

import { fill, textIn } from '../../kit/format.js';
import { LiveLeaderboard } from '../../kit/rankcast.js';
import { fetchJSON, HTTPError } from '../shared/api.js';
import { formatsOf } from '../shared/board-display.js';
import { findDefinition, placeholders, titleOf, withoutPlaceholders } from '../shared/board-name.js';
import { setToken } from '../shared/connection.js';
import { byId, createElement, setAttribute, setText } from '../shared/dom.js';
import { decodeSegment, encodeSegment, handleLinks, pageURL, ROOT, updateLanguageLink } from '../shared/links.js';
import { styleRows } from '../shared/list-rows.js';
import { memberProblem } from '../shared/member-id.js';
import { Poll } from '../shared/poll.js';
import { renderIcon } from '../shared/portrait.js';
import { refusalText } from '../shared/refusal.js';
import '../shared/settings.js';
import { storedMember, storeMember } from '../shared/stored-member.js';
import { text } from '../shared/texts.js';
import { BoardDetails } from './board-details.js';
import { summarize } from './definition-summary.js';
import { Family } from './family.js';
import { Find } from './find.js';
import { Following } from './following.js';
import { FullScreen } from './full-screen.js';
import { Jump } from './jump.js';
import momentLine from './moment-line.css' with { type: 'css' };
import { MoreRows } from './more-rows.js';
import { Overview } from './overview.js';
import { ResultLinks } from './result-links.js';
import { RowTrends } from './row-trends.js';
import { ScoreBars } from './score-bars.js';
import { ShareDialog } from './share.js';

/** @typedef {import('./definition-summary.js').Definition} Definition */
/** @typedef {import('../../kit/rankcast.js').Info} Info */
/** @typedef {import('../../kit/rankcast.js').Update} Update */

const DEFAULT_TOP = '10';
/** The limit of entries if the page does not name it, because it came without rows. */
const OFFERED_MOST = 200;
/** Neighbours shown on each side of a member below the list. */
const AROUND = '2';
/** Room kept beside a link that the list scrolls to, so that the next link shows, px. */
const SCROLL_MARGIN = 16;
/** A definition may change while a reader looks at its board. */
const DEFINITIONS_MS = 15_000;

const main = byId('main', HTMLElement);
const nav = byId('nav', HTMLElement);
const boardList = byId('boards', HTMLUListElement);
const note = byId('note', HTMLParagraphElement);
const overviewSection = byId('overview', HTMLElement);
const boardSection = byId('board', HTMLElement);
const name = byId('name', HTMLHeadingElement);
const rules = byId('rules', HTMLParagraphElement);
const choices = byId('choices', HTMLFormElement);
const meProblem = byId('me-problem', HTMLElement);
const tools = byId('tools', HTMLElement);
const topSelect = byId('top', HTMLSelectElement);
const live = byId('live', HTMLElement);
const leaderboard = byId('leaderboard', LiveLeaderboard);
const overlayLink = byId('overlay-link', HTMLAnchorElement);
const wallLink = byId('wall-link', HTMLAnchorElement);
const storyLink = byId('story-link', HTMLAnchorElement);
const homeLink = byId('home', HTMLAnchorElement);
const languageLink = byId('other-language', HTMLAnchorElement);

/** At first those in the page. @type {Definition[]} */
let definitions = JSON.parse(document.getElementById('first')?.textContent ?? '[]');

const family = new Family(
  {
    element: byId('family', HTMLElement),
    form: byId('instance', HTMLFormElement),
    parts: byId('parts', HTMLDivElement),
    problem: byId('parts-problem', HTMLParagraphElement),
    note: byId('instances-note', HTMLParagraphElement),
    list: byId('instances', HTMLUListElement),
    more: byId('more-boards', HTMLButtonElement),
  },
  readURL().board,
  (board) => currentURL(board),
  (board) => navigate(currentURL(board)),
);
const overview = new Overview(
  { list: byId('cards', HTMLElement), note: byId('overview-note', HTMLElement), filter: byId('filter', HTMLInputElement) },
  (board) => currentURL(board),
  (board) => findDefinition(definitions, board),
  () => definitionsPoll.start(),
);
const boardDetails = new BoardDetails((board) => currentURL(board), (board) => findDefinition(definitions, board));
const rowTrends = new RowTrends(leaderboard);
const scoreBars = new ScoreBars(leaderboard);
const following = new Following(() => follow(''));
const find = new Find(
  {
    element: byId('find', HTMLElement),
    input: byId('find-input', HTMLInputElement),
    panel: byId('find-panel', HTMLElement),
    list: byId('find-list', HTMLElement),
    note: byId('find-note', HTMLElement),
    status: byId('find-status', HTMLElement),
  },
  meProblem,
  follow,
);
const moreRows = new MoreRows(
  byId('more-rows', HTMLButtonElement),
  byId('end-of-rows', HTMLElement),
  Number(leaderboard.dataset.most) || OFFERED_MOST,
  render,
  (i) => {
    leaderboard.shadowRoot?.querySelectorAll('[part~=list] [part~=row]')[i]?.querySelector('button')?.focus({ preventScroll: true });
  },
);
const jump = new Jump(leaderboard, { floating: byId('jump', HTMLButtonElement), below: byId('jump-to', HTMLButtonElement) }, moreRows);

/** Whether the server has answered, or failed to answer, with the definitions. Until then the format of scores is not known. */
let requested = findDefinition(definitions, readURL().board) !== undefined;
/** Titles and descriptions of instances, which have names in place of placeholders. @type {Map<string, Info>} */
const instanceInfos = new Map();
/** The instances whose titles the page requests now. @type {Set<string>} */
const readingInfos = new Set();
/** The board and the number of entries as last rendered: the list begins anew with others. */
let listed = '';
/** The board or family to whose link the list of boards has scrolled. */
let scrolledTo = '';

const definitionsPoll = new Poll(DEFINITIONS_MS, async (signal) => {
  try {
    ({ boards: definitions } = await fetchJSON('v1/boards', signal));
    setText(note, '');
  } catch (error) {
    // Once the page has definitions, the boards show the problem themselves. A refusal stands where
    // the data would: in the overview, the board or the family.
    if (!signal.aborted && definitions.length === 0 && readURL().board)
      setText(note, refusalText(error) ? '' : text(error instanceof HTTPError ? 'boards_refused' : 'server_away'));
    throw error;
  } finally {
    requested ||= !signal.aborted;
    render();
  }
});

styleRows(leaderboard);
leaderboard.shadowRoot?.adoptedStyleSheets.push(momentLine);
setToken([leaderboard]);
homeLink.href = pageURL('').href;
addEventListener('popstate', render);
handleLinks((path) => path.startsWith(ROOT.pathname) && /^(boards\/[^/]+)?$/.test(path.slice(ROOT.pathname.length)), navigate);

topSelect.addEventListener('change', () => {
  const { board, me, goal } = readURL();
  history.replaceState(null, '', boardURL(board, topSelect.value, me, goal));
  render();
});

// The box follows by itself.
choices.addEventListener('submit', (event) => event.preventDefault());
leaderboard.addEventListener('pick', (event) => {
  const { member, entry } = /** @type {CustomEvent<import('../../kit/rankcast.js').Pick>} */ (event).detail;
  follow(member, entry?.name);
});

leaderboard.addEventListener('update', (event) => {
  const { detail } = /** @type {CustomEvent<Update>} */ (event);
  if (leaderboard.hidden) return;
  const definition = findDefinition(definitions, readURL().board);
  boardDetails.update(detail, formatsOf(definition));
  scoreBars.update(detail, definition);
  following.update(detail, formatsOf(definition));
  moreRows.update(detail);
  jump.update(detail);
});

new ShareDialog(readURL);
new ResultLinks(leaderboard, () => {
  const { board, me } = readURL();
  return { board, me, hasStory: Boolean(findDefinition(definitions, board)?.history) };
});
new FullScreen(boardSection, byId('full-screen', HTMLButtonElement), leaderboard);
const firstBoard = readURL().board;
const firstTitle = name.textContent || firstBoard;
render();
definitionsPoll.start();

/**
 * @param {string} member '': none
 * @param {string} [name]
 */
function follow(member, name) {
  const { board, top, goal } = readURL();
  const kind = findDefinition(definitions, board)?.kind;
  if (kind) storeMember(`follow ${kind}`, member);
  jump.reset();
  history.replaceState(null, '', boardURL(board, top, member, goal));
  following.show(member, name);
  render();
}

/**
 * Shows another view of this page, and moves the focus to it.
 *
 * @param {string} href
 */
function navigate(href) {
  if (href !== location.href) history.pushState(null, '', href);
  render();
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
}

/** @returns {{ board: string, top: string, me: string, goal: string }} what the URL asks for; board '': the overview */
function readURL() {
  const query = new URLSearchParams(location.search);
  const top = query.get('top') ?? '';
  const offered = [...topSelect.options].some((option) => option.value === top);
  const [, segment = ''] = location.pathname.slice(ROOT.pathname.length).match(/^boards\/([^/]+)$/) ?? [];
  return { board: decodeSegment(segment), top: offered ? top : DEFAULT_TOP, me: query.get('me') ?? '', goal: query.get('goal') ?? '' };
}

/**
 * @param {string} board '': the overview
 * @param {string} top
 * @param {string} me
 * @param {string} [goal]
 */
function boardURL(board, top, me, goal = '') {
  return pageURL(board && `boards/${encodeSegment(board)}`, { top: top === DEFAULT_TOP ? '' : top, me, goal }).href;
}

/**
 * @param {string} board '': the overview
 * @returns {string} its URL with the reader's present choices
 */
function currentURL(board) {
  const { board: present, top, me } = readURL();
  // A member is one of the boards of its kind.
  const [kind, presentKind] = [board, present].map((name) => findDefinition(definitions, name)?.kind);
  return boardURL(board, top, kind && presentKind && kind !== presentKind ? '' : me);
}

/** Puts the member that the reader followed last on this device into a URL without one. */
function restoreMember() {
  const { board, top, me, goal } = readURL();
  const kind = placeholders(board).length === 0 && findDefinition(definitions, board)?.kind;
  const member = kind && !me && storedMember(`follow ${kind}`);
  if (member) history.replaceState(null, '', boardURL(board, top, member, goal));
}

/** Renders what the URL asks for. */
function render() {
  restoreMember();
  const { board, top, me, goal } = readURL();
  const definition = findDefinition(definitions, board);
  const isFamily = placeholders(board).length > 0;
  const isBoard = board !== '' && !isFamily;
  const isUnknown = isBoard && requested && !definition;
  const isInstance = isBoard && definition !== undefined && placeholders(definition.board).length > 0;
  const info = isInstance ? instanceInfos.get(board) : definition;
  // The title in the page stays until that of the instance is known.
  const title = isFamily
    ? titleOf(board, info?.title)
    : info
      ? textIn(info.title) || board
      : isInstance && board === firstBoard
        ? firstTitle
        : board;
  document.title = board ? fill(`{title} · ${text('title')}`, { title }) : text('title');
  overviewSection.hidden = board !== '';
  boardSection.hidden = board === '';
  overview.show(board === '');
  renderBoardList(board);
  family.show(isFamily ? board : '');
  live.hidden = !isBoard;
  choices.hidden = tools.hidden = !isBoard || isUnknown;
  setText(name, title);
  name.title = board;
  if (isInstance && !info && (definition.title || definition.description)) readInstanceInfo(board);
  if (definition && !(isInstance && !info && board === firstBoard)) {
    const description = withoutPlaceholders(board, textIn(info?.description));
    setText(rules, description || summarize(definition));
    rules.toggleAttribute('data-summary', !description);
  } else if (!definition && requested) setText(rules, '');
  topSelect.value = top;
  if (listed !== `${board} ${top}`) {
    listed = `${board} ${top}`;
    moreRows.reset();
    jump.reset();
  }
  const problem = memberProblem(me);
  following.show(problem ? '' : me);
  setText(meProblem, problem && text(problem));
  find.show(isBoard ? board : '', formatsOf(definition));
  updateLanguageLink(languageLink);
  overlayLink.href = pageURL(`boards/${encodeSegment(board)}/overlay`, { me }).href;
  wallLink.href = pageURL(`tv/${encodeSegment(board)}`, { me }).href;
  // Until the definitions have come, the link is as the server rendered it.
  if (definition || requested) storyLink.hidden = !isBoard || !definition?.history;
  storyLink.href = pageURL(`boards/${encodeSegment(board)}/story`, { me }).href;
  setAttribute(leaderboard, 'top', String(moreRows.top(Number(top))));
  setAttribute(leaderboard, 'around', AROUND);
  // Until the definitions have come, the server knows whether the board can have goals.
  const hasGoals = definition ? definition.order !== 'asc' && !definition.columns : leaderboard.hasAttribute('goal');
  setAttribute(leaderboard, 'goal', (hasGoals && goal) || undefined);
  setAttribute(leaderboard, 'me', problem ? '' : me);
  setAttribute(leaderboard, 'board', isBoard && requested ? board : '');
  boardDetails.show(isBoard ? board : '', me);
  // Columns take the room of the sparklines.
  rowTrends.show(isBoard ? board : '', (!definition?.columns && definition?.history) || '');
}

/** @param {string} board an instance of a family */
async function readInstanceInfo(board) {
  if (readingInfos.has(board)) return;
  readingInfos.add(board);
  try {
    const { info } = await fetchJSON(`v1/boards/${encodeSegment(board)}`);
    instanceInfos.set(board, info);
    render();
  } catch {
    // The page shows the name of the board. The next render tries again.
  } finally {
    readingInfos.delete(board);
  }
}

/** @param {string} current board or family; '': none */
function renderBoardList(current) {
  const before = new Map([...boardList.children].map((item) => [item instanceof HTMLElement ? item.dataset.board : '', item]));
  const items = definitions.map((definition) => before.get(definition.board) ?? newItem(definition.board));
  nav.hidden = definitions.length === 0 || current === '';
  // Replacing the items would take the focus from the link that the reader has just used.
  if (items.length !== boardList.children.length || items.some((item, i) => item !== boardList.children[i])) {
    boardList.replaceChildren(...items);
  }
  const definition = findDefinition(definitions, current);
  definitions.forEach(({ board, title, icon }, i) => {
    const link = items[i].querySelector('a');
    if (!link) return;
    setText(/** @type {HTMLElement} */ (link.lastElementChild), titleOf(board, title));
    renderIcon(link, board, titleOf(board, title), icon);
    link.href = currentURL(board);
    setAttribute(link, 'aria-current', board === current ? 'page' : definition?.board === board && 'true');
    if (link.hasAttribute('aria-current') && board !== scrolledTo) {
      scrolledTo = board;
      scrollListTo(link);
    }
  });
}

/**
 * Scrolls the list of boards to a link. (scrollIntoView would scroll the page too.)
 *
 * @param {HTMLElement} link
 */
function scrollListTo(link) {
  const { left, right, top, bottom } = link.getBoundingClientRect();
  const room = boardList.getBoundingClientRect();
  boardList.scrollBy(
    Math.min(0, left - room.left - SCROLL_MARGIN) + Math.max(0, right - room.right + SCROLL_MARGIN),
    Math.min(0, top - room.top - SCROLL_MARGIN) + Math.max(0, bottom - room.bottom + SCROLL_MARGIN),
  );
}

/** @param {string} board */
function newItem(board) {
  const link = createElement('a', '', document.createElement('span'));
  link.title = board;
  const item = createElement('li', '', link);
  item.dataset.board = board;
  return item;
}
