// @ts-check

/**
 * Viewers send flowers to stars: all of them (`/stars`), or one (`/stars?star=s17`). `me=mochi`
 * says who the viewer is. What is shown is in the URL, so it can be kept and shared.
 */

import { setAttribute, setText } from '../../kit/rows.js';
import { connect } from '../../kit/rankcast.js';
import { Countdown } from './countdown.js';
import { GiftButtons } from './gift-buttons.js';
import { GiftFeed } from './gift-feed.js';
import { problemOf, sayProblem } from '../shared/member-id.js';
import { problemOfPart } from '../shared/board-name.js';
import { Needs } from './requirements.js';
import { byId, followLinks, pageURL, pointToOtherLanguage, ROOT } from '../shared/page.js';
import { Profiles } from './profile-cache.js';
import { StarPage } from './star-details.js';
import { linkOf, writeStars } from './board-rows.js';
import { text } from '../shared/texts.js';
import { Winners } from './winners.js';

/** @typedef {import('../../kit/rankcast.js').Update} Update */

const STORED_AS = `rankcast me ${ROOT.pathname}`;

const main = byId('main', HTMLElement);
const note = byId('needs', HTMLElement);
const starSection = byId('star', HTMLElement);
const starName = byId('star-name', HTMLElement);
const back = byId('back', HTMLAnchorElement);
const board = byId('stars', HTMLElement);
const who = byId('who', HTMLFormElement);
const giftTitle = byId('gift-title', HTMLElement);
const meInput = byId('me', HTMLInputElement);
const meProblem = byId('me-problem', HTMLElement);
const otherLanguage = byId('other-language', HTMLAnchorElement);

const profiles = new Profiles(() => {
  feed.writeSoon();
  starPage.writeName();
  writeTitle();
});
const countdown = new Countdown(byId('countdown', HTMLElement), byId('countdown-left', HTMLElement), () => connect().now());
const winners = new Winners(byId('podium', HTMLElement), byId('no-winners', HTMLElement), (star) => address(star));
const feed = new GiftFeed(byId('gifts', HTMLElement), byId('feed-empty', HTMLElement), {
  user: (id) => profiles.of('user', id),
  star: (id) => profiles.of('star', id),
  me: () => wanted().me,
});
const starPage = new StarPage(profiles);
const buttons = 'writes' in document.body.dataset ? newButtons() : null;
const needs = new Needs(() => {
  watchGifts();
  show();
});

/** The star shown, and the viewer as put into the box. */
let star = '';
let viewer = '';
/** @type {(() => void) | null} */
let leaveGifts = null;
let giftsRefused = false;

followLinks(
  (path) => path === location.pathname,
  (href) => {
    if (href !== location.href) history.pushState(null, '', href);
    turn(true);
  },
);
addEventListener('popstate', () => turn(false));

board.addEventListener('update', (event) => {
  const update = /** @type {CustomEvent<Update>} */ (event).detail;
  const { snapshot, me, state } = update;
  buttons?.hear(state);
  if (snapshot) {
    profiles.see('star', [...snapshot.top, ...(me?.around ?? [])]);
    countdown.to(snapshot.final ? null : snapshot.ends);
    if (!snapshot.final) winners.hear(snapshot.period);
  }
  writeStars(board, update, address);
  starPage.hear(update);
  writeTitle();
});

// Enter changes it, as leaving the box does.
meInput.addEventListener('change', sayWho);
who.addEventListener('submit', (event) => {
  event.preventDefault();
  sayWho();
});

watchGifts();
recall();
show();
buttons?.resume();

// A refused feed is not asked for again by itself: the event may be defined later.
function watchGifts() {
  if (leaveGifts && !giftsRefused) return;
  leaveGifts?.();
  giftsRefused = false;
  leaveGifts = connect().feed('gift', {
    onItems: (items) => feed.hear(items),
    onError: () => {
      giftsRefused = true;
    },
  });
}

function newButtons() {
  /** @type {NodeListOf<HTMLElement>} */
  const sizes = document.querySelectorAll('.size');
  return new GiftButtons(sizes, byId('gift-note', HTMLElement), () => meInput.focus(), (id) => profiles.of('star', id).name || id);
}

/** @returns {{ star: string, me: string }} what the URL asks for; star '': all of them */
function wanted() {
  const query = new URLSearchParams(location.search);
  return { star: query.get('star') ?? '', me: query.get('me') ?? '' };
}

/**
 * @param {string} star '': all of them
 * @param {string} [me] default: whom the URL names
 */
function address(star, me = wanted().me) {
  return pageURL('stars', { star, me }).href;
}

/** Puts the viewer that was here last into a URL that names none. */
function recall() {
  const { star, me } = wanted();
  if (me) return;
  try {
    const known = localStorage.getItem(STORED_AS) ?? '';
    if (known && !problemOf(known)) history.replaceState(null, '', address(star, known));
  } catch {
    // Not allowed: then the URL alone knows.
  }
}

function sayWho() {
  const me = meInput.value.trim();
  meInput.value = me;
  if (sayProblem(me, meInput, meProblem)) return;
  remember(me);
  if (me === wanted().me) return;
  history.replaceState(null, '', address(wanted().star, me));
  show();
}

/**
 * Shows what the URL asks for now, with the focus where it begins.
 *
 * @param {boolean} fromTop not where history was left, which the browser scrolls to
 */
function turn(fromTop) {
  const before = star;
  // An entry of history, or a link, may be from before the viewer said who they are.
  if (wanted().me !== viewer) history.replaceState(null, '', address(wanted().star, viewer));
  show();
  if (fromTop) scrollTo(0, 0);
  const target = star ? starName : (linkOf(board, before) ?? main);
  target.focus({ preventScroll: fromTop });
}

function show() {
  const { star: wantedStar, me: named } = wanted();
  const { missing } = needs;
  star = wantedStar;
  const me = problemOf(named) ? '' : named;
  main.dataset.view = star ? 'star' : 'all';
  starSection.hidden = !star;
  writeNeeds();
  // What is being typed is left alone.
  if (named !== viewer) {
    viewer = meInput.value = named;
    sayProblem(named, meInput, meProblem);
  }
  starPage.show(star, me, missing.boards);
  // A board that is asked to follow what can be no member (nor a part of a name, which is shorter) shows nothing.
  setAttribute(board, 'me', problemOfPart(star) ? '' : star);
  setAttribute(board, 'board', missing.boards.includes('stars') ? '' : 'stars');
  buttons?.show(star, me);
  winners.point();
  feed.writeSoon();
  back.href = address('');
  pointToOtherLanguage(otherLanguage);
  writeTitle();
}

/** @param {string} me as the viewer says, whatever a link that they opened does */
function remember(me) {
  try {
    if (me) localStorage.setItem(STORED_AS, me);
    else localStorage.removeItem(STORED_AS);
  } catch {
    // Not allowed: then the URL alone knows.
  }
}

function writeNeeds() {
  const { boards, event } = needs.missing;
  const names = [...boards, ...(event ? [text('stars_event', { name: event })] : [])];
  setText(note, names.length > 0 ? text('stars_needs', { missing: names.join(text('stars_list')) }) : '');
  byId('week', HTMLElement).hidden = byId('winners', HTMLElement).hidden = boards.includes('stars');
  byId('feed', HTMLElement).hidden = event !== '';
  const gifts = buttons !== null && event === '' && (star === '' || problemOfPart(star) === '');
  main.toggleAttribute('data-no-gifts', !gifts);
  setText(giftTitle, text(gifts ? 'stars_send' : 'stars_your_place'));
}

function writeTitle() {
  document.title = [star && starPage.name, text('stars_title'), text('title')].filter(Boolean).join(' · ');
}
