// @ts-check

/**
 * The script of the overlay page, which shows a board over a video or a game:
 * `/overlay/stars?top=5&me=s17&mode=compact&theme=clear&pace=500`. The list itself is a
 * `<live-leaderboard>` of the kit. options.js has all options.
 *
 * - `mode`: `list`; `compact`, one line of which as many entries show at a time as fit (ticker.js);
 *   `me`, a card of the followed member (rank-change.js); `goal`, the goal of the followed member alone
 * - `theme`: `dark`, `light`, or `clear`, which is text without panels
 * - `top`, `me`, `pace`, `goal`, `unit`: as of `<live-leaderboard>`
 * - `title`: in place of the board's title; `ends`: the time that is left stands beside it
 * - `gifts`, `event`: alerts of large gifts (alert.js)
 *
 * A list says how far a row is behind (gaps.js), who comes close to the next place, and who leads now (battle.js).
 *
 * A parameter that is unknown or has another value is named below the board, which uses the default.
 * A streamer does not see the console or the status of a browser source, so the text is in the picture: over a board for some
 * seconds, for viewers see it, too, and in the builder all the time.
 */

import { fill, numbers, textIn } from '../../kit/format.js';
import '../../kit/rankcast.js';
import { formatsOf, startBoard } from '../shared/board-display.js';
import { setToken } from '../shared/connection.js';
import { byId, createElement, setAttribute, setProperty, setText } from '../shared/dom.js';
import { decodeSegment, ROOT } from '../shared/links.js';
import { readProfile } from '../shared/member-name.js';
import { Sound } from '../shared/sound.js';
import { text } from '../shared/texts.js';
import { URLOptions } from '../shared/url-options.js';
import { Alerts, watchGifts } from './alert.js';
import { showBattles } from './battle.js';
import { celebrateLeaders } from './celebration.js';
import clearSheet from './clear.css' with { type: 'css' };
import { showGaps } from './gaps.js';
import { NUMBERS, readOptions } from './options.js';
import { RankChange } from './rank-change.js';
import { Ticker } from './ticker.js';

/** The card shows no other member. It needs the first three entries to give a medal. */
const CARD_TOP = 3;
/** The least height of a readable row, px: that of 10 px text in overlay.css. */
const MIN_ROW_HEIGHT = 23;
/** That of a row whose columns stand in a second line. */
const MIN_TALL_ROW_HEIGHT = 37;
/** That of the bar of the last seconds and of the heads of columns, at the same size. */
const BAR_HEIGHT = 15;
/** Those of the line of the title, and of goals. */
const TITLE_HEIGHT = 20;
const GOALS_HEIGHT = 51;
/** The least height of a stage that has room for it, as in look.css. */
const LEAST_TITLED = 144;
/** The card's rank change is as of now, and the time goes on while the rank stays. */
const RANK_CHANGE_MS = 10_000;
/** How long faults stand over a board. */
const FAULTS_MS = 20_000;

const stage = byId('stage', HTMLElement);
const frame = byId('frame', HTMLElement);
const finishLine = byId('finish-line', HTMLElement);
const hint = byId('hint', HTMLElement);
/** The builder alone may frame it. */
const isBuilt = parent !== window;

const options = new URLOptions();
const { faults } = options;
const name = decodeSegment(location.pathname.slice(ROOT.pathname.length).replace(/^overlay\//, ''));
const { look, sizes, accent, goal, texts } = readOptions(options);
const { top: requestedTop, pace, scale, gifts } = sizes;
const { title, unit } = texts;
const { mode } = look;
const me = options.textOf('me');

/** With its first rows, if the server knows them. */
const board = document.querySelector('live-leaderboard') ?? document.createElement('live-leaderboard');
const isFirst = board.isConnected;
/** The name in the followed member's profile; '': none; null: not requested. @type {string | null} */
let profileName = null;
/** What the address says about scores. */
const own = unit === undefined ? {} : { unit };
/** What the board says about scores. @type {import('../../kit/rankcast.js').Display | undefined} */
let display;
/** The rows leave room for the bar of the last seconds, or of a frozen board. */
let hasBar = false;
/** They leave room for the line of the title. */
let hasTitle = false;
/** The greatest number of entries, up to `top`, that the board has had since the page opened; 0: not known. */
let entries = Math.max(0, Number(frame.dataset.rows ?? 0) - Number(me !== ''));
/** How much room the columns of the board need, see columns.css of the kit. @type {string | undefined} */
let room = frame.dataset.room;
/** Why there are no alerts of gifts; '': there are, or none are wanted. */
let giftFault = '';
/** @type {ReturnType<typeof setTimeout> | undefined} */
let hintTimer;

const root = document.documentElement;
const heading = byId('title', HTMLElement);
if (!isFirst && heading.textContent === '') {
  document.title = fill(`{name} · ${text('overlay_title')} · ${text('title')}`, { name });
  setText(heading, title ?? name);
}
const { sound, lang, ...attributes } = look;
Object.assign(root.dataset, attributes);
setProperty(root, '--scale', scale / 100);
if (accent) root.style.setProperty('--accent', `#${accent}`);
const waits = (mode === 'me' || mode === 'goal') && !me;
frame.toggleAttribute('data-bar', !waits && mode !== 'me' && (heading.textContent !== '' || frame.hasAttribute('data-bar')));
if (waits) faults.push(isBuilt ? text('overlay_me_needed') : text('overlay_me_missing'));
if (mode === 'goal' && !goal) faults.push(isBuilt ? text('overlay_goal_needed') : text('overlay_goal_missing'));
showFaults();
if (!waits) start();

function showFaults() {
  setText(hint, [...faults, giftFault].filter(Boolean).join('\n'));
  clearTimeout(hintTimer);
  if (!waits && !isBuilt) hintTimer = setTimeout(() => setText(hint, ''), FAULTS_MS);
}

function start() {
  setToken([board]);
  if (!isFirst) for (const name of ['board', 'heading']) board.setAttribute(name, ''); // startBoard sets the board
  board.setAttribute('top', String(mode === 'me' ? CARD_TOP : requestedTop));
  board.setAttribute('pace', String(pace));
  setAttribute(board, 'me', me || undefined);
  setAttribute(board, 'unit', unit);
  setAttribute(board, 'goal', goal || undefined);
  setAttribute(board, 'calm', look.motion === 'calm' && '');
  if (mode === 'compact' || mode === 'me') {
    board.append(byId(`row-${mode}`, HTMLTemplateElement));
    board.addEventListener('update', fitScores);
  }
  board.addEventListener('finish', ({ detail }) => finishLine.replaceChildren(...detail.top.slice(0, 3).map(newPlace)));
  if (!isFirst) heading.parentElement?.after(board);
  board.shadowRoot?.adoptedStyleSheets.push(...(look.theme === 'clear' ? [clearSheet] : []));
  board.addEventListener('update', ({ detail: { snapshot } }) => {
    if (!snapshot) return;
    display = snapshot.info?.display;
    setText(heading, title ?? (textIn(snapshot.info?.title) || name));
    const isTimed = frame.toggleAttribute('data-timed', look.ends === 'on' && snapshot.ends !== null);
    // A card has its title once it is there: the member may come after the board.
    const isThere = mode !== 'me' || Boolean(board.shadowRoot?.querySelector('[part~=me]'));
    frame.toggleAttribute('data-bar', isThere && (isTimed || heading.textContent !== ''));
  });
  if (mode === 'list') {
    new ResizeObserver(fitRows).observe(stage);
    board.addEventListener('update', ({ detail }) => {
      const stage = board.shadowRoot?.querySelector('[part=stage]');
      setAttribute(frame, 'data-room', stage?.getAttribute('data-room') ?? undefined);
      const { ends, frozen, total = 0 } = detail.snapshot ?? {};
      const before = entries;
      entries = Math.max(before, Math.min(total, requestedTop));
      const changed = frame.toggleAttribute('data-ends', Boolean(ends || frozen)) !== hasBar || frame.dataset.room !== room;
      if (entries > before || changed || frame.hasAttribute('data-bar') !== hasTitle) fitRows();
    });
  }
  const countdown = board.shadowRoot?.querySelector('[part=countdown]');
  if (mode === 'me' && countdown instanceof HTMLElement) {
    // It takes the place of the change of rank.
    new MutationObserver(() => frame.toggleAttribute('data-counting', !countdown.hidden)).observe(countdown, {
      attributeFilter: ['hidden'],
    });
    showRankChange();
    keepCard();
  }
  if (me) board.addEventListener('update', showProfileName);
  const ticker = mode === 'compact' ? new Ticker(board) : null;
  celebrateLeaders(board, byId('celebration', HTMLElement), {
    member: mode === 'me' || mode === 'goal' ? me : '',
    onStart: () => ticker?.showLine(0),
  });
  if (sound === 'on') new Sound().enable();
  const alerts = new Alerts();
  const format = (/** @type {number} */ score) => formatsOf({ display: { ...display, ...own } }).short(score);
  if (gifts) {
    const event = options.textOf('event');
    const onFault = (/** @type {string} */ fault) => {
      if (fault === giftFault) return;
      giftFault = fault;
      showFaults();
    };
    watchGifts(alerts, { event, board: name, least: gifts, format, onFault });
  }
  if (mode === 'list') {
    showBattles(board, alerts);
    showGaps(board, me);
  }
  startBoard(board, name);
}

/** Requests as many rows as fit, with the followed member's row below them, and below that the bar of the end or of a freeze. */
function fitRows() {
  hasBar = frame.hasAttribute('data-ends');
  hasTitle = frame.hasAttribute('data-bar');
  room = frame.dataset.room;
  const { paddingTop, paddingBottom } = getComputedStyle(stage);
  const hasLine = hasTitle && stage.clientHeight >= LEAST_TITLED;
  const bars = (Number(hasBar) + (room ? 1 : 0)) * BAR_HEIGHT + (hasLine ? TITLE_HEIGHT : 0) + (me && goal ? GOALS_HEIGHT : 0);
  const height = stage.clientHeight - parseFloat(paddingTop) - parseFloat(paddingBottom) - bars;
  const own = me ? 1 : 0;
  const fitting = Math.max(1, Math.floor(height / (Number(room) > 2 ? MIN_TALL_ROW_HEIGHT : MIN_ROW_HEIGHT)));
  const shown = Math.max(1, Math.min(requestedTop, fitting - own));
  // Rows that the board does not have make no text smaller.
  const filled = Math.min(shown, Math.max(NUMBERS.top[2], entries || requestedTop));
  setProperty(frame, '--rows', Math.min(filled + own, fitting));
  setAttribute(board, 'top', String(shown));
  // If one row fits, it is the followed member's.
  frame.toggleAttribute('data-own', shown + own > fitting);
}

/** Passes the length of the longest score to overlay.css: in one line, longer scores need smaller text. A card has room for a unit. */
function fitScores() {
  const counted = mode === 'compact' || board.shadowRoot?.querySelector('[part=columns]') ? /[^]/g : /\d/g;
  const lengths = [...(board.shadowRoot?.querySelectorAll('[part=score]') ?? [])].map(
    ({ textContent }) => textContent?.match(counted)?.length ?? 0,
  );
  setProperty(stage, '--digits', Math.max(1, ...lengths));
}

/**
 * @param {import('../../kit/rankcast.js').Entry} entry
 * @returns {HTMLElement} its place in the line of the first three of a period
 */
function newPlace({ rank, name, member }) {
  return createElement('span', 'finish-place', createElement('b', '', numbers.format(rank)), name || member);
}

/**
 * Shows the name of the followed member while it has no score. The server sends names with
 * entries only, so the page reads the profile, once.
 */
async function showProfileName() {
  const field = () => board.shadowRoot?.querySelector('[data-absent] [data-field=name]');
  if (!field()) return;
  if (profileName === null) {
    profileName = '';
    profileName = (await readProfile(name, me)).name ?? '';
  }
  const shown = field();
  if (shown && profileName) setText(shown, profileName);
}

/** Keeps the card in the final result, with the member's place in it. A member without a place gives way to the first three. */
function keepCard() {
  const finish = board.shadowRoot?.querySelector('[part=finish]');
  if (finish)
    new MutationObserver(() => (finishLine.hidden = finish.querySelector('[part~=me]') !== null)).observe(finish, {
      childList: true,
      subtree: true,
    });
}

function showRankChange() {
  const rankChange = new RankChange(byId('rank-change', HTMLElement));
  board.addEventListener('update', ({ detail: { me, snapshot } }) => {
    rankChange.update(me?.rank ?? null, snapshot?.period ?? '');
    const rank = board.shadowRoot?.querySelector('[part~=me] [part=rank]');
    if (rank) setAttribute(rank, 'data-of', me?.rank && snapshot ? `/${numbers.format(snapshot.total)}` : undefined);
  });
  setInterval(() => rankChange.render(), RANK_CHANGE_MS);
}
