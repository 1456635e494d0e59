// @ts-check

/** Signing in and out, on the page of the console and on that of a host: the form, and who has signed in. */

import { byId, createElement } from '../shared/dom.js';
import { Problem, request } from './api.js';
import { endAside, setAside } from './dialog.js';
import { button, problemNote } from './form.js';
import { session, setSession } from './session.js';

/**
 * show: an operator has signed in; stays: with the key of before, so the view may stay as the operator has left it. hide: the
 * form asks for a key; leaves: the operator has signed out
 * @typedef {{ show: (stays: boolean) => void, hide: (leaves: boolean) => void }} View
 */

const view = byId('view', HTMLElement);
const form = byId('sign-in', HTMLFormElement);
const key = byId('key', HTMLInputElement);
const note = byId('sign-in-note', HTMLElement);
const who = byId('who', HTMLElement);
const signOut = byId('sign-out', HTMLButtonElement);

/** @type {View} */
let page;

/**
 * Shows the page as soon as an operator has signed in: at once with the session of before, and where nobody needs a key.
 *
 * @param {View} of
 */
export function signIn(of) {
  page = of;
  // Each request of a session that has ended is refused. The first one asks for the key; later ones leave the form as it is.
  addEventListener('signedout', () => {
    if (form.hidden) ask('Your session has ended. Sign in again: what you have typed is still here.');
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    enter();
  });
  signOut.addEventListener('click', leave);
  start();
}

async function start() {
  try {
    setSession(await request('GET', 'v1/session', { quiet: true }));
    show();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) ask('');
    else view.replaceChildren(problemNote(error), button('Try again', start));
  }
}

async function enter() {
  const before = session?.key;
  note.textContent = '';
  try {
    setSession(await request('POST', 'v1/session', { quiet: true, headers: { authorization: `Bearer ${key.value.trim()}` } }));
  } catch (error) {
    note.textContent = whyNot(error);
    key.select();
    return;
  }
  key.value = '';
  show(before !== undefined && before === session?.key);
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
  } catch (error) {
    view.prepend(problemNote(error));
    return;
  }
  setSession(undefined);
  ask('You have signed out.', true);
  view.replaceChildren();
}

/**
 * @param {string} text
 * @param {boolean} [leaves]
 */
function ask(text, leaves = false) {
  setAside();
  form.hidden = false;
  view.inert = true;
  signOut.hidden = true;
  who.textContent = '';
  note.textContent = text;
  page.hide(leaves);
  key.focus();
}

/** @param {boolean} [stays] */
function show(stays = false) {
  form.hidden = true;
  view.inert = false;
  signOut.hidden = session?.open !== false;
  const name = createElement('bdi', '', session?.key ?? '');
  who.replaceChildren(...(session?.open ? ['No access file: anybody who reaches this node may do anything'] : ['Key ', name]));
  endAside(stays);
  page.show(stays);
}
