// @ts-check

/**
 * The console: it signs an operator in, and shows the view that the address names: /console#/boards/stars. All that it reads and
 * does goes through the public API.
 */

import { byId, createElement } from '../shared/dom.js';
import { decodeSegment } from '../shared/links.js';
import '../shared/settings.js';
import { button, problemNote } from './form.js';
import { mayAny, session } from './session.js';
import { signIn } from './sign-in.js';

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
const nav = byId('console-nav', HTMLElement);

let left = new AbortController();

addEventListener('hashchange', () => {
  view.focus({ preventScroll: true }); // not at the end: the operator may type by then
  open();
});
// The fragment names the view: the link to the content must not change it.
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  view.focus();
});
signIn({
  show: (stays) => {
    nav.hidden = false;
    for (const link of nav.querySelectorAll('a')) link.hidden = !mayAny(VIEWS[link.hash.slice(2)].scope);
    if (!stays) open();
  },
  hide: (leaves) => {
    nav.hidden = true;
    if (leaves) left.abort();
  },
});

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
