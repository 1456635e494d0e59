// @ts-check

/**
 * The script of the page /members/{kind}/{member}: the boards on which the member stands, with its ranks now, its best
 * ones, and how they went.
 */

import { fill } from '../../kit/format.js';
import { fetchJSON, HTTPError } from '../shared/api.js';
import { byId, setText } from '../shared/dom.js';
import { decodeSegment, encodeSegment, pageURL, ROOT, updateLanguageLink } from '../shared/links.js';
import { Poll } from '../shared/poll.js';
import { refusalText } from '../shared/refusal.js';
import '../shared/settings.js';
import { text } from '../shared/texts.js';
import { Portrait } from '../shared/portrait.js';
import { MemberBoard } from './member-board.js';

/**
 * @typedef {import('./member-board.js').Place} Place
 * @typedef {{ name?: string, avatar?: string, boards: Place[], unavailable?: number, cursor: string | null }} Answer
 */

const INTERVAL_MS = 5_000;
/** Boards that one press of the button adds. */
const BOARDS = 20;
/** The server looks through some boards for one answer, which may have none: the page asks so often for a run of boards. */
const MAX_READS = 20;

const [, kind, member] = (location.pathname.slice(ROOT.pathname.length).match(/^members\/([^/]+)\/([^/]+)$/) ?? ['', '', '']).map(
  decodeSegment,
);
const name = byId('name', HTMLHeadingElement);
const id = byId('id', HTMLParagraphElement);
const note = byId('note', HTMLParagraphElement);
const list = byId('boards', HTMLUListElement);
const more = byId('more', HTMLButtonElement);
const portrait = new Portrait(byId('portrait', HTMLElement).firstElementChild);
/** By board, in the order of the server. @type {Map<string, MemberBoard>} */
let cards = new Map();
let wanted = BOARDS;
/** The cards that are near the screen. @type {Set<Element>} */
const near = new Set();
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) near[isIntersecting ? 'add' : 'delete'](target);
  if (entries.some(({ isIntersecting }) => isIntersecting)) drawing.start();
}, { rootMargin: '50%' });

byId('home', HTMLAnchorElement).href = pageURL('').href;
updateLanguageLink(byId('other-language', HTMLAnchorElement));

/** Reads the histories of cards, one after the other: each costs the server more than a place. */
const drawing = new Poll(INTERVAL_MS, async (signal) => {
  for (const card of cards.values()) if (card.isDue && near.has(card.element)) await card.draw(member, signal);
});
const poll = new Poll(INTERVAL_MS, load);
poll.start();
more.addEventListener('click', () => {
  wanted += BOARDS;
  poll.start();
});

/** @param {AbortSignal} signal */
async function load(signal) {
  try {
    render(await readBoards(signal));
  } catch (error) {
    if (!signal.aborted) {
      list.toggleAttribute('data-stale', true);
      setText(
        note,
        refusalText(error) || text(error instanceof HTTPError && [400, 404].includes(error.status) ? 'member_unknown' : 'server_away'),
      );
    }
    throw error;
  }
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>} the first boards, as many as wanted
 */
async function readBoards(signal) {
  /** @type {Answer} */
  let whole = { boards: [], unavailable: 0, cursor: '' };
  for (let reads = 0; whole.cursor !== null && whole.boards.length < wanted && reads < MAX_READS; reads++) {
    const query = new URLSearchParams({ info: 'true', limit: String(BOARDS), ...(whole.cursor && { cursor: whole.cursor }) });
    /** @type {Answer} */
    const page = await fetchJSON(`v1/members/${encodeSegment(kind)}/${encodeSegment(member)}/boards?${query}`, signal);
    whole = {
      name: page.name ?? whole.name, avatar: page.avatar ?? whole.avatar, boards: [...whole.boards, ...page.boards],
      unavailable: (whole.unavailable ?? 0) + (page.unavailable ?? 0), cursor: page.cursor,
    };
  }
  return whole;
}

/** @param {Answer} answer */
function render({ name: title, avatar, boards, unavailable = 0, cursor }) {
  const shownName = title ?? member;
  list.toggleAttribute('data-stale', false);
  setText(/** @type {Element} */ (name.firstElementChild), shownName);
  setText(/** @type {Element} */ (id.firstElementChild), member);
  document.title = fill(`{title} · ${text('member_title')} · ${text('title')}`, { title: shownName });
  portrait.render(member, shownName, avatar);
  const before = cards;
  // Charts stand beside charts, and the others below them.
  const sorted = boards.toSorted((a, b) => Number(!a.info?.history) - Number(!b.info?.history));
  cards = new Map(
    sorted.map((place) => [
      place.board,
      before.get(place.board) ?? new MemberBoard(place, pageURL(`boards/${encodeSegment(place.board)}`, { me: member }).href),
    ]),
  );
  for (const place of boards) cards.get(place.board)?.render(place);
  const elements = [...cards.values()].map(({ element }) => element);
  if (elements.length !== list.children.length || elements.some((element, i) => element !== list.children[i])) {
    list.replaceChildren(...elements);
    watcher.disconnect();
    near.clear();
    for (const element of elements) watcher.observe(element);
  }
  more.hidden = cursor === null;
  setText(
    note,
    unavailable > 0
      ? text('member_partly')
      : boards.length > 0
        ? ''
        : text((title ?? avatar) === undefined ? 'member_unknown' : 'member_on_none'),
  );
}
