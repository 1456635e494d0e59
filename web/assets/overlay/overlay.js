// @ts-check

/**
 * A board over a video or a game: `/overlay/stars?top=5&me=u4&mode=compact&theme=clear&pace=500`.
 *
 * - `mode`: `list`; `compact`, one line of which as many entries are seen at a time as fit;
 *   `me`, a card of the followed member
 * - `theme`: `dark`, `light`, or `clear`, which is text without panels
 * - `top`, `me`, `pace`: as of `<live-leaderboard>`
 */

import { setAttribute, setProperty, setText } from '../../kit/rows.js';
import '../../kit/rankcast.js';
import { Movement } from './rank-change.js';
import { byId, fromPath, inPath, Poll, read, ROOT } from '../shared/page.js';
import { text } from '../shared/texts.js';
import { Ticker } from './ticker.js';

/** @typedef {import('../../kit/rankcast.js').Update} Update */

const MODES = ['list', 'compact', 'me'];
const THEMES = ['dark', 'light', 'clear'];
const DEFAULT_TOP = 5;
const MOST_TOP = 100;
/** Slow enough for somebody who looks at something else. */
const DEFAULT_PACE = 800;
/** The card shows nobody else, but a medal for these. */
const PODIUM = 3;
/** A row of the least height at which it can be read, px: that of 10 px text in overlay.css. */
const LEAST_ROW = 23;
/** A lead that changes hands all the time is no occasion. */
const CELEBRATE_MS = 10_000;
/** The card's movement is as of a time that goes on while nothing changes. */
const MOVEMENT_MS = 10_000;

const stage = byId('stage', HTMLElement);
const frame = byId('frame', HTMLElement);
const celebration = byId('celebration', HTMLElement);
const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');

const query = new URLSearchParams(location.search);
const name = fromPath(location.pathname.slice(ROOT.pathname.length).replace(/^overlay\//, ''));
const mode = oneOf(MODES, query.get('mode'));
const me = query.get('me') ?? '';
const wantedTop = numberOf('top', 1, MOST_TOP, DEFAULT_TOP);

const board = document.createElement('live-leaderboard');

document.title = `${name} · ${document.title}`;
setText(byId('heading', HTMLElement), name);
document.documentElement.dataset.mode = mode;
document.documentElement.dataset.theme = oneOf(THEMES, query.get('theme'));

if (mode === 'me' && !me) setText(byId('hint', HTMLElement), text('overlay_me_missing'));
else start();

function start() {
  board.setAttribute('top', String(mode === 'me' ? PODIUM : wantedTop));
  board.setAttribute('pace', String(numberOf('pace', 0, 60_000, DEFAULT_PACE)));
  setAttribute(board, 'me', me || undefined);
  if (mode !== 'list') {
    board.append(byId(`row-${mode}`, HTMLTemplateElement));
    board.addEventListener('update', ({ detail }) => leaveRoom(detail));
  }
  frame.prepend(board);
  if (mode === 'list') new ResizeObserver(([{ contentRect }]) => fit(contentRect.height)).observe(stage);
  if (mode === 'me') showMovement();
  celebrate(mode === 'compact' ? new Ticker(board) : null);
  readDefinition();
}

/**
 * Asks for as many rows as there is room for, and for the followed member's below them.
 *
 * @param {number} height px
 */
function fit(height) {
  const own = me ? 1 : 0;
  const room = Math.max(1, Math.floor(height / LEAST_ROW));
  const shown = Math.max(1, Math.min(wantedTop, room - own));
  setProperty(frame, '--rows', Math.min(shown + own, room));
  setAttribute(board, 'top', String(shown));
  // Where there is room for one row, it is the followed member's.
  frame.toggleAttribute('data-own', shown + own > room);
}

/**
 * Where there is one line, a long score has all of it written smaller.
 *
 * @param {Update} update
 */
function leaveRoom({ snapshot, me: own }) {
  const digits = [...(snapshot?.top ?? []), own].map((entry) => String(entry?.score ?? '').length);
  setProperty(frame, '--digits', Math.max(1, ...digits));
}

// Scores are shown when it is known how; where that can't be asked now, as they are till then.
function readDefinition() {
  const poll = new Poll(Infinity, async (signal) => {
    try {
      const { definition } = await read(`v1/boards/${inPath(name)}`, signal);
      const { format, unit, decimals } = definition.display ?? {};
      setAttribute(board, 'format', format);
      setAttribute(board, 'unit', unit);
      setAttribute(board, 'decimals', decimals ? String(decimals) : undefined);
      // A board that was made since this page was opened.
      if (board.dataset.state === 'stopped') board.removeAttribute('board');
    } finally {
      board.setAttribute('board', name);
    }
  });
  poll.start();
}

function showMovement() {
  const movement = new Movement(byId('movement', HTMLElement));
  board.addEventListener('update', ({ detail }) => movement.hear(detail.me?.rank ?? null, detail.snapshot?.period ?? ''));
  setInterval(() => movement.render(), MOVEMENT_MS);
}

/**
 * Celebrates who is first since now: for a moment, and not again soon.
 *
 * @param {Ticker | null} ticker turned so that the first is seen
 */
function celebrate(ticker) {
  let celebratedAt = -Infinity;
  board.addEventListener('new-leader', ({ detail }) => {
    if (mode === 'me' && detail.entry.member !== me) return;
    if (lessMotion.matches || performance.now() - celebratedAt < CELEBRATE_MS) return;
    celebratedAt = performance.now();
    ticker?.turnTo(0);
    celebration.hidden = false;
  });
  for (const end of /** @type {const} */ (['animationend', 'animationcancel'])) {
    celebration.addEventListener(end, ({ target }) => {
      if (target === celebration) celebration.hidden = true;
    });
  }
}

/**
 * @param {string[]} values the first of which is the default
 * @param {string | null} value
 */
function oneOf(values, value) {
  return values.find((known) => known === value) ?? values[0];
}

/**
 * @param {string} key in the URL
 * @param {number} least
 * @param {number} most
 * @param {number} otherwise
 */
function numberOf(key, least, most, otherwise) {
  const value = query.get(key) ?? '';
  return /^\d+$/.test(value) ? Math.min(Math.max(Number(value), least), most) : otherwise;
}
