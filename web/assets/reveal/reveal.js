// @ts-check

/**
 * The page of the host who reveals the results of a frozen board, one after the other: /boards/finale/reveal. It shows what comes
 * next, which no other page does, and needs the scope moderate. All that it reads and does goes through the public API.
 */

import { textIn } from '../../kit/format.js';
import { request } from '../console/api.js';
import { problemNote } from '../console/form.js';
import { may } from '../console/session.js';
import { signIn } from '../console/sign-in.js';
import { byId, createElement } from '../shared/dom.js';
import { decodeSegment, encodeSegment, ROOT } from '../shared/links.js';
import '../shared/settings.js';
import '../shared/texts.js';
import { Host } from './host.js';

const view = byId('view', HTMLElement);
const board = decodeSegment(location.pathname.slice(ROOT.pathname.length).split('/')[1]);
let left = new AbortController();

signIn({
  show: (stays) => {
    if (!stays) open();
  },
  hide: () => left.abort(), // a key that is pressed now is not for this page
});

async function open() {
  left.abort();
  const { signal } = (left = new AbortController());
  if (!may('moderate', 'boards', board)) {
    view.replaceChildren(createElement('p', 'note', 'Your key may not reveal results of this board: that takes the scope moderate.'));
    return;
  }
  try {
    const { definition, info } = await request('GET', `v1/boards/${encodeSegment(board)}`, { signal });
    const title = textIn(info?.title) || board;
    document.title = `${title} · Reveal · Rankcast`;
    new Host(view, { board, title, definition }, signal);
  } catch (error) {
    if (!signal.aborted) view.replaceChildren(problemNote(error));
  }
}
