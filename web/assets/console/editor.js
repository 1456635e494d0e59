// @ts-check

/** The editor of definitions: YAML that the server checks while the operator types, with a look at what will change. */

import { createElement } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { Problem, request } from './api.js';
import { announce, button, field, input, problemNote } from './form.js';
import { mayAny } from './session.js';
import { table } from './table.js';

/** From the last letter to the check, ms. */
const CHECK_PAUSE_MS = 300;

/** What one of them is called. */
export const ONE = { boards: 'board', events: 'event' };

/** What a new definition begins with. */
const STARTS = {
  boards: 'title: \nkind: player\nmode: sum\norder: desc\n',
  events: 'updates:\n  - {board: points, member: "{user}", score: "{points}"}\nsender: user\nfields:\n  points: {min: 1, max: 100}\n',
};

const YAML = 'application/yaml';

/**
 * @param {'boards' | 'events'} of
 * @param {string} name
 * @param {AbortSignal} signal
 * @returns {Promise<string>} the present definition, with all defaults where the operator may define; else as JSON
 */
export async function readYAML(of, name, signal) {
  const path = `v1/${of}/${encodeSegment(name)}`;
  const answer = await request('GET', path, { signal });
  const { board: _board, event: _event, ...definition } = of === 'boards' ? answer.definition : answer;
  if (!mayAny('admin')) return JSON.stringify(definition, null, 2);
  return (await request('PUT', path, { query: { dry_run: 'true' }, body: definition, signal })).yaml;
}

/**
 * @param {{ of: 'boards' | 'events', name: string, signal: AbortSignal, onSaved: (name: string) => void }} options
 * name: '' for a new definition, whose name the operator types
 * @returns {HTMLElement}
 */
export function definitionEditor({ of, name, signal, onSaved }) {
  const form = createElement('form', 'editor');
  const named = input('name', { required: true, placeholder: of === 'boards' ? 'points, or fans:{star}' : 'gift' });
  const text = createElement('textarea', 'code');
  Object.assign(text, { rows: 14, spellcheck: false, autocapitalize: 'none', autocomplete: 'off', value: name ? '' : STARTS[of] });
  const result = createElement('div', 'checked');
  result.role = 'status';
  const save = createElement('button', 'button primary', 'Save');
  save.disabled = true;
  const complete = button('Show all fields with their defaults', () => {
    text.value = checked?.yaml ?? text.value;
    check();
  });
  complete.disabled = true;
  if (!name) form.append(field('Name', named, 'It cannot be changed later.'));
  form.append(field('Definition, in YAML', text), result, createElement('div', 'buttons', save, complete));

  /** What the server says of the text as it is; undefined: the text is refused, or not checked. @type {any} */
  let checked;
  let checking = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    checking.abort();
  });
  form.addEventListener('input', () => {
    setChecked(undefined);
    clearTimeout(timer);
    timer = setTimeout(check, CHECK_PAUSE_MS);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    store();
  });
  start();
  return form;

  async function start() {
    if (!name) return;
    text.readOnly = true; // what is typed before the definition is there would be lost, or would replace it
    try {
      text.value = await readYAML(of, name, signal);
    } catch (error) {
      if (!signal.aborted) result.replaceChildren(problemNote(error), button('Try again', start));
      return;
    }
    text.readOnly = false;
    check();
  }

  /** @param {{ [name: string]: string }} [query] */
  function put(query) {
    const path = `v1/${of}/${encodeSegment(name || named.value.trim())}`;
    return request('PUT', path, { query, text: text.value, type: YAML, signal: query ? checking.signal : signal });
  }

  async function check() {
    checking.abort();
    checking = new AbortController();
    const { signal: current } = checking;
    if (!name && !named.value.trim()) return result.replaceChildren('Type a name.');
    try {
      const answer = await put({ dry_run: 'true' });
      if (current.aborted) return;
      setChecked(answer);
      result.replaceChildren(...preview(answer, of));
    } catch (error) {
      if (!current.aborted) refuse(error);
    }
  }

  /** @param {any} answer */
  function setChecked(answer) {
    checked = answer;
    save.disabled = !answer || !answer.is_new && answer.changes.length === 0;
    complete.disabled = !answer || answer.yaml === text.value;
    text.removeAttribute('aria-invalid');
  }

  /** @param {unknown} error */
  function refuse(error) {
    if (!(error instanceof Error)) throw error;
    setChecked(undefined);
    const note = createElement('p', 'problem', error.message);
    // Not the text is wrong: Redis is away, the session has ended, or there are too many requests.
    if (!(error instanceof Problem) || error.status === 0 || error.status >= 500 || [401, 429].includes(error.status)) {
      return result.replaceChildren(note, button('Check again', check));
    }
    text.ariaInvalid = 'true';
    const line = lineOf(error, text.value);
    result.replaceChildren(note);
    if (line) {
      result.append(button(`Go to line ${line}`, () => {
        const before = text.value.split('\n').slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
        text.focus();
        text.setSelectionRange(before, before + text.value.split('\n')[line - 1].length);
      }));
    }
  }

  async function store() {
    if (!checked || save.disabled) return;
    save.disabled = true;
    try {
      const is = await put();
      const saved = name || is.board || is.event;
      announce(checked.is_new ? `${saved} is defined.` : `The definition of ${saved} has changed.`);
      onSaved(saved);
    } catch (error) {
      refuse(error);
    }
  }
}

/**
 * @param {any} answer of a dry run
 * @param {'boards' | 'events'} of
 * @returns {Node[]}
 */
function preview({ is_new: isNew, changes }, of) {
  const is = createElement('p', '', isNew ? `This defines a new ${ONE[of]}.`
    : changes.length ? 'This changes:' : 'Nothing changes.');
  if (isNew || !changes.length) return [is];
  const rows = changes.map((/** @type {any} */ { field: of, was, now }) => [of, shown(was), shown(now)]);
  return [is, table(['Field', 'Now', 'Then'], rows)];
}

/** @param {unknown} value */
function shown(value) {
  return createElement('bdi', 'code', value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value));
}

/**
 * @param {Problem} problem
 * @param {string} text
 * @returns {number} the line of the text that the problem is about, from 1; 0: it is not known
 */
function lineOf({ message, field: of }, text) {
  const told = /\bline (\d+)/.exec(message);
  if (told) return Number(told[1]);
  const [first] = of.split(/[.[]/);
  return first ? text.split('\n').findIndex((line) => line.startsWith(`${first}:`)) + 1 : 0;
}
