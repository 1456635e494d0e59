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
import { Replay } from './replay.js';
import { Screen } from './screen.js';
import { Ticker } from './ticker.js';
import { WallBoard } from './wall-board.js';

const THEMES = ['dark', 'light'];
const LANGUAGES = ['en', 'zh'];
const PARAMETERS = ['boards', 'me', 'seconds', 'theme', 'lang'];
const MOST_BOARDS = 20;
/** How long a board is shown, s. */
const [LEAST_S, MOST_S, DEFAULT_S] = [5, 600, 20];
/** The last seconds are counted down large. */
const COUNTED_MS = 10_000;
const DAY_S = 86_400;

const options = new URLOptions();
const { faults } = options;
const me = options.textOf('me');
const turn = options.numberOf('seconds', LEAST_S, MOST_S, DEFAULT_S) * 1_000;
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
const ticker = new Ticker(byId('ticker', HTMLElement));
const screen = new Screen(byId('wall', HTMLElement), byId('full-screen', HTMLButtonElement));
const times = new Intl.DateTimeFormat(document.documentElement.lang, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

const boards = namesOf().map((name) => newBoard(name));
let current = boards[0];
/** When the next scene is due, by performance.now(). */
let until = performance.now() + turn;
/** The next scene is being loaded. */
let isLoading = false;

setText(byId('hint', HTMLElement), faults.join('\n'));
qr.addEventListener('load', () => (byId('phone', HTMLElement).hidden = false));
qr.addEventListener('error', () => {
  byId('phone', HTMLElement).hidden = true;
  qr.removeAttribute('src'); // the next turn tries again
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
  const say = (/** @type {string} */ sentence) =>
    ticker.add(boards.length > 1 ? text('tv_of', { board: board.title, text: sentence }) : sentence, times.format(connection.now()));
  board.element.addEventListener('moment', ({ detail }) => say(detail.text));
  board.element.addEventListener('finish', ({ detail: { top: [first] } }) => {
    say(text('kit_wins', { name: first.name || first.member, score: board.formats.exact(first.score, first) }));
  });
  return board;
}

/** @param {WallBoard} board */
function showBoard(board) {
  replay.stop();
  byId('board', HTMLElement).hidden = false;
  current = board;
  until = performance.now() + turn;
  for (const each of boards) each.show(each === board);
  setAttribute(qr, 'src', pageURL('qr.svg', { text: new URL(`boards/${encodeSegment(board.name)}`, ROOT).href }).href);
  render();
}

/** Shows the next scene: the story of the board, if it has one, or the next board. */
async function advance() {
  const board = current;
  /** @type {import('./replay.js').Story | null} */
  let story = null;
  isLoading = true;
  try {
    if (replay.element.hidden && board.definition?.history && !board.isStopped) story = await Replay.load(board);
  } catch {
    // The server is away. The boards show the last rows meanwhile.
  }
  isLoading = false;
  // The end of a period does not wait.
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

function render() {
  const { title, facts, element } = current;
  document.title = fill(`{title} · ${text('tv_title')} · ${text('title')}`, { title });
  setText(byId('name', HTMLElement), title);
  setText(byId('facts', HTMLElement), facts);
  for (const attribute of ['state', 'final', 'frozen', 'finish'])
    setAttribute(document.documentElement, `data-${attribute}`, element.getAttribute(`data-${attribute}`) ?? undefined);
  setAttribute(document.documentElement, 'data-empty', !current.snapshot?.top.length && '');
  leader.render(current);
}

/** Renders what goes on by itself, and goes on to the next scene. */
function tick() {
  const now = connection.now();
  setTimeout(tick, 1_000 - (now % 1_000)); // whatever happens below
  const ending = [current, ...boards].find((board) => board.isEnding(now));
  if (ending && (ending !== current || !replay.element.hidden)) showBoard(ending);
  else if (ending) until = Math.max(until, performance.now() + LEAST_S * 1_000);
  else if (performance.now() >= until && !isLoading) advance();
  setText(clock, times.format(now));
  const ms = current.timeLeft(now);
  left.hidden = Number.isNaN(ms);
  setText(/** @type {HTMLElement} */ (left.lastElementChild), left.hidden ? '' : leftText(ms));
  setAttribute(document.documentElement, 'data-counted', ms <= COUNTED_MS && '');
  const [first] = current.snapshot?.top ?? [];
  ticker.tick(first ? text('kit_leads', { name: first.name || first.member, score: current.formats.exact(first.score, first) }) : '');
  screen.tick(ending !== undefined);
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
