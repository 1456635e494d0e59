// @ts-check

/**
 * The script of the star-flower page, on which viewers send flowers to stars: all stars (`/stars`),
 * or one (`/stars?star=s17`). The viewer is whom the token of the page is for. Without a token,
 * `me=mochi` names the viewer. The URL holds all else that the page shows, so that a viewer can
 * keep and share it.
 */

import { fill } from '../../kit/format.js';
import '../../kit/rankcast.js';
import { partProblem } from '../shared/board-name.js';
import { connectWithToken, setToken } from '../shared/connection.js';
import { byId, setAttribute, setText } from '../shared/dom.js';
import { handleLinks, pageURL, updateLanguageLink } from '../shared/links.js';
import { memberProblem } from '../shared/member-id.js';
import { refusalText } from '../shared/refusal.js';
import '../shared/settings.js';
import { storedMember, storeMember } from '../shared/stored-member.js';
import { countedText, text } from '../shared/texts.js';
import { token, tokenMaySend, tokenSub } from '../shared/token.js';
import { setUpPodium } from './board-podium.js';
import { linkOf, renderStarRows, scoreOf } from './board-rows.js';
import { Countdown } from './countdown.js';
import { GiftButtons } from './gift-buttons.js';
import { GiftFeed } from './gift-feed.js';
import { NicknameDialog } from './nickname.js';
import { ProfileCache } from './profile-cache.js';
import { isKnown, show, watchShow } from './show.js';
import { StarDetails } from './star-details.js';
import { Winners } from './winners.js';

/** @typedef {import('../../kit/rankcast.js').Problem} Problem */
/** @typedef {import('../../kit/rankcast.js').Update} Update */

const main = byId('main', HTMLElement);
const requirementsNote = byId('requirements', HTMLElement);
const starSection = byId('star', HTMLElement);
const starName = byId('star-name', HTMLElement);
const backLink = byId('back', HTMLAnchorElement);
const board = byId('stars', HTMLElement);
const boardCount = byId('stars-count', HTMLElement);
const viewerButton = byId('viewer', HTMLElement);
const viewerName = byId('viewer-name', HTMLElement);
const viewerNote = byId('viewer-note', HTMLElement);
const giftTitle = byId('gift-title', HTMLElement);
const languageLink = byId('other-language', HTMLAnchorElement);
const feedEmpty = byId('feed-empty', HTMLElement);
const feedEmptyText = feedEmpty.textContent ?? '';

/** The viewer of the token; '': none, so the URL or a nickname names the viewer. */
const knownViewer = memberProblem(tokenSub) ? '' : tokenSub;
/** Whether the server takes events from pages. */
const takesGifts = 'writes' in document.body.dataset;
const anybodySends = document.body.dataset.anonymousSends === 'true';
const maySend = takesGifts && (anybodySends || (show ? tokenMaySend(show.event) : token !== ''));

const profiles = new ProfileCache(() => {
  giftFeed.renderSoon();
  starDetails.renderName();
  renderTitle();
  renderRequirements();
});
const countdown = new Countdown(byId('countdown', HTMLElement), byId('countdown-left', HTMLElement), () => connectWithToken().now());
const winners = new Winners(byId('podium', HTMLElement), byId('no-winners', HTMLElement), (star) => starURL(star));
const giftFeed = new GiftFeed(byId('gifts', HTMLElement), feedEmpty, {
  user: (id, star) => profiles.user(id, star),
  star: (id) => profiles.star(id),
  me: () => readURL().me,
});
const starDetails = new StarDetails(profiles);
const nickname = new NicknameDialog(changeViewer, () => giftButtons?.dropTaps());
const giftButtons = maySend ? newGiftButtons() : null;

/** The star shown; '': all stars. */
let star = '';
/** The viewer of the URL as last shown. */
let viewer = '';
/** Ends the feed of an event. @type {{ event: string, end: () => void } | null} */
let watchedGifts = null;
/** Why the server refused the feed. @type {Problem | null} */
let feedProblem = null;

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
  main.dataset.state = state;
  if (snapshot) {
    profiles.addEntries('star', [...snapshot.top, ...(me?.around ?? [])]);
    countdown.setEnd(snapshot.final ? null : snapshot.ends);
    if (!snapshot.final) winners.setPeriod(snapshot.period, snapshot.info);
    setText(boardCount, countedText('stars_count', snapshot.total));
  } else if (state === 'stopped') {
    winners.setPeriod('');
  }
  renderStarRows(board, update, starURL);
  starDetails.update(update);
  renderTitle();
});

viewerButton.addEventListener('click', () => nickname.ask(viewer));

viewerButton.hidden = knownViewer !== '' || (takesGifts && !maySend);
setUpPodium(board);
setToken([...document.querySelectorAll('live-leaderboard')]);
watchGifts();
watchShow(() => {
  watchGifts();
  render();
});
restoreViewer();
render();

// The kit does not retry a refused feed, and an operator may define the event later.
function watchGifts() {
  if (!show || (watchedGifts?.event === show.event && !feedProblem)) return;
  watchedGifts?.end();
  feedProblem = null;
  const { event } = show;
  const end = connectWithToken().feed(event, {
    onItems: (items) => giftFeed.addItems(items),
    onError: (problem) => {
      feedProblem = problem;
      renderRequirements();
    },
  });
  // What the last page left waits until the page knows how to send it.
  if (!watchedGifts) giftButtons?.resume();
  watchedGifts = { event, end };
}

function newGiftButtons() {
  /** @type {NodeListOf<HTMLElement>} */
  const buttons = document.querySelectorAll('.size');
  return new GiftButtons(buttons, byId('gift-note', HTMLElement), {
    askForViewer: (flowers) => nickname.ask('', flowers),
    nameOf: (id) => profiles.star(id).name || id,
    scoreOf: (id) => scoreOf(board, id) ?? starDetails.visibleScore,
  });
}

/** @returns {{ star: string, me: string }} what the URL asks for; star '': all stars; me: the token's viewer, if there is one */
function readURL() {
  const query = new URLSearchParams(location.search);
  return { star: query.get('star') ?? '', me: knownViewer || (query.get('me') ?? '') };
}

/**
 * @param {string} star '': all stars
 * @param {string} [me] default: the viewer of the URL
 */
function starURL(star, me = readURL().me) {
  return pageURL('stars', { star, me: knownViewer ? '' : me }).href;
}

/** Puts the stored viewer into a URL without one. */
function restoreViewer() {
  const { star, me } = readURL();
  if (me || viewerButton.hidden) return;
  const stored = storedMember('me');
  if (stored) history.replaceState(null, '', starURL(star, stored));
}

/** @param {string} me the nickname as typed: the viewer's id; '': none */
function changeViewer(me) {
  storeMember('me', me); // an id from a link is not stored
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
  star = requestedStar;
  const me = memberProblem(named) ? '' : named;
  main.dataset.view = star ? 'star' : 'all';
  starSection.hidden = !star;
  viewer = me;
  setText(viewerName, me || text('stars_nickname_set'));
  setAttribute(viewerButton, 'aria-label', me !== '' && text('stars_nickname_change', { name: me }));
  renderRequirements();
  board.toggleAttribute('data-podium', !star);
  starDetails.show(star, me);
  // A board shows nothing if the member that it follows is invalid. (A star's id is also a part of
  // a board's name, for which the rules are stricter.)
  setAttribute(board, 'me', partProblem(star) ? '' : star);
  setAttribute(board, 'board', show?.board ?? '');
  giftButtons?.show(star, me);
  winners.updateLinks();
  giftFeed.renderSoon();
  backLink.href = starURL('');
  updateLanguageLink(languageLink);
  renderTitle();
}

function renderRequirements() {
  const refusal = feedProblem ? refusalText(feedProblem) : '';
  const isMissing = isKnown && !show;
  setText(requirementsNote, isMissing ? text('stars_requirements') : '');
  for (const id of ['week', 'winners', 'feed']) byId(id, HTMLElement).hidden = isMissing;
  setText(feedEmpty, refusal || feedEmptyText);
  const takes = takesGifts && Boolean(show?.user) && (star === '' || partProblem(star) === '');
  main.toggleAttribute('data-no-gifts', !(takes && maySend && viewersMaySend()));
  setText(giftTitle, text(takes ? 'stars_send' : 'stars_your_place'));
  setText(viewerNote, viewerText(takes));
  giftButtons?.setBound(show ? show.max : 0);
}

/** Whether the event is for viewers: without a sender it is for keys, whatever the token of a viewer allows. */
function viewersMaySend() {
  return anybodySends || !tokenSub || !show || show.namesSender;
}

/** @param {boolean} takes whether the server takes gifts for the star */
function viewerText(takes) {
  if (takes && maySend && !viewersMaySend()) return text('stars_no_sender', { event: show?.event ?? '' });
  if (takes && !maySend) return text(token ? 'stars_token_cannot_send' : 'stars_needs_token');
  if (knownViewer) return text('stars_you_are', { name: profiles.user(knownViewer, star).name || knownViewer });
  const problem = memberProblem(readURL().me, 'stars_nickname');
  return problem && text(problem);
}

function renderTitle() {
  document.title = [star && fill('{star}', { star: starDetails.name }), text('stars_title'), text('title')].filter(Boolean).join(' · ');
}
