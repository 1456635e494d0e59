// @ts-check

/**
 * The script of the page for large screens: `/tv/stars`, or `/tv?boards=stars,points,laps`, which shows one board after the other.
 * It stays open for days: all that it does by time, it does in one tick a second (tick), and all that it keeps is bounded.
 *
 * - `boards`: names, with commas between them
 * - `seconds`: how long a board is shown before the next one, or before its story
 * - `me`: a member that the boards of its kind follow; its kind is that of the first board
 * - `theme`: `dark`, or `light`
 * - `lang`: `en` or `zh`
 */

import { fill } from '../../kit/format.js';
import '../../kit/rankcast.js';
import { placeholders } from '../shared/board-name.js';
import { connectWithToken } from '../shared/connection.js';
import { byId, setAttribute, setText } from '../shared/dom.js';
import { decodeSegment, encodeSegment, pageURL, ROOT } from '../shared/links.js';
import { text } from '../shared/texts.js';
import { URLOptions } from '../shared/url-options.js';
import { Leader } from './leader.js';
import { News } from './news.js';
import { Replay } from './replay.js';
import { Screen } from './screen.js';
import { COUNTED_MS, WallBoard } from './wall-board.js';

const THEMES = ['dark', 'light'];
const LANGUAGES = ['en', 'zh'];
const PARAMETERS = ['boards', 'me', 'seconds', 'theme', 'lang'];
const MOST_BOARDS = 20;
/** How long a board is shown, s. */
const [LEAST_S, MOST_S, DEFAULT_S] = [5, 600, 30];
/** How long what is wrong with the address stands in the picture. */
const HINT_MS = 30_000;
const DAY_S = 86_400;

const options = new URLOptions();
const { faults } = options;
const me = options.textOf('me');
const sceneMs = options.numberOf('seconds', LEAST_S, MOST_S, DEFAULT_S) * 1_000;
document.documentElement.dataset.theme = options.oneOf('theme', THEMES);
options.oneOf('lang', LANGUAGES);
options.checkKeys(PARAMETERS);

const lists = byId('lists', HTMLElement);
const left = byId('left', HTMLElement);
const qr = byId('qr', HTMLImageElement);
const clock = byId('clock', HTMLTimeElement);
const connection = connectWithToken();
const leader = new Leader();
const replay = new Replay();
const news = new News(byId('ticker', HTMLElement));
const screen = new Screen(byId('wall', HTMLElement), byId('full-screen', HTMLButtonElement));
const times = new Intl.DateTimeFormat(document.documentElement.lang, { hour: '2-digit', minute: '2-digit' });

const boards = namesOf().map((name) => newBoard(name));
let current = boards[0];
/** Since when the board, or its result, is shown, and when the next scene is due, by performance.now(). */
let since = performance.now();
let until = since + sceneMs;
/** The next scene is being loaded. */
let isLoading = false;

const hint = byId('hint', HTMLElement);
setText(hint, faults.join('\n'));
qr.addEventListener('load', () => (byId('phone', HTMLElement).hidden = false));
qr.addEventListener('error', () => {
  byId('phone', HTMLElement).hidden = true;
  qr.removeAttribute('src'); // the next scene tries again
});
new ResizeObserver(() => current?.fit()).observe(lists);
lists.append(...boards.map(({ element }) => element));
if (current) {
  showBoard(current);
  tick();
}

/** @returns {string[]} the names of the boards that the address asks for */
function namesOf() {
  const segment = location.pathname.slice(ROOT.pathname.length).replace(/^tv\/?/, '');
  const asked = segment ? [decodeSegment(segment)] : options.textOf('boards').split(',').map((name) => name.trim());
  const names = [...new Set(asked)].filter((name) => name !== '');
  if (names.length === 0) faults.push(text('tv_boards_missing'));
  if (names.length > MOST_BOARDS) faults.push(text('tv_too_many', { n: MOST_BOARDS }));
  return names.slice(0, MOST_BOARDS).filter((name) => {
    const isFamily = placeholders(name).length > 0;
    if (isFamily) faults.push(text('tv_family', { board: name }));
    return !isFamily;
  });
}

/** @param {string} name */
function newBoard(name) {
  const board = new WallBoard(name, () => {
    board.follow(board.definition?.kind === boards[0].definition?.kind ? me : '');
    if (board === current) render();
  });
  board.element.addEventListener('moment', ({ detail }) => news.add(sentenceOf(board, detail.text)));
  board.element.addEventListener('finish', ({ detail: { ends, top: [first] } }) => {
    const won = text('kit_wins', { name: first.name || first.member, score: board.formats.exact(first.score, first) });
    // The clock may still be at the minute before the end.
    board.result = { first, sentence: sentenceOf(board, won, ends ? times.format(Date.parse(ends)) : undefined) };
    if (board === current) {
      since = performance.now();
      render();
    }
    news.add(board.result.sentence);
  });
  return board;
}

/**
 * @param {WallBoard} board
 * @param {string} text
 * @param {string} [time] the present one, unless another one is said
 * @returns {import('./news.js').Sentence}
 */
function sentenceOf({ title }, text, time = times.format(connection.now())) {
  return { time, board: boards.length > 1 ? title : '', text };
}

/** @param {WallBoard} board */
function showBoard(board) {
  const place = byId('board', HTMLElement);
  const stays = board === current && !place.hidden && !board.element.hidden;
  replay.stop();
  place.hidden = false;
  current = board;
  since = performance.now();
  until = since + sceneMs;
  if (!stays) for (const each of boards) each.show(each === board);
  setAttribute(qr, 'src', pageURL('qr.svg', { text: new URL(`boards/${encodeSegment(board.name)}`, ROOT).href }).href);
  render();
}

/** Shows the next scene: the story of the board, if it has one, or the next board. */
async function advance() {
  const board = current;
  /** @type {import('./replay.js').Story | null} */
  let story = null;
  isLoading = true;
  // The end of a period does not wait for the end of a story.
  const isFree = endingAt(connection.now() + Replay.LENGTH_MS).length === 0;
  try {
    if (isFree && replay.element.hidden && board.definition?.history && !board.isStopped) story = await Replay.load(board);
  } catch {
    // The server is away. The boards show the last rows meanwhile.
  }
  isLoading = false;
  if (board !== current || board.isEnding(connection.now())) return;
  if (story) {
    byId('board', HTMLElement).hidden = true;
    replay.play(board, story);
    until = performance.now() + Replay.LENGTH_MS;
    return;
  }
  const found = boards.filter((each) => each === board || !each.isStopped);
  showBoard(found[(found.indexOf(board) + 1) % found.length]);
}

/** Renders what the wall says of its board, all in one step. */
function render() {
  const { title, facts, element } = current;
  document.title = fill(`{title} · ${text('tv_title')} · ${text('title')}`, { title });
  setText(byId('name', HTMLElement), title);
  setText(byId('facts', HTMLElement), facts);
  news.hold(current.result?.sentence ?? null);
  for (const attribute of ['state', 'final', 'frozen', 'finish'])
    setAttribute(document.documentElement, `data-${attribute}`, element.getAttribute(`data-${attribute}`) ?? undefined);
  setAttribute(document.documentElement, 'data-empty', !current.snapshot?.top.length && '');
  leader.render(current);
  const ms = current.timeLeft(connection.now());
  left.hidden = Number.isNaN(ms);
  setText(/** @type {HTMLElement} */ (left.lastElementChild), left.hidden ? '' : leftText(ms));
  setAttribute(document.documentElement, 'data-counted', ms <= COUNTED_MS && '');
}

/**
 * @param {number} now the server's clock
 * @returns {WallBoard[]} the boards whose end a room looks at
 */
function endingAt(now) {
  return boards.filter((board) => board.isEnding(now));
}

/**
 * @param {readonly WallBoard[]} ending some
 * @param {number} now the server's clock
 * @returns {WallBoard} the one that is due: those that end together share the time of a result
 */
function dueOf(ending, now) {
  const share = Math.max(LEAST_S * 1_000, current.resultMs / ending.length);
  const stays = current.timeLeft(now) <= COUNTED_MS || performance.now() - since < share;
  const i = ending.indexOf(current);
  return i >= 0 && stays ? current : ending[(i + 1) % ending.length];
}

/** Renders what goes on by itself, and goes on to the next scene. */
function tick() {
  const now = connection.now();
  setTimeout(tick, 1_000 - (now % 1_000)); // whatever happens below
  const ending = endingAt(now);
  const due = ending.length > 0 ? dueOf(ending, now) : null;
  if (due && (due !== current || !replay.element.hidden)) showBoard(due);
  else if (due) until = Math.max(until, performance.now() + LEAST_S * 1_000);
  else if (performance.now() >= until && !isLoading) advance();
  setText(clock, times.format(now));
  const [first] = current.snapshot?.top ?? [];
  const leads = first && text('kit_leads', { name: first.name || first.member, score: current.formats.exact(first.score, first) });
  news.tick(sentenceOf(current, leads ?? '', ''));
  screen.tick(due !== null);
  if (performance.now() >= HINT_MS) setText(hint, '');
  render();
}

/**
 * @param {number} ms
 * @returns {string} with seconds: 2 d 05:03:09
 */
function leftText(ms) {
  const seconds = Math.ceil(ms / 1_000);
  if (ms <= COUNTED_MS) return String(seconds);
  const days = Math.floor(seconds / DAY_S);
  const clockText = new Date((seconds % DAY_S) * 1_000).toISOString().slice(seconds < 3_600 ? 14 : 11, 19);
  return days > 0 ? `${text('kit_days', { n: days })} ${clockText}` : clockText;
}
