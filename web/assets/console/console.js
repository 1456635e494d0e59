// @ts-check

/**
 * The console: it signs an operator in, and shows the view that the address names: /console#/boards/stars. All that it reads and
 * does goes through the public API.
 */

import { byId, createElement } from '../shared/dom.js';
import { decodeSegment } from '../shared/links.js';
import '../shared/settings.js';
import { Problem, request } from './api.js';
import { endAside, setAside } from './dialog.js';
import { button, problemNote } from './form.js';
import { mayAny, session, setSession } from './session.js';

/**
 * A view: it fills an element with what the path names. The signal is aborted when the operator leaves the view.
 *
 * @typedef {(view: HTMLElement, path: string[], signal: AbortSignal) => void | Promise<void>} Show
 */

/**
 * The views by the first segment of the path, with the scope that they need.
 *
 * @type {{ [name: string]: { scope: string, load: () => Promise<{ show: Show }> } }}
 */
const VIEWS = {
  status: { scope: 'admin', load: () => import('./status.js') },
  boards: { scope: 'read', load: () => import('./boards.js') },
  members: { scope: 'moderate', load: () => import('./members.js') },
  events: { scope: 'read', load: () => import('./events.js') },
  audit: { scope: 'moderate', load: () => import('./audit.js') },
};

const view = byId('view', HTMLElement);
const signIn = byId('sign-in', HTMLFormElement);
const key = byId('key', HTMLInputElement);
const signInNote = byId('sign-in-note', HTMLElement);
const nav = byId('console-nav', HTMLElement);
const who = byId('who', HTMLElement);
const signOut = byId('sign-out', HTMLButtonElement);

let left = new AbortController();

addEventListener('hashchange', () => {
  view.focus({ preventScroll: true }); // not at the end: the operator may type by then
  open();
});
// Each request of a session that has ended is refused. The first one asks for the key; later ones leave the form as it is.
addEventListener('signedout', () => {
  if (signIn.hidden) showSignIn('Your session has ended. Sign in again: what you have typed is still here.');
});
// The fragment names the view: the link to the content must not change it.
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  view.focus();
});
signIn.addEventListener('submit', (event) => {
  event.preventDefault();
  enter();
});
signOut.addEventListener('click', leave);
start();

async function start() {
  try {
    setSession(await request('GET', 'v1/session', { quiet: true }));
    showConsole();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) showSignIn('');
    else view.replaceChildren(problemNote(error), button('Try again', start));
  }
}

async function enter() {
  const before = session?.key;
  signInNote.textContent = '';
  try {
    setSession(await request('POST', 'v1/session', { quiet: true, headers: { authorization: `Bearer ${key.value.trim()}` } }));
  } catch (error) {
    signInNote.textContent = whyNot(error);
    key.select();
    return;
  }
  key.value = '';
  showConsole(before !== undefined && before === session?.key);
}

/** @param {unknown} error of a request to sign in */
function whyNot(error) {
  if (error instanceof Problem && error.status === 401) return 'The server does not know this key.';
  if (error instanceof Problem && error.code === 'unavailable') {
    return 'Redis does not answer, and without it nobody can sign in. The command rankcast status tells more.';
  }
  return error instanceof Error ? error.message : String(error);
}

async function leave() {
  try {
    await request('DELETE', 'v1/session', { quiet: true });
    left.abort();
    view.replaceChildren();
    setSession(undefined);
    showSignIn('You have signed out.');
  } catch (error) {
    view.prepend(problemNote(error));
  }
}

/** @param {string} note */
function showSignIn(note) {
  setAside();
  signIn.hidden = false;
  view.inert = true;
  nav.hidden = signOut.hidden = true;
  who.textContent = '';
  signInNote.textContent = note;
  key.focus();
}

/** @param {boolean} [stays] whether the view may stay as the operator has left it */
function showConsole(stays = false) {
  signIn.hidden = true;
  view.inert = false;
  nav.hidden = false;
  signOut.hidden = session?.open !== false;
  const name = createElement('bdi', '', session?.key ?? '');
  who.replaceChildren(...(session?.open ? ['No access file: anybody who reaches this node may do anything'] : ['Key ', name]));
  for (const link of nav.querySelectorAll('a')) link.hidden = !mayAny(VIEWS[link.hash.slice(2)].scope);
  endAside(stays);
  if (!stays) open();
}

async function open() {
  if (!session) return;
  const [asked, ...path] = location.hash.replace(/^#?\/?/, '').split('/').map(decodeSegment);
  const allowed = Object.keys(VIEWS).filter((name) => mayAny(VIEWS[name].scope));
  const isAllowed = allowed.includes(asked);
  const name = isAllowed ? asked : allowed[0];
  for (const link of nav.querySelectorAll('a')) {
    const isCurrent = link.hash === `#/${name}`;
    link.ariaCurrent = isCurrent ? 'page' : null;
    if (isCurrent) document.title = `${link.textContent} · Rankcast console`;
  }
  left.abort();
  const { signal } = (left = new AbortController());
  const content = createElement('div', 'view');
  try {
    const { show } = await VIEWS[name].load();
    if (signal.aborted) return;
    view.replaceChildren(content);
    await show(content, isAllowed ? path.filter(Boolean) : [], signal);
  } catch (error) {
    if (signal.aborted) return;
    if (!content.querySelector('h1')) content.prepend(createElement('h1', '', 'This cannot be shown'));
    content.append(problemNote(error), createElement('p', 'buttons', button('Try again', open)));
    view.replaceChildren(content);
  }
  if (!signal.aborted) document.title = `${content.querySelector('h1')?.textContent ?? name} · Rankcast console`;
}
