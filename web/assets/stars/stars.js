// @ts-check

/**
 * The script of the star-flower page, on which viewers send flowers to stars: all stars (`/stars`),
 * or one (`/stars?star=s17`). `me=mochi` names the viewer. The URL holds all that the page shows,
 * so that a viewer can keep and share it.
 */

import { fill } from '../../kit/format.js';
import { connect } from '../../kit/rankcast.js';
import { partProblem } from '../shared/board-name.js';
import { byId, setAttribute, setText } from '../shared/dom.js';
import { handleLinks, pageURL, ROOT, updateLanguageLink } from '../shared/links.js';
import { memberProblem, showMemberProblem } from '../shared/member-id.js';
import { text } from '../shared/texts.js';
import { linkOf, renderStarRows } from './board-rows.js';
import { Countdown } from './countdown.js';
import { GiftButtons } from './gift-buttons.js';
import { GiftFeed } from './gift-feed.js';
import { ProfileCache } from './profile-cache.js';
import { Requirements } from './requirements.js';
import { StarDetails } from './star-details.js';
import { Winners } from './winners.js';

/** @typedef {import('../../kit/rankcast.js').Update} Update */

const STORAGE_KEY = `rankcast me ${ROOT.pathname}`;

const main = byId('main', HTMLElement);
const requirementsNote = byId('requirements', HTMLElement);
const starSection = byId('star', HTMLElement);
const starName = byId('star-name', HTMLElement);
const backLink = byId('back', HTMLAnchorElement);
const board = byId('stars', HTMLElement);
const viewerForm = byId('viewer', HTMLFormElement);
const giftTitle = byId('gift-title', HTMLElement);
const meInput = byId('me', HTMLInputElement);
const meProblem = byId('me-problem', HTMLElement);
const languageLink = byId('other-language', HTMLAnchorElement);

const profiles = new ProfileCache(() => {
  giftFeed.renderSoon();
  starDetails.renderName();
  renderTitle();
});
const countdown = new Countdown(byId('countdown', HTMLElement), byId('countdown-left', HTMLElement), () => connect().now());
const winners = new Winners(byId('podium', HTMLElement), byId('no-winners', HTMLElement), (star) => starURL(star));
const giftFeed = new GiftFeed(byId('gifts', HTMLElement), byId('feed-empty', HTMLElement), {
  user: (id) => profiles.get('user', id),
  star: (id) => profiles.get('star', id),
  me: () => readURL().me,
});
const starDetails = new StarDetails(profiles);
const giftButtons = 'writes' in document.body.dataset ? newGiftButtons() : null;
const requirements = new Requirements(() => {
  watchGifts();
  render();
});

/** The star shown; '': all stars. */
let star = '';
/** The viewer of the URL as last written to the input. */
let viewer = '';
/** @type {(() => void) | null} */
let unwatchGifts = null;
let giftsRefused = false;

handleLinks(
  (path) => path === location.pathname,
  (href) => {
    if (href !== location.href) history.pushState(null, '', href);
    onNavigation(true);
  },
);
addEventListener('popstate', () => onNavigation(false));

board.addEventListener('update', (event) => {
  const update = /** @type {CustomEvent<Update>} */ (event).detail;
  const { snapshot, me, state } = update;
  giftButtons?.setState(state);
  if (snapshot) {
    profiles.addEntries('star', [...snapshot.top, ...(me?.around ?? [])]);
    countdown.setEnd(snapshot.final ? null : snapshot.ends);
    if (!snapshot.final) winners.setPeriod(snapshot.period);
  }
  renderStarRows(board, update, starURL);
  starDetails.update(update);
  renderTitle();
});

// A viewer changes their id with Enter or by leaving the input.
meInput.addEventListener('change', changeViewer);
viewerForm.addEventListener('submit', (event) => {
  event.preventDefault();
  changeViewer();
});

watchGifts();
restoreViewer();
render();
giftButtons?.resume();

// The kit does not retry a refused feed, and an operator may define the event later.
function watchGifts() {
  if (unwatchGifts && !giftsRefused) return;
  unwatchGifts?.();
  giftsRefused = false;
  unwatchGifts = connect().feed('gift', {
    onItems: (items) => giftFeed.addItems(items),
    onError: () => {
      giftsRefused = true;
    },
  });
}

function newGiftButtons() {
  /** @type {NodeListOf<HTMLElement>} */
  const buttons = document.querySelectorAll('.size');
  return new GiftButtons(buttons, byId('gift-note', HTMLElement), () => meInput.focus(), (id) => profiles.get('star', id).name || id);
}

/** @returns {{ star: string, me: string }} what the URL asks for; star '': all stars */
function readURL() {
  const query = new URLSearchParams(location.search);
  return { star: query.get('star') ?? '', me: query.get('me') ?? '' };
}

/**
 * @param {string} star '': all stars
 * @param {string} [me] default: the viewer of the URL
 */
function starURL(star, me = readURL().me) {
  return pageURL('stars', { star, me }).href;
}

/** Puts the stored viewer into a URL without one. */
function restoreViewer() {
  const { star, me } = readURL();
  if (me) return;
  try {
    const stored = localStorage.getItem(STORAGE_KEY) ?? '';
    if (stored && !memberProblem(stored)) history.replaceState(null, '', starURL(star, stored));
  } catch {
    // The storage is not allowed: only the URL holds the viewer.
  }
}

/** Makes the id in the input the viewer. */
function changeViewer() {
  const me = meInput.value.trim();
  meInput.value = me;
  if (showMemberProblem(me, meInput, meProblem)) return;
  storeViewer(me);
  if (me === readURL().me) return;
  history.replaceState(null, '', starURL(readURL().star, me));
  render();
}

/**
 * Renders the view of the new URL, and moves the focus to it.
 *
 * @param {boolean} toTop false: the browser restores the scroll position of an entry in the history
 */
function onNavigation(toTop) {
  const before = star;
  // A link or an entry in the history may be older than the viewer.
  if (readURL().me !== viewer) history.replaceState(null, '', starURL(readURL().star, viewer));
  render();
  if (toTop) scrollTo(0, 0);
  const target = star ? starName : (linkOf(board, before) ?? main);
  target.focus({ preventScroll: toTop });
}

/** Renders what the URL asks for. */
function render() {
  const { star: requestedStar, me: named } = readURL();
  const { missing } = requirements;
  star = requestedStar;
  const me = memberProblem(named) ? '' : named;
  main.dataset.view = star ? 'star' : 'all';
  starSection.hidden = !star;
  renderRequirements();
  // An edit that is under way stays.
  if (named !== viewer) {
    viewer = meInput.value = named;
    showMemberProblem(named, meInput, meProblem);
  }
  starDetails.show(star, me, missing.boards);
  // A board shows nothing if the member that it follows is invalid. (A star's id is also a part of
  // a board's name, for which the rules are stricter.)
  setAttribute(board, 'me', partProblem(star) ? '' : star);
  setAttribute(board, 'board', missing.boards.includes('stars') ? '' : 'stars');
  giftButtons?.show(star, me);
  winners.updateLinks();
  giftFeed.renderSoon();
  backLink.href = starURL('');
  updateLanguageLink(languageLink);
  renderTitle();
}

/** @param {string} me as typed by the viewer; an id from a link is not stored */
function storeViewer(me) {
  try {
    if (me) localStorage.setItem(STORAGE_KEY, me);
    else localStorage.removeItem(STORAGE_KEY);
  } catch {
    // The storage is not allowed: only the URL holds the viewer.
  }
}

function renderRequirements() {
  const { boards, event } = requirements.missing;
  const missing = [...boards, ...(event ? [text('stars_event', { name: event })] : [])];
  setText(requirementsNote, missing.length > 0 ? text('stars_requirements', { missing: missing.join(text('stars_list')) }) : '');
  byId('week', HTMLElement).hidden = byId('winners', HTMLElement).hidden = boards.includes('stars');
  byId('feed', HTMLElement).hidden = event !== '';
  const canSend = giftButtons !== null && event === '' && (star === '' || partProblem(star) === '');
  main.toggleAttribute('data-no-gifts', !canSend);
  setText(giftTitle, text(canSend ? 'stars_send' : 'stars_your_place'));
}

function renderTitle() {
  document.title = [star && fill('{star}', { star: starDetails.name }), text('stars_title'), text('title')].filter(Boolean).join(' · ');
}
