// @ts-check

/** One member of a kind: its profile, where it stands and where it is hidden, and all acts of moderation. */

import { createElement } from '../shared/dom.js';
import { encodeSegment, pageURL } from '../shared/links.js';
import { Problem, request } from './api.js';
import { correctionPanel } from './correction.js';
import { Definitions } from './definitions.js';
import { ask } from './dialog.js';
import { announce, boardLink, button, field, input, link, problemNote } from './form.js';
import { count, scoreText, time, UNKNOWN } from './format.js';
import { erase, hide, memberPath, setScore, unhide } from './moderation.js';
import { may, mayAny, session } from './session.js';
import { fact, pagedTable, pagesOf } from './table.js';

/** From one look at the progress of an erasure to the next. */
const ERASURE_MS = 1_000;
/** How long nodes take to hide a member on all boards, or to show it. */
const NODES_MS = 3_000;

/**
 * @param {HTMLElement} view
 * @param {string} kind
 * @param {string} member
 * @param {AbortSignal} signal
 */
export async function showMember(view, kind, member, signal) {
  const name = createElement('bdi', '', member);
  const heading = createElement('h1', 'member-name', name);
  heading.tabIndex = -1;
  const [facts, acts] = [createElement('dl', 'facts'), createElement('div', 'buttons')];
  const erasure = createElement('p', 'quiet-text erasure');
  erasure.role = 'status';
  const [hidden, boards] = [section('Hidden'), section('Boards')];
  view.append(
    createElement('p', 'crumbs', link('Members', '/members'), ' of the kind ', createElement('bdi', '', kind)),
    heading, createElement('section', 'panel', facts, acts, erasure), hidden.panel, boards.panel,
  );
  const definitions = await Definitions.read(signal);
  const elsewhere = elsewhereForm();
  /** @type {any} */
  let profile = {};
  if (may('moderate', 'kinds', kind)) {
    acts.append(
      button('Hide on all boards', () => act(hide({ kind }, member, definitions)), 'danger'),
      button('Erase', () => act(erase(kind, member, definitions)), 'danger'),
    );
  }
  if (may('write', 'kinds', kind)) acts.prepend(button('Edit the profile', edit));
  view.append(...correctionPanel(kind, member, definitions, drawAgain));
  await Promise.all([draw(), followErasure()]);

  /** @param {Promise<boolean>} dialog */
  async function act(dialog) {
    try {
      if (await dialog) drawAgain();
    } catch (error) {
      onProblem(error);
    }
  }

  /** Shows what an act has changed, now and when all nodes know of it. */
  function drawAgain() {
    Promise.all([draw(), followErasure()]).catch(onProblem);
    setTimeout(() => signal.aborted || drawBoards().catch(onProblem), NODES_MS);
  }

  /** @param {unknown} error */
  function onProblem(error) {
    if (!signal.aborted) erasure.after(problemNote(error));
  }

  async function draw() {
    await Promise.all([drawProfile(), drawBoards(), drawHidden()]);
  }

  async function drawProfile() {
    profile = await request('GET', memberPath(kind, member), { signal }).catch(unlessMissing);
    name.textContent = profile?.name ?? member;
    const page = createElement('a', 'link', 'The member’s page, with charts');
    page.href = pageURL(`members/${encodeSegment(kind)}/${encodeSegment(member)}`).href;
    const audit = link('Audit of this member', `/audit/kind/${encodeSegment(kind)}/member/${encodeSegment(member)}`);
    facts.replaceChildren(fact('Id', createElement('bdi', '', member)), fact('Kind', createElement('bdi', '', kind)),
      fact('Avatar', profile?.avatar ?? UNKNOWN), fact('What was done', audit), fact('History', page));
  }

  async function drawBoards() {
    const load = pagesOf(`${memberPath(kind, member)}/boards`, 'boards', signal);
    const none = 'The member stands on no board. It may be hidden, or have no score.';
    replace(boards.content, await pagedTable(['Board', 'Period', 'Rank', 'Score', 'Acts'], load, boardCells, none));
  }

  /** @param {any} standing */
  function boardCells({ board, period, rank, total, score, columns }) {
    const does = createElement('div', 'buttons');
    if (may('moderate', 'boards', board)) {
      does.append(labelled(button('Set the score', () => act(setScore(board, member, { score, columns })), 'quiet'), board),
        labelled(button('Hide', () => act(hide({ board }, member, definitions)), 'quiet'), board));
    }
    const [at, of] = [rank === null ? UNKNOWN : count(rank), createElement('small', '', ` of ${count(total)}`)];
    return [boardLink(board), period || '', createElement('span', '', at, of), scoreText({ score, columns }), does];
  }

  async function drawHidden() {
    if (!may('moderate', 'kinds', kind)) {
      if (!session?.boards.length || !mayAny('moderate')) return hidden.panel.remove();
      const note = createElement('p', 'empty', 'Your key may not list where members of this kind are hidden.');
      return hidden.content.replaceChildren(note, elsewhere);
    }
    const load = async (/** @type {string | undefined} */ cursor) => {
      const page = await request('GET', `${memberPath(kind, member)}/hidden`, { query: { cursor, limit: 20 }, signal });
      const items = page.boards.map((/** @type {string} */ board) => ({ board }));
      return { items: page.everywhere && !cursor ? [{ kind }, ...items] : items, cursor: page.cursor };
    };
    const cells = (/** @type {import('./moderation.js').Place} */ place) => [
      'board' in place ? boardLink(place.board) : 'All boards of the kind',
      labelled(button('Show again', () => act(unhide(place, member)), 'quiet'), 'board' in place ? place.board : kind),
    ];
    replace(hidden.content, await pagedTable(['Where', 'Acts'], load, cells, 'The member is not hidden.'), elsewhere);
  }

  /**
   * Shows a list anew. The focus stays on the same button, or goes to the name of the member if that has gone.
   *
   * @param {HTMLElement} content
   * @param {...HTMLElement} parts
   */
  function replace(content, ...parts) {
    const focused = content.contains(document.activeElement) ? document.activeElement : null;
    if (elsewhere.contains(focused)) return content.replaceChild(parts[0], /** @type {Node} */ (content.firstChild));
    content.replaceChildren(...parts);
    if (!focused) return;
    const same = [...content.querySelectorAll('button')].find(({ ariaLabel }) => ariaLabel && ariaLabel === focused.ariaLabel);
    (same ?? heading).focus();
  }

  /** @returns {HTMLFormElement} what hides the member on a board that no list names, or shows it there again */
  function elsewhereForm() {
    const board = input('board', { required: true });
    const does = createElement('div', 'buttons', createElement('button', 'button', 'Hide there'),
      button('Show again there', () => go(unhide)));
    const form = createElement('form', 'elsewhere', field('On another board', board, 'Also one where the member has no score yet.'), does);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      go(hide);
    });
    return form;

    /** @param {(place: import('./moderation.js').Place, member: string, definitions: Definitions) => Promise<boolean>} dialog */
    function go(dialog) {
      if (form.reportValidity()) act(dialog({ board: board.value.trim() }, member, definitions));
    }
  }

  async function edit() {
    const [named, avatar] = [input('name', { value: profile?.name ?? '' }), input('avatar', { value: profile?.avatar ?? '' })];
    const done = await ask({
      title: 'Edit the profile',
      content: ['All boards of the kind show it at once. Without a name, they show the id.', field('Name', named),
        field('Avatar', avatar, 'An http or https address, or a path of your site.')],
      action: 'Save',
      submit: async () => {
        const body = { ...(named.value && { name: named.value }), ...(avatar.value && { avatar: avatar.value }) };
        if (Object.keys(body).length) await request('PUT', memberPath(kind, member), { body });
        else await request('DELETE', `${memberPath(kind, member)}/profile`);
        announce('The profile is saved.');
      },
    });
    if (done) await drawProfile();
  }

  /**
   * Shows how far an erasure is, until it has ended.
   *
   * @param {boolean} [wasUnderWay] at the last look
   */
  async function followErasure(wasUnderWay = false) {
    if (!may('moderate', 'kinds', kind)) return;
    const state = await request('GET', `${memberPath(kind, member)}/erasure`, { signal }).catch(unlessMissing);
    if (!state) return;
    const { boards: gone, removed, left, began, ended } = state;
    const missed = left ? `, ${count(left)} could not be gone through` : '';
    const figures = `${count(gone)} boards gone through, removed from ${count(removed)}${missed}.`;
    erasure.replaceChildren(ended ? 'Erased ' : 'The member is being erased, since ', time(ended ?? began), `: ${figures}`);
    if (ended) return wasUnderWay ? draw() : undefined;
    setTimeout(() => signal.aborted || followErasure(true).catch(onProblem), ERASURE_MS);
  }
}

/** @param {unknown} error */
function unlessMissing(error) {
  if (error instanceof Problem && [403, 404].includes(error.status)) return undefined;
  throw error;
}

/**
 * @param {HTMLButtonElement} control
 * @param {string} of what it is about, for those who do not see the row
 */
function labelled(control, of) {
  control.ariaLabel = `${control.textContent}: ${of}`;
  return control;
}

/** @param {string} title */
function section(title) {
  const content = createElement('div', 'section-content');
  return { panel: createElement('section', 'panel', createElement('h2', '', title), content), content };
}
