// @ts-check

/** The freeze of a board: its state, and the acts that begin and end it. Each is a dialog that says what will happen. */

import { createElement, replaceItems, setText } from '../shared/dom.js';
import { encodeSegment, pageURL } from '../shared/links.js';
import { request } from './api.js';
import { ask } from './dialog.js';
import { announce, button } from './form.js';
import { count, time } from './format.js';
import { quoted, reasonOf } from './moderation.js';

/** How the results become public. */
const REVEALS = { host: 'A host reveals the results one by one.', auto: 'The results become public by themselves, after the end.' };

/**
 * @param {string} board
 * @param {() => void} onChange called after an act
 * @returns {{ element: HTMLElement, update: (about: any) => Promise<void> }} the panel, and what shows the state of the board in it
 */
export function freezePanel(board, onChange) {
  const path = `v1/boards/${encodeSegment(board)}`;
  const state = createElement('p', '');
  const buttons = createElement('p', 'buttons');
  const element = createElement('section', 'panel', createElement('h2', '', 'Freeze'), state, buttons);
  const page = createElement('a', 'button primary', 'Reveal one by one');
  page.href = pageURL(`boards/${encodeSegment(board)}/reveal`).href;
  const freeze = button('Freeze …', () =>
    act({
      title: `Freeze ${quoted(board)}`,
      content: [
        'From now on the standings stand still for everybody: on pages, overlays and in the API. Scores go on counting unseen.',
        'Whoever sends an update sees neither its score nor its rank until the results are public.',
      ],
      action: 'Freeze',
      verb: 'freeze',
      done: () => 'The board is frozen.',
    }),
  );
  const unfreeze = button('Unfreeze …', () =>
    act({
      title: `Unfreeze ${quoted(board)}`,
      content: [
        'All that has changed since becomes public at once, and the board goes on. Another page reveals the results one by one.',
        'This cannot be undone.',
      ],
      action: 'Unfreeze',
      danger: true,
      verb: 'unfreeze',
      done: ({ revealed }) => `The board goes on. Members whose scores became public: ${count(revealed)}.`,
    }),
  );
  return { element, update };

  /** @param {Omit<import('./dialog.js').Question, 'submit'> & { verb: string, done: (answer: any) => string }} of */
  function act({ verb, done, ...question }) {
    return ask({
      ...question,
      reason: 'required',
      submit: async (values) => {
        announce(done(await request('POST', `${path}/${verb}`, { body: reasonOf(values) })));
        onChange();
      },
    });
  }

  /** @param {any} about */
  async function update({ frozen, final }) {
    element.hidden = final;
    replaceItems(buttons, frozen ? [page, unfreeze] : [freeze]);
    if (!frozen) return setText(state, 'The standings are public as they change.');
    const { total } = await request('GET', `${path}/pending`, { query: { limit: 1 } });
    const reveals = REVEALS[/** @type {'host' | 'auto'} */ (frozen.reveals)];
    state.replaceChildren('Frozen since ', time(frozen.since), `. Members with a pending score: ${count(total)}. ${reveals}`);
  }
}
