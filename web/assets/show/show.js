// @ts-check

/**
 * The script of the page of an event, on which viewers send gifts to stars: all stars (`/show/gift`), or one
 * (`/show/gift/s17`). The viewer is whom the token of the page is for. Without a token, `me=mochi` names the viewer. The URL
 * holds all else that the page shows, so that a viewer can keep and share it.
 */

import { fill, textIn } from '../../kit/format.js';
import './labels.js';
import '../../kit/rankcast.js';
import { partProblem } from '../shared/board-name.js';
import { connectWithToken, setToken } from '../shared/connection.js';
import { byId, setAttribute, setProperty, setText } from '../shared/dom.js';
import { encodeSegment, handleLinks, pageURL, updateLanguageLink } from '../shared/links.js';
import { memberProblem } from '../shared/member-id.js';
import { refusalText } from '../shared/refusal.js';
import '../shared/settings.js';
import { storedMember, storeMember } from '../shared/stored-member.js';
import { countedText, text } from '../shared/texts.js';
import { token, tokenMaySend, tokenSub } from '../shared/token.js';
import { setUpPodium } from './board-podium.js';
import { linkOf, renderStarRows, scoreOf } from './board-rows.js';
import { Countdown } from './countdown.js';
import { boardDefinition, boardTitle, event, langOf, problem, readPath, show, showTitle, watchEvent } from './event.js';
import { GiftButtons } from './gift-buttons.js';
import { GiftFeed } from './gift-feed.js';
import { NicknameDialog } from './nickname.js';
import { ProfileCache } from './profile-cache.js';
import { StarDetails } from './star-details.js';
import { updateSymbol } from './symbol.js';
import { Winners } from './winners.js';

/** @typedef {import('../../kit/rankcast.js').Problem} Problem */
/** @typedef {import('../../kit/rankcast.js').Update} Update */

const main = byId('main', HTMLElement);
const title = byId('title', HTMLElement);
const lead = byId('lead', HTMLElement);
const requirementsNote = byId('requirements', HTMLElement);
const starSection = byId('star', HTMLElement);
const starName = byId('star-name', HTMLElement);
const backLink = byId('back', HTMLAnchorElement);
const backTitle = byId('back-title', HTMLElement);
const board = byId('star-board', HTMLElement);
const boardHeading = byId('board-title', HTMLElement);
const boardCount = byId('board-count', HTMLElement);
const viewerButton = byId('viewer', HTMLElement);
const viewerName = byId('viewer-name', HTMLElement);
const viewerNote = byId('viewer-note', HTMLElement);
const giftTitle = byId('gift-title', HTMLElement);
const giftPanel = /** @type {HTMLElement} */ (giftTitle.parentElement);
const languageLink = byId('other-language', HTMLAnchorElement);
const feedEmpty = byId('feed-empty', HTMLElement);
const feedEmptyText = feedEmpty.textContent ?? '';

/** The viewer of the token; '': none, so the URL or a nickname names the viewer. */
const knownViewer = memberProblem(tokenSub) ? '' : tokenSub;
/** Whether the server takes events from pages. */
const takesGifts = 'writes' in document.body.dataset;
const anybodySends = document.body.dataset.anonymousSends === 'true';
const maySend = takesGifts && (anybodySends || tokenMaySend(event));

const profiles = new ProfileCache(() => {
  giftFeed.renderSoon();
  starDetails.renderName();
  renderTitle();
  renderRequirements();
});
const countdown = new Countdown(byId('countdown', HTMLElement), byId('countdown-left', HTMLElement), () => connectWithToken().now());
const winners = new Winners((star) => starURL(star));
const giftFeed = new GiftFeed(byId('gifts', HTMLElement), feedEmpty, {
  fan: (id, star) => profiles.fan(id, star),
  star: (id) => profiles.star(id),
  me: () => readURL().me,
}, (amount) => giftButtons?.celebrate(amount));
const starDetails = new StarDetails(profiles, (other) => giftButtons?.tellPassed(other), renderRequirements);
const nickname = new NicknameDialog(changeViewer, () => giftButtons?.dropTap());
const giftButtons = takesGifts ? newGiftButtons() : null;

/** The star shown; '': all stars. */
let star = '';
/** The viewer of the URL as last shown. */
let viewer = '';
/** Ends the feed of the event. @type {(() => void) | null} */
let endFeed = null;
/** Why the server refused the feed. @type {Problem | null} */
let feedProblem = null;

// The links to a star change the path, and with it what a relative link leads to.
for (const link of document.querySelectorAll('.masthead a')) if (link instanceof HTMLAnchorElement) setAttribute(link, 'href', link.href);
handleLinks(
  (path) => readPath(path).event === event,
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
    setText(boardCount, countedText('members', snapshot.total));
  } else if (state === 'stopped') {
    winners.setPeriod('');
  }
  renderStarRows(board, update, starURL);
  starDetails.update(update);
  renderTitle();
});

viewerButton.addEventListener('click', () => nickname.ask(viewer));

// What the panel with the buttons covers at the bottom of a narrow window.
new ResizeObserver(([{ target }]) => setProperty(document.documentElement, '--gift', target.clientHeight)).observe(giftPanel);

viewerButton.hidden = knownViewer !== '' || (takesGifts && !maySend);
setUpPodium(board);
setToken([...document.querySelectorAll('live-leaderboard')]);
watchGifts();
watchEvent(() => {
  watchGifts();
  render();
});
restoreViewer();
render();

// The kit does not retry a refused feed, and an operator may define the event later.
function watchGifts() {
  if (!show || (endFeed && !feedProblem)) return;
  const isFirst = !endFeed;
  endFeed?.();
  feedProblem = null;
  endFeed = connectWithToken().feed(event, {
    onItems: (items) => giftFeed.addItems(items),
    onError: (problem) => {
      feedProblem = problem;
      renderRequirements();
    },
  });
  // What the last page left waits until the page knows how to send it.
  if (isFirst) giftButtons?.resume();
}

function newGiftButtons() {
  return new GiftButtons(byId('sizes', HTMLElement), byId('gift-note', HTMLElement), {
    askForViewer: (amount) => nickname.ask('', amount),
    nameOf: (id) => profiles.star(id).name || id,
    // The head has room for an amount beside the score; in a row it would lie over the neighbour.
    scoreOf: (id) => starDetails.visibleScore ?? scoreOf(board, id),
  });
}

/**
 * @returns {{ star: string, me: string, goal: string }} what the URL asks for; star '': all stars; me: the token's viewer, if
 * there is one
 */
function readURL() {
  const query = new URLSearchParams(location.search);
  return { star: readPath(location.pathname).star, me: knownViewer || (query.get('me') ?? ''), goal: query.get('goal') ?? '' };
}

/**
 * @param {string} star '': all stars
 * @param {string} [me] default: the viewer of the URL
 */
function starURL(star, me = readURL().me) {
  const { star: current, goal } = readURL();
  const path = ['show', event, ...(star ? [star] : [])].map(encodeSegment).join('/');
  return pageURL(path, { me: knownViewer ? '' : me, goal: star && star === current ? goal : '' }).href;
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
  const { star: requestedStar, me: named, goal } = readURL();
  star = requestedStar;
  const me = memberProblem(named) ? '' : named;
  main.dataset.view = star ? 'star' : 'all';
  starSection.hidden = !star;
  viewer = me;
  setText(viewerName, me || text('show_nickname_set'));
  setAttribute(viewerButton, 'aria-label', me !== '' && text('show_nickname_change', { name: me }));
  board.toggleAttribute('data-podium', !star);
  starDetails.show(star, me);
  // A board shows nothing if the member that it follows is invalid. (A star's id is also a part of
  // a board's name, for which the rules are stricter.)
  setAttribute(board, 'me', partProblem(star) ? '' : star);
  setAttribute(board, 'goal', star !== '' && goal !== '' && goal);
  setAttribute(board, 'board', show?.board ?? '');
  winners.updateLinks();
  giftFeed.renderSoon();
  backLink.href = starURL('');
  updateLanguageLink(languageLink);
  renderTitle();
  renderRequirements();
  giftButtons?.show(star, me);
}

function renderRequirements() {
  const refusal = feedProblem ? refusalText(feedProblem) : '';
  const isMissing = problem !== null && !show;
  setText(requirementsNote, isMissing ? refusalText(problem) || text('show_missing', { event }) : '');
  for (const id of ['standings', 'feed']) byId(id, HTMLElement).hidden = isMissing;
  winners.setHidden(isMissing);
  setText(feedEmpty, refusal || feedEmptyText);
  const takes = takesGifts && Boolean(show?.fan) && (star === '' || partProblem(star) === '') && !starDetails.isNobody;
  const fills = show?.others.length === 0 && show.choices.length > 0;
  main.toggleAttribute('data-no-gifts', !(takes && fills && maySend && viewersMaySend()));
  setText(giftTitle, text(takes && fills ? 'show_send' : 'show_your_place'));
  setText(viewerNote, viewerText(takes, fills));
}

/** Whether the event is for viewers: without a sender it is for keys, whatever the token of a viewer allows. */
function viewersMaySend() {
  return anybodySends || !tokenSub || !show || show.namesSender;
}

/**
 * @param {boolean} takes whether the server takes gifts for the star
 * @param {boolean} fills whether the page can fill the event
 */
function viewerText(takes, fills) {
  if (takes && show && !fills)
    return show.others.length > 0 ? text('show_other_fields', { fields: show.others.join(', ') }) : text('show_no_amount');
  if (takes && maySend && !viewersMaySend()) return text('show_no_sender', { event });
  if (takes && !maySend) return text(token ? 'show_token_cannot_send' : 'show_needs_token');
  if (knownViewer) return text('show_you_are', { name: profiles.fan(knownViewer, star).name || knownViewer });
  const problem = memberProblem(readURL().me, 'show_nickname');
  return problem && text(problem);
}

function renderTitle() {
  const heading = show ? showTitle() : event;
  const { title: label, description } = boardDefinition() ?? {};
  setText(title, heading);
  setAttribute(title, 'lang', langOf(show?.title ?? label));
  setText(lead, textIn(description));
  setAttribute(lead, 'lang', langOf(description));
  setText(boardHeading, boardTitle());
  setText(backTitle, boardTitle());
  for (const element of [boardHeading, backTitle]) setAttribute(element, 'lang', langOf(label));
  for (const symbol of document.querySelectorAll('svg.symbol:not(.feed-sum *)')) updateSymbol(symbol);
  document.title = [star && fill('{star}', { star: starDetails.name }), heading, text('title')].filter(Boolean).join(' · ');
}
