// @ts-check

/**
 * The page that makes an overlay of a board: `/boards/stars/overlay?theme=light&top=3`. Its form has all options of the
 * overlay, its query is that of the overlay, and the overlay itself is in a frame (preview.js). An address that the reader
 * pastes fills the form (address.js).
 */

import { textIn } from '../../kit/format.js';
import { NAMES } from '../overlay/options.js';
import { fetchJSON } from '../shared/api.js';
import { byId, createElement, setAttribute, setText } from '../shared/dom.js';
import { decodeSegment, encodeSegment, pageURL, ROOT, updateLanguageLink } from '../shared/links.js';
import { readProfile } from '../shared/member-name.js';
import '../shared/settings.js';
import { text } from '../shared/texts.js';
import { token, withToken } from '../shared/token.js';
import { URLOptions } from '../shared/url-options.js';
import { faultsOf, fillForm, isUsed, overlayQuery, parseAddress, readForm, SIZE, withOverlay, withQuery } from './address.js';
import { PAUSE_MS, Preview } from './preview.js';

const COPIED_MS = 2_000;
/** Members that the box suggests. */
const SUGGESTED = 50;

const board = decodeSegment(location.pathname.slice(ROOT.pathname.length).replace(/^boards\//, '').replace(/\/overlay$/, ''));
const path = `v1/boards/${encodeSegment(board)}`;
const form = byId('options', HTMLFormElement);
const pictures = byId('pictures', HTMLFormElement);
const address = byId('address', HTMLInputElement);
const note = byId('address-note', HTMLElement);
const file = byId('file', HTMLInputElement);
const copy = byId('copy', HTMLButtonElement);
const drag = byId('drag', HTMLAnchorElement);
const full = byId('full', HTMLAnchorElement);
const size = byId('size', HTMLSelectElement);
const [width, height] = [byId('width', HTMLInputElement), byId('height', HTMLInputElement)];
const boards = byId('board-choice', HTMLSelectElement);
const otherLanguage = byId('other-language', HTMLAnchorElement);
const preview = new Preview(text('builder_preview'));
/** @type {ReturnType<typeof setTimeout> | undefined} */
let noteTimer;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let addressTimer;
/** The picture behind the overlay. */
let picture = 'day';
/** What the field of the member names, if that is nobody. */
let nobody = '';
/** Goes up with each address and each input. An address whose board the page has looked up meanwhile is out of date then. */
let reads = 0;
/** What is wrong with the address that filled the form, by option, until the reader changes that. @type {Map<string, string>} */
let taken = new Map();

byId('board-link', HTMLAnchorElement).href = pageURL(`boards/${encodeSegment(board)}`).href;
byId('token-note', HTMLElement).hidden = token === '';
boards.append(new Option(board, board, true, true));
complain(take(overlayQuery(new URLSearchParams(location.search))).join('\n'));
loadChoices();

form.addEventListener('input', ({ target }) => {
  if (target instanceof HTMLInputElement && target.name === 'accent') input('has-accent').checked = true;
  const name = optionOf(target);
  taken.delete(name);
  reads++;
  say('');
  // Half a name names nobody, so checkMember reads the field at its change.
  if (target !== boards && target !== input('me')) render(name);
});
// The reader may choose what a field shows already, which is no input.
form.addEventListener('click', ({ target }) => {
  if (taken.delete(optionOf(target))) render();
});
form.addEventListener('change', ({ target }) => {
  if (target !== boards && target !== input('me')) render();
});
input('me').addEventListener('change', checkMember);
form.addEventListener('submit', (event) => event.preventDefault());
boards.addEventListener('change', () => location.assign(withToken(builderOf(boards.value, readForm(form)))));
pictures.addEventListener('change', async ({ target }) => {
  const chosen = String(new FormData(pictures).get('picture'));
  if (target !== file && chosen === 'own') {
    file.value = ''; // the same one again is a choice, too
    return file.click();
  }
  const isShown = await preview.setPicture(chosen, target === file ? file.files?.[0] : undefined);
  if (isShown) picture = chosen;
  else refusePicture();
});
file.addEventListener('cancel', choosePicture);
full.addEventListener('click', (event) => {
  if (!token) return;
  event.preventDefault();
  open(withToken(full.href), '_blank', 'noopener');
});
address.addEventListener('focus', () => address.select());
// The page reads a typed address once it is complete: at Enter, or when the reader leaves the field.
address.addEventListener('input', (event) => {
  if (event instanceof InputEvent && /^insertFrom(Paste|Drop)$/.test(event.inputType)) readAddress();
});
address.addEventListener('change', readAddress);
address.addEventListener('blur', () => render());
copy.addEventListener('click', async () => {
  render();
  try {
    await navigator.clipboard.writeText(address.value);
    say(text('link_copied'));
  } catch {
    // The browser lets no page copy by http or without permission.
    address.focus();
    complain(text('copy_by_hand'));
  }
});

async function readAddress() {
  const read = ++reads;
  const pasted = parseAddress(address.value);
  if (!pasted) return complain(text('builder_no_address'));
  if (pasted.board !== board) {
    const isMissing = await fetchJSON(`v1/boards/${encodeSegment(pasted.board)}`).then(
      () => false,
      (error) => error.status === 404,
    );
    if (read !== reads) return;
    if (isMissing) return complain(text('builder_no_board', { board: pasted.board }));
    return location.assign(withToken(builderOf(pasted.board, pasted.query)));
  }
  const faults = take(pasted.query);
  if (pasted.host !== ROOT.host) faults.unshift(text('builder_other_server', { host: pasted.host }));
  const done = text(taken.size ? 'builder_read_part' : 'builder_read');
  if (faults.length || taken.size) complain([done, ...faults].join('\n'));
  else say(done);
}

/** @param {string} words below the address, for some time */
function say(words) {
  complain(words);
  if (words) noteTimer = setTimeout(() => setText(note, ''), COPIED_MS);
}

/** @param {string} fault below the address, until something else is said */
function complain(fault) {
  clearTimeout(noteTimer);
  setText(note, fault);
}

function refusePicture() {
  choosePicture();
  complain(text('builder_no_picture'));
}

/** Has the choice of pictures say which one is there. */
function choosePicture() {
  /** @type {RadioNodeList} */ (pictures.elements.namedItem('picture')).value = picture;
}

/** @param {string} name of a field */
function input(name) {
  return /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
}

/**
 * @param {URLSearchParams} query the options of an overlay from now on
 * @returns {string[]} the faults of options without a field, and which options the mode does not use
 */
function take(query) {
  const event = query.get('event');
  if (event && ![...eventChoice().options].some(({ value }) => value === event)) eventChoice().append(new Option(event, event));
  fillForm(form, query);
  const sizes = new URLOptions(query);
  [width, height].forEach((field, i) => {
    field.value = String(sizes.numberOf(SIZE[i], Number(field.min), Number(field.max), [1920, 1080][i]));
  });
  const listed = [...size.options].some(({ value }) => value === `${width.value}x${height.value}`);
  size.value = listed ? `${width.value}x${height.value}` : '';
  taken = new Map([...faultsOf(query), ...sizes.wrong]);
  checkMember();
  const unused = NAMES.filter((name) => query.get(name) && !isUsed(form, name));
  const others = [...taken].flatMap(([name, fault]) => (NAMES.includes(name) ? [] : [fault]));
  return [...others, ...(unused.length ? [text('builder_unused', { names: unused.join(', ') })] : [])];
}

/**
 * Shows what the form says: the overlay, its address and its size, in the page's own address, too.
 *
 * @param {string} [typing] the option whose field the reader is about to change: nothing is wrong with half a value
 */
function render(typing = '') {
  if (size.value) [width.value, height.value] = size.value.split('x');
  byId('own-size', HTMLElement).hidden = size.value !== '';
  const [w, h] = [width, height].map((field) => (field.validity.valid && Number(field.value)) || Number(field.min));
  const query = readForm(form);
  const wrong = faultsOf(query);
  for (const name of wrong.keys()) query.delete(name);
  if (!query.has('gifts')) query.delete('event');
  const mode = query.get('mode') ?? 'list';
  const unknown = nobody && query.get('me') === nobody ? text('builder_me_unknown', { name: nobody }) : '';
  /** @type {Map<string, string>} */
  const missing = new Map();
  if (needsMember(query)) missing.set('me', text('overlay_me_needed'));
  if (mode === 'goal' && !query.has('goal')) missing.set('goal', text('overlay_goal_needed'));
  const faults = new Map([['me', unknown], ...missing, ...taken, ...wrong]);
  faults.delete(typing);
  for (const name of NAMES) setFault(name, faults.get(name) ?? '');
  // Else the reader would copy an address that lacks these options, and would not notice.
  const isWrong = NAMES.some((name) => wrong.has(name) || (taken.has(name) && isUsed(form, name)));
  copy.disabled = drag.hidden = missing.size > 0 || isWrong;
  for (const field of form.querySelectorAll('[data-modes]'))
    if (field instanceof HTMLElement) field.hidden = !field.dataset.modes?.split(' ').includes(mode);
  setText(byId('scale-shown', HTMLElement), `${query.get('scale') ?? 100} %`);
  byId('event-field', HTMLElement).hidden = !query.has('gifts') || eventChoice().options.length < 2;
  const url = withQuery(new URL(`overlay/${encodeSegment(board)}`, ROOT), query);
  if (document.activeElement !== address || parseAddress(address.value) === undefined) address.value = url.href;
  setText(byId('shown-width', HTMLElement), String(w));
  setText(byId('shown-height', HTMLElement), String(h));
  full.href = url.href;
  const seen = new URLSearchParams(query);
  if (!seen.has('lang')) seen.set('lang', document.documentElement.lang.slice(0, 2));
  preview.show(withQuery(url, seen), w, h);
  SIZE.forEach((name, i) => query.set(name, String([w, h][i])));
  // A browser refuses an address that changes with each step of a slider.
  clearTimeout(addressTimer);
  const page = builderOf(board, query);
  addressTimer = setTimeout(() => {
    history.replaceState(null, '', page);
    updateLanguageLink(otherLanguage);
  }, PAUSE_MS);
  query.set('layer-name', document.title.split(' · ')[0]);
  drag.href = withQuery(url, query).href;
}

/**
 * @param {EventTarget | null} field of the form
 * @returns {string} its option; '': none
 */
function optionOf(field) {
  return field instanceof HTMLInputElement || field instanceof HTMLSelectElement ? field.name.replace(/^has-/, '') : '';
}

/**
 * @param {string} name of an option
 * @param {string} fault below its field; '': none
 */
function setFault(name, fault) {
  const control = form.querySelector(`[name="${name}"]`);
  const field = control?.closest('.choice, .field, .check');
  if (!control || !field) return;
  const id = `${name}-fault`;
  let line = document.getElementById(id);
  if (!line && !fault) return;
  if (!line) {
    line = createElement('p', 'fault');
    line.id = id;
    line.role = 'alert';
    setAttribute(line, 'data-modes', field.getAttribute('data-modes') ?? undefined);
    field.after(line);
  }
  setText(line, fault);
  setAttribute(control, 'aria-invalid', fault ? 'true' : undefined);
  setAttribute(control, 'aria-describedby', fault ? id : undefined);
}

/** @param {URLSearchParams} query */
function needsMember(query) {
  const mode = query.get('mode');
  return !query.has('me') && (mode === 'me' || mode === 'goal' || query.has('goal'));
}

/** Has the field of the followed member hold an id where the reader names one, and finds out whether there is such a member. */
async function checkMember() {
  const field = input('me');
  const wanted = field.value.trim();
  nobody = '';
  render();
  if (!wanted) return;
  /** @type {{ entries: { member: string, name?: string }[] } | null} */
  const found = await fetchJSON(`${path}/search?q=${encodeURIComponent(wanted)}&limit=${SUGGESTED}`).catch(() => null);
  const isThere = found?.entries.some(({ member }) => member === wanted);
  const named = found?.entries.find(({ name }) => name === wanted);
  // A member that has no score yet has a profile. Who may not search is told nothing.
  if (!found || isThere || (!named && (await readProfile(board, wanted)).name !== undefined)) return;
  if (field.value.trim() !== wanted) return;
  if (named) field.value = named.member;
  else nobody = wanted;
  render();
}

/**
 * @param {string} board
 * @param {URLSearchParams} query of its overlay
 * @returns {URL} the page that makes it
 */
function builderOf(board, query) {
  return withOverlay(pageURL(`boards/${encodeSegment(board)}/overlay`), query);
}

function eventChoice() {
  return /** @type {HTMLSelectElement} */ (form.elements.namedItem('event'));
}

/** Loads what some fields offer: boards, members, and events that count on the board. What cannot be read is not offered. */
async function loadChoices() {
  const [{ definition }, all, top, { events }] = await Promise.all([
    fetchJSON(path).catch(() => ({ definition: {} })),
    fetchJSON('v1/boards').catch(() => ({ boards: [] })),
    fetchJSON(`${path}/top?limit=${SUGGESTED}`).catch(() => ({ top: [] })),
    fetchJSON('v1/events').catch(() => ({ events: [] })),
  ]);
  const unit = textIn(definition.display?.unit);
  if (unit) input('unit').placeholder = unit.split('|').at(-1) ?? '';
  input('title').placeholder = textIn(definition.title) || board;
  for (const { board: name, title } of all.boards) {
    if (name === board) setText(boards.options[0], textIn(title) || name);
    else if (!name.includes('{')) boards.append(new Option(textIn(title) || name, name));
  }
  byId('members', HTMLDataListElement).replaceChildren(
    ...top.top.map((/** @type {any} */ { member, name }) => {
      const option = createElement('option', '', name || member);
      option.value = member;
      return option;
    }),
  );
  const [family] = board.split(/[:@]/);
  const counting = events.filter((/** @type {any} */ { updates }) =>
    updates.some((/** @type {any} */ update) => update.board.split(':')[0] === family),
  );
  const chosen = eventChoice().value;
  const names = counting.map((/** @type {any} */ { event }) => event);
  if (chosen && !names.includes(chosen)) names.push(chosen);
  // The first one is the default.
  eventChoice().replaceChildren(...names.map((/** @type {string} */ name, /** @type {number} */ i) => new Option(name, i ? name : '')));
  eventChoice().value = chosen === names[0] ? '' : chosen;
  setAttribute(form, 'data-ready', '');
  render();
}
