// @ts-check

/**
 * The script of the page /boards/{b}/story: how the first entries of a board went over a period, as a chart with a slider
 * that plays it, and the board as it stood at the time of the slider.
 */

import { fill, numbers, textIn } from '../../kit/format.js';
import { HTTPError } from '../shared/api.js';
import { formatsOf } from '../shared/board-display.js';
import { placeholders } from '../shared/board-name.js';
import { byId, createElement, replaceItems, setText } from '../shared/dom.js';
import { leadersOf, stepAt } from '../shared/history.js';
import { decodeSegment, encodeSegment, pageURL, ROOT, updateLanguageLink } from '../shared/links.js';
import { refusalText } from '../shared/refusal.js';
import '../shared/settings.js';
import { text } from '../shared/texts.js';
import { durationText, momentFormat, zoneOf } from '../shared/time-scale.js';
import { Chart, MAX_PLACES, placesOf } from './chart.js';
import { HistorySource } from './history-source.js';
import { Periods } from './periods.js';
import { Player } from './player.js';
import { Standing } from './standing.js';

/** @typedef {import('./history-source.js').Story} Story */
/** @typedef {import('../../kit/rankcast.js').Info} Info */

/** With shorter steps, a moment has its seconds. */
const MINUTE_MS = 60_000;
/** Lines of the table of leaders. */
const MAX_LEADERS = 100;
/** Room that the tip keeps from the edges of the chart, px. */
const TIP_MARGIN = 4;

const [, segment] = location.pathname.slice(ROOT.pathname.length).match(/^boards\/([^/]+)\/story$/) ?? [];
const board = decodeSegment(segment ?? '');
const query = new URLSearchParams(location.search);
const me = query.get('me') ?? '';

const title = byId('name', HTMLHeadingElement);
const note = byId('note', HTMLParagraphElement);
const none = byId('none', HTMLElement);
const section = byId('story', HTMLElement);
const places = byId('places', HTMLOListElement);
const plot = byId('plot', HTMLElement);
const tip = byId('tip', HTMLParagraphElement);
const spoken = byId('spoken', HTMLParagraphElement);
const moment = byId('moment', HTMLTimeElement);
const leaderRows = byId('leader-rows', HTMLTableSectionElement);

const chart = new Chart(plot);
const standing = new Standing(byId('standing', HTMLOListElement), byId('standing-heads', HTMLElement));
const periods = new Periods(byId('periods', HTMLUListElement), board, storyURL);
const player = new Player(
  {
    button: byId('play', HTMLButtonElement), label: byId('play-label', HTMLElement), slider: byId('slider', HTMLInputElement),
    speed: byId('speed', HTMLSelectElement), latest: byId('latest', HTMLButtonElement),
  },
  requestRender,
);

/** @type {Story | null} */
let story = null;
let zone = 'UTC';
let momentText = momentFormat(zone, false);
let formats = formatsOf();
/** 1 to 10, by member. @type {Map<string, number>} */
const colors = new Map();
/** The member whose line stands out: a click, a key or the URL has chosen it; '': none. */
let chosen = me;
/** What the pointer is over. @type {{ time: number, member: string } | null} */
let hovered = null;
let rendering = 0;
let isDrawn = false;
/** The address asks for the whole story at once, in so many seconds. @type {string | null} */
let playIn = query.get('play');

byId('board-link', HTMLAnchorElement).href = pageURL(`boards/${encodeSegment(board)}`, { me }).href;
byId('home', HTMLAnchorElement).href = pageURL('').href;
updateLanguageLink(byId('other-language', HTMLAnchorElement));
if (placeholders(board).length > 0) showProblem(text('story_family'));
else new HistorySource(board, showStory, showFailure);

new ResizeObserver(() => {
  isDrawn = false;
  requestRender();
}).observe(plot);
plot.addEventListener('keydown', onKey);
plot.addEventListener('pointermove', (event) => {
  hover(event);
  if (event.buttons) player.seek(chart.at(event).time);
});
plot.addEventListener('pointerdown', (event) => {
  hover(event);
  plot.setPointerCapture(event.pointerId);
  player.seek(chart.at(event).time);
  choose(hovered?.member ?? '');
});
plot.addEventListener('pointerleave', () => {
  hovered = null;
  requestRender();
});
byId('standing', HTMLOListElement).addEventListener('click', (event) => {
  const row = event.target instanceof Element && event.target.closest('[data-member]');
  const member = row instanceof HTMLElement ? (row.dataset.member ?? '') : '';
  choose(member === chosen ? '' : member);
});

/** @param {string} name of a board */
function storyURL(name) {
  return pageURL(`boards/${encodeSegment(name)}/story`, { me }).href;
}

/** @param {Story} now */
function showStory(now) {
  const isOther = now.period !== story?.period;
  story = now;
  showTitle(now.info);
  if (isOther) periods.show(now.period, now.info.period);
  const { steps, until } = now.history;
  if (steps.length === 0) {
    showProblem(now.step > 0 && !now.final ? text('story_empty', { step: durationText(now.step) }) : text('story_none_period'));
    return;
  }
  setText(note, '');
  none.hidden = true;
  section.hidden = false;
  formats = formatsOf(now.info);
  zone = zoneOf(now.info);
  momentText = momentFormat(zone, now.step > 0 && now.step < MINUTE_MS);
  setText(byId('zone', HTMLElement), text('story_zone', { zone: zone.replaceAll('_', ' ') }));
  giveColors(steps[steps.length - 1].entries.map(({ member }) => member));
  renderPlaces();
  renderLeaders(now);
  isDrawn = false;
  player.setSpan(steps[0].at, Math.max(until, steps[0].at));
  const speed = byId('speed', HTMLSelectElement);
  if (![...speed.options].some(({ value }) => value === playIn)) return;
  speed.value = playIn ?? '';
  playIn = null;
  player.play();
}

/**
 * Members of the last step have colors. A member keeps its own for as long as it is among them.
 *
 * @param {string[]} members
 */
function giveColors(members) {
  for (const member of colors.keys()) if (!members.includes(member)) colors.delete(member);
  const taken = new Set(colors.values());
  let color = 1;
  for (const member of members) {
    if (colors.has(member)) continue;
    while (taken.has(color)) color++;
    taken.add(color);
    colors.set(member, color);
  }
}

/** @param {string} member */
function colorOf(member) {
  return colors.get(member) ?? 0;
}

/** @param {string} member */
function nameOf(member) {
  return story?.profiles.get(member)?.name || member;
}

/** @param {Info} info */
function showTitle(info) {
  const name = textIn(info.title) || board;
  setText(title, name);
  title.title = board;
  document.title = fill(`{name} · ${text('story_title')} · ${text('title')}`, { name });
}

/**
 * @param {unknown} problem
 * @param {Info | null} info
 */
function showFailure(problem, info) {
  if (info) showTitle(info);
  const isMissing = problem instanceof HTTPError && problem.status === 404;
  if (isMissing && info) {
    const isPeriod = board.includes('@');
    showProblem(text(isPeriod ? 'story_none_period' : 'story_none'));
    none.hidden = isPeriod;
    periods.show(info.period?.name ?? '', info.period);
  } else if (isMissing) showProblem(board.includes('@') ? text('kit_unknown_period') : text('kit_unknown_board', { board }));
  else if (refusalText(problem)) showProblem(refusalText(problem));
  else setText(note, text(story ? 'story_away' : 'server_away'));
}

/** @param {string} problem in place of the story */
function showProblem(problem) {
  section.hidden = true;
  setText(note, problem);
}

/** Renders the places at the begin of the story. */
function renderPlaces() {
  if (!story) return;
  const [first] = story.history.steps;
  const count = placesOf(story.history);
  const items = Array.from({ length: count }, (_, i) => {
    const member = first.entries[i]?.member;
    const item = createElement(
      'li',
      'place',
      createElement('span', 'place-name', member === undefined ? '' : nameOf(member)),
      createElement('b', '', numbers.format(i + 1)),
    );
    if (member !== undefined) item.dataset.color = String(colorOf(member));
    return item;
  });
  replaceItems(places, items);
}

/**
 * @param {string} kind
 * @param {string} member
 */
function memberLink(kind, member) {
  const link = createElement('a', '', createElement('bdi', '', nameOf(member)));
  link.href = pageURL(`members/${encodeSegment(kind)}/${encodeSegment(member)}`).href;
  return link;
}

/** Renders the table of who led when, the latest first. */
function renderLeaders(/** @type {Story} */ now) {
  const rows = leadersOf(now.history)
    .slice(-MAX_LEADERS)
    .reverse()
    .map(({ from, to, ...entry }) =>
      createElement(
        'tr',
        '',
        createElement('td', '', momentText(from)),
        createElement('td', '', momentText(to)),
        createElement('td', '', memberLink(now.info.kind, entry.member)),
        createElement('td', '', formats.exact(entry.score, entry)),
      ),
    );
  replaceItems(leaderRows, rows);
}

function requestRender() {
  rendering ||= requestAnimationFrame(render);
}

function render() {
  rendering = 0;
  if (!story || story.history.steps.length === 0 || section.hidden) return;
  const { history, profiles } = story;
  if (!isDrawn) chart.draw(history, zone, colorOf);
  isDrawn = true;
  const { time } = player;
  const step = stepAt(history, time);
  const entries = step?.entries ?? [];
  chart.mark(time, entries, colorOf);
  standing.render(entries.slice(0, MAX_PLACES), profiles, colorOf, formats);
  const written = momentText(time);
  setText(moment, step ? written : `${written} · ${text('story_gap')}`);
  moment.dateTime = new Date(time).toISOString();
  player.render(moment.textContent ?? '');
  const shown = hovered ?? (chosen ? { time, member: chosen } : null);
  const member = hovered?.member || chosen;
  chart.highlight(member);
  standing.highlight(member);
  renderTip(shown);
}

/** @param {{ time: number, member: string } | null} shown */
function renderTip(shown) {
  tip.hidden = shown === null;
  if (!shown || !story) return;
  const entries = stepAt(story.history, shown.time)?.entries;
  const place = entries?.findIndex(({ member }) => member === shown.member) ?? -1;
  const what = !entries ? text('story_gap') : shown.member ? placeText(shown.member, shown.time) : '';
  // The time of the slider stands below the chart.
  setText(tip, [what, hovered ? momentText(shown.time) : ''].filter(Boolean).join(' · '));
  const { clientWidth } = plot;
  const x = chart.x(shown.time) - tip.offsetWidth / 2;
  tip.style.left = `${Math.min(clientWidth - tip.offsetWidth - TIP_MARGIN, Math.max(TIP_MARGIN, x))}px`;
  // Below the line in the upper half, and above it in the lower one.
  const row = places.firstElementChild?.getBoundingClientRect().height ?? 0;
  tip.style.top = `${place < 0 ? TIP_MARGIN : place * 2 < placesOf(story.history) ? (place + 1) * row : place * row - tip.offsetHeight}px`;
}

/**
 * @param {string} member
 * @param {number} time
 */
function placeText(member, time) {
  const entry = story && stepAt(story.history, time)?.entries.find((one) => one.member === member);
  return entry
    ? text('story_at', { name: nameOf(member), rank: entry.rank, score: formats.exact(entry.score, entry) })
    : text('story_not_there', { name: nameOf(member) });
}

/** @param {PointerEvent} event */
function hover(event) {
  if (!story) return;
  const { time, place } = chart.at(event);
  hovered = { time, member: stepAt(story.history, time)?.entries[place - 1]?.member ?? '' };
  requestRender();
}

/** @param {string} member '': none */
function choose(member) {
  chosen = member;
  requestRender();
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (!story || event.ctrlKey || event.altKey || event.metaKey) return;
  const { steps, until } = story.history;
  const { time } = player;
  const entries = stepAt(story.history, time)?.entries ?? [];
  const place = entries.findIndex(({ member }) => member === chosen);
  switch (event.key) {
    case 'ArrowRight':
      player.seek(steps.find(({ at }) => at > time)?.at ?? until);
      break;
    case 'ArrowLeft':
      player.seek(steps.findLast(({ at }) => at < time)?.at ?? time);
      break;
    case 'Home':
      player.seek(steps[0].at);
      break;
    case 'End':
      player.seek(until);
      break;
    case 'ArrowDown':
      choose(entries[Math.min(place + 1, entries.length - 1)]?.member ?? '');
      break;
    case 'ArrowUp':
      choose(entries[place < 0 ? 0 : Math.max(0, place - 1)]?.member ?? '');
      break;
    case 'Escape':
      choose('');
      break;
    default:
      return;
  }
  event.preventDefault();
  hovered = null;
  const isGap = stepAt(story.history, player.time) === undefined;
  setText(spoken, `${momentText(player.time)} · ${isGap ? text('story_gap') : placeText(chosen || entries[0]?.member || '', player.time)}`);
}
