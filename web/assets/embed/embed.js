// @ts-check

/**
 * The script of the page that another site shows in a frame: `/embed/stars?top=10&me=s17&theme=dark`. It has the live
 * list of one board, and a link to the board's own page. --frame-origins names the sites.
 *
 * - `theme`: `auto`, which follows the reader's system, `light` or `dark`
 * - `top`, `me`, `goal`: as of `<live-leaderboard>`
 * - `lang`: `en` or `zh`
 */

import { fill } from '../../kit/format.js';
import { LiveLeaderboard } from '../../kit/rankcast.js';
import { startBoard } from '../shared/board-display.js';
import { setToken } from '../shared/connection.js';
import { byId, setAttribute, setText } from '../shared/dom.js';
import { decodeSegment, encodeSegment, pageURL, ROOT } from '../shared/links.js';
import { styleRows } from '../shared/list-rows.js';
import { text } from '../shared/texts.js';
import { URLOptions } from '../shared/url-options.js';

const THEMES = ['auto', 'light', 'dark'];
const LANGUAGES = ['en', 'zh'];
const PARAMETERS = ['theme', 'top', 'me', 'goal', 'lang'];
const DEFAULT_TOP = 10;
const MAX_TOP = 100;

const options = new URLOptions();
const name = decodeSegment(location.pathname.slice(ROOT.pathname.length).replace(/^embed\//, ''));
/** With its first rows, if the server knows them. */
const board = byId('live', LiveLeaderboard);
const isFirst = board.getAttribute('board') !== '';
const link = byId('name', HTMLAnchorElement);

if (!isFirst) {
  document.title = fill(`{name} · ${text('embed_title')} · ${text('title')}`, { name });
  setText(link, name);
}
link.href = pageURL(`boards/${encodeSegment(name)}`, { me: options.textOf('me') }).href;
const shownTop = options.numberOf('top', 1, MAX_TOP, DEFAULT_TOP);
document.documentElement.dataset.theme = options.oneOf('theme', THEMES);
options.oneOf('lang', LANGUAGES);
options.checkKeys(PARAMETERS);

styleRows(board);
setToken([board]);
board.setAttribute('top', String(shownTop));
setAttribute(board, 'me', options.textOf('me') || undefined);
const goal = options.goalOf('goal');
if (!isFirst) setAttribute(board, 'goal', goal || undefined); // the server knows which boards have none
setText(byId('hint', HTMLElement), options.faults.join('\n'));
startBoard(board, name);
