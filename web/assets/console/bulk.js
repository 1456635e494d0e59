// @ts-check

/** One act of moderation on many members, whose ids the operator pastes: one request after the other, until all are done. */

import { createElement, setText } from '../shared/dom.js';
import { Problem, request } from './api.js';
import { ask } from './dialog.js';
import { announce, button, field, input, memberLink, select, showProblem } from './form.js';
import { count } from './format.js';
import { eraseTexts, hiddenPath, hideTexts, memberPath, namesList, placeText, reasonOf, SHOW_TEXT } from './moderation.js';
import { session } from './session.js';
import { table, tableRow } from './table.js';

const MAX_MEMBERS = 1_000;
/** The members that a preview names. */
const NAMED = 10;
const COLUMNS = ['Member', 'Problem'];

/**
 * @typedef {import('./definitions.js').Definitions} Definitions
 * @typedef {import('./moderation.js').Place} Place
 * @typedef {{ method: 'PUT' | 'DELETE', path: (member: string) => string, body: object | undefined }} Act
 */

/**
 * @param {string[]} kinds that the operator may moderate
 * @param {Definitions} definitions
 * @param {AbortSignal} signal of the end of the view
 * @returns {HTMLElement}
 */
export function bulkPanel(kinds, definitions, signal) {
  const ids = createElement('textarea', '');
  Object.assign(ids, { name: 'ids', required: true, spellcheck: false });
  const onBoard = session?.boards.length ? [['hide', 'hide on a board'], ['show', 'show again on a board']] : [];
  const onKind = kinds.length
    ? [['hideAll', 'hide on all boards of a kind'], ['showAll', 'show again on all boards of a kind'], ['erase', 'erase']] : [];
  const act = select('act', /** @type {[string, string][]} */ ([...onKind, ...onBoard]));
  const kind = select('kind', kinds);
  const board = input('board', { required: true });
  const [ofKind, ofBoard] = [field('Kind', kind), field('Board', board)];
  const preview = createElement('p', 'quiet-text');
  const go = createElement('button', 'button', 'Look at what it will do …');
  const form = createElement('form', 'bulk', field('Ids', ids, `Up to ${count(MAX_MEMBERS)}, separated by lines, commas or spaces.`),
    createElement('div', 'row', field('Act', act), ofKind, ofBoard), preview, createElement('div', 'buttons', go));
  const run = createElement('div', 'section-content');
  form.addEventListener('input', draw);
  form.addEventListener('submit', start);
  draw();
  return createElement('section', 'panel', createElement('h2', '', 'Many at once'), form, run);

  function draw() {
    const isOnBoard = ['hide', 'show'].includes(act.value);
    [ofKind.hidden, ofBoard.hidden, board.disabled] = [isOnBoard, !isOnBoard, !isOnBoard];
    const { members, doubles } = membersIn(ids.value);
    const tooMany = `These are ${membersText(members.length)}; at most ${count(MAX_MEMBERS)} go at once.`;
    ids.setCustomValidity(members.length > MAX_MEMBERS ? tooMany : '');
    const again = doubles ? `; ${count(doubles)} given again` : '';
    setText(preview, members.length ? `${membersText(members.length)}${again}.` : 'No member yet.');
  }

  /** @param {SubmitEvent} event */
  async function start(event) {
    event.preventDefault();
    showProblem(form);
    const { members } = membersIn(ids.value);
    /** @type {Place} */
    const place = ofKind.hidden ? { board: board.value.trim() } : { kind: kind.value };
    const isErasure = act.value === 'erase';
    const hides = act.value.startsWith('hide');
    const verb = isErasure ? 'Erase' : hides ? 'Hide' : 'Show again';
    /** @type {Act} */
    const does = {
      method: hides ? 'PUT' : 'DELETE',
      path: (member) => (isErasure && 'kind' in place ? memberPath(place.kind, member) : hiddenPath(place, member)),
      body: undefined,
    };
    const texts = isErasure ? eraseTexts(kind.value, definitions) : hides ? hideTexts(place, definitions) : [SHOW_TEXT];
    const first = namesList(members.slice(0, NAMED));
    const named = members.length > NAMED ? `The first ${NAMED} of ${membersText(members.length)}:` : `${membersText(members.length)}:`;
    const asked = await ask({
      title: `${verb} ${membersText(members.length)}${isErasure ? ' for ever' : ` on ${placeText(place)}`}`,
      content: ['Of each of them:', ...texts, named, first],
      action: isErasure ? 'Erase for ever' : verb,
      danger: isErasure || hides,
      reason: isErasure ? 'required' : 'optional',
      typed: isErasure ? `erase ${members.length}` : undefined,
      submit: async (values) => {
        does.body = reasonOf(values);
      },
    });
    if (!asked) return;
    const of = 'kind' in place ? place.kind : definitions.boardOf(place.board)?.kind;
    await runAll(run, members, does, of, go, signal);
  }
}

/**
 * @param {HTMLElement} place for the progress
 * @param {string[]} members
 * @param {Act} act
 * @param {string | undefined} kind of the members; undefined: it is not known
 * @param {HTMLButtonElement} go is disabled meanwhile: one run at a time
 * @param {AbortSignal} signal of the end of the view, which ends the run
 */
async function runAll(place, members, act, kind, go, signal) {
  go.disabled = true;
  const bar = createElement('progress', '');
  bar.max = members.length;
  bar.setAttribute('aria-label', 'Members done');
  const told = createElement('p', '');
  const ended = createElement('p', '');
  ended.role = 'status';
  const failures = table(COLUMNS);
  const stopped = new AbortController();
  const stop = button('Stop', () => stopped.abort());
  place.replaceChildren(bar, told, createElement('div', 'buttons', stop), ended, failures);
  failures.hidden = true;
  stop.focus();
  const either = AbortSignal.any([signal, stopped.signal]);
  /** @type {string[]} */
  const failed = [];
  let next = 0;
  for (; next < members.length && !either.aborted; next++) {
    const member = members[next];
    bar.value = next;
    setText(told, doneText());
    const problem = await attempt(member);
    if (either.aborted || problem?.status === 401) break;
    if (!problem) continue;
    failed.push(member);
    failures.hidden = false;
    const who = kind ? memberLink(kind, member) : createElement('bdi', '', member);
    failures.tBodies[0].append(tableRow(COLUMNS, [who, createElement('span', 'problem', problem.message)]));
  }
  go.disabled = false;
  bar.value = next;
  const rest = [...failed, ...members.slice(next)];
  const text = `${membersText(next - failed.length)} done, ${count(failed.length)} failed, ${count(members.length - next)} left.`;
  setText(told, '');
  setText(ended, text);
  announce(signal.aborted ? `The view was left: ${text}` : text);
  if (rest.length) stop.replaceWith(button(`Try ${membersText(rest.length)} again`, () => runAll(place, rest, act, kind, go, signal)));
  else stop.remove();

  function doneText() {
    return `${count(next)} of ${count(members.length)} done.`;
  }

  /**
   * @param {string} member
   * @returns {Promise<Problem | undefined>} why it has failed; it waits as long as the server asks for
   */
  async function attempt(member) {
    for (;;) {
      try {
        await request(act.method, act.path(member), { body: act.body });
        return undefined;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (![429, 503].includes(error.status) || !error.retryAfter) return error;
        setText(told, `${doneText()} The server asks for a pause of ${count(error.retryAfter)} s: ${error.message}`);
        await pause(error.retryAfter * 1000, either);
        if (either.aborted) return error;
      }
    }
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal ends it early
 * @returns {Promise<void>}
 */
function pause(ms, signal) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve());
  });
}

/**
 * @param {string} text
 * @returns {{ members: string[], doubles: number }}
 */
function membersIn(text) {
  const all = text.split(/[\s,]+/).filter(Boolean);
  const members = [...new Set(all)];
  return { members, doubles: all.length - members.length };
}

/** @param {number} n */
function membersText(n) {
  return n === 1 ? '1 member' : `${count(n)} members`;
}
