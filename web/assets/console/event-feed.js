// @ts-check

/** The live feed of an event: what happens, newest first. */

import { Socket } from '../../kit/socket.js';
import { createElement, setText } from '../shared/dom.js';
import { ROOT } from '../shared/links.js';
import { request } from './api.js';
import { button } from './form.js';
import { clock, count } from './format.js';
import { table, tableRow } from './table.js';

/** Older items leave the list. */
const MAX_ITEMS = 100;

const COLUMNS = ['Time', 'Fields'];

/**
 * @param {string} event
 * @param {AbortSignal} signal of the end of the view
 * @returns {HTMLElement} the feed, by a socket of its own with the session of the operator
 */
export function liveFeed(event, signal) {
  const state = createElement('span', 'badge');
  const words = createElement('span', '');
  const told = createElement('p', 'feed-state', state, ' ', words);
  told.role = 'status';
  const pause = button('Pause', toggle);
  const leftOut = createElement('p', 'quiet-text');
  const empty = createElement('p', 'empty', 'Nothing has come yet.');
  const list = table(COLUMNS);
  list.classList.add('feed');
  const head = createElement('div', 'view-head', told, pause);
  const element = createElement('section', 'panel', createElement('h2', '', 'Live'), head, leftOut, empty, list);

  /** Newest last. @type {{ at: string, data: any }[]} */
  let waiting = [];
  let skippedItems = 0;
  let since = '';
  let refusal = '';
  let paused = false;
  let renderRequest = 0;

  const url = new URL('v1/live', ROOT);
  url.protocol = url.protocol.replace('http', 'ws');
  const socket = new Socket(url.href, { onPhase, onFrame, onRenewal() {} }, undefined);
  signal.addEventListener('abort', () => socket.close());
  socket.open();
  render();
  return element;

  function onPhase() {
    since = '';
    if (socket.phase === 'open') socket.send({ type: 'subscribe', feed: event }, onAnswer);
    else if (socket.phase === 'stopped') onRefusal(socket.problem?.message ?? '');
    renderSoon();
  }

  /** @param {import('../../kit/subscription.js').Answer | null} answer */
  function onAnswer(answer) {
    if (answer?.type !== 'error') return;
    if (answer.code === 'unavailable') socket.lose(); // Redis is away: the socket connects again, at growing intervals
    else onRefusal(answer.message);
  }

  /** @param {import('../../kit/subscription.js').Frame} frame */
  function onFrame(frame) {
    if (frame.type === 'error' && !frame.id && frame.feed === event) onRefusal(frame.message); // the right was taken back
    if (frame.type !== 'feed') return;
    since ||= new Date().toISOString();
    skippedItems += frame.skipped;
    waiting = [...waiting, ...frame.items].slice(-MAX_ITEMS);
    renderSoon();
  }

  /** @param {string} message */
  function onRefusal(message) {
    refusal = message;
    socket.close();
    // A session that has ended is nobody's: this request has the console ask for the key.
    request('GET', 'v1/session', { signal }).catch(() => {});
    renderSoon();
  }

  function toggle() {
    if (refusal) {
      refusal = '';
      socket.open();
    } else {
      paused = !paused;
    }
    render();
  }

  function renderSoon() {
    renderRequest ||= requestAnimationFrame(render);
  }

  function render() {
    renderRequest = 0;
    if (!paused) {
      const body = list.tBodies[0];
      for (const item of waiting) body.prepend(tableRow(COLUMNS, [clock(item.at), fieldsOf(item.data)]));
      waiting = [];
      while (body.rows.length > MAX_ITEMS) body.deleteRow(-1);
      list.hidden = body.rows.length === 0;
      empty.hidden = !list.hidden;
    }
    const [name, look, text] = stateWords();
    setText(state, name);
    state.dataset.state = look;
    setText(words, text);
    const more = waiting.length > 0 ? ` (${waiting.length} new)` : '';
    setText(pause, refusal ? 'Try again' : paused ? `Go on${more}` : 'Pause');
    leftOut.hidden = skippedItems === 0;
    setText(leftOut, `${count(skippedItems)} left out: they came faster than the feed shows.`);
  }

  /** @returns {string[]} the name of the state, its look, and words about it */
  function stateWords() {
    if (refusal) return ['refused', 'bad', refusal];
    if (socket.phase === 'away') return ['away', 'bad', 'The console tries again to connect. What comes meanwhile will be missing.'];
    if (!since) return ['connecting', '', ''];
    return paused ? ['paused', 'warn', ''] : ['live', 'good', `since ${clock(since).textContent}`];
  }
}

/** @param {any} data */
function fieldsOf(data) {
  const pairs = Object.entries(data ?? {}).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return createElement('span', 'feed-field', createElement('small', '', name), ' ', createElement('bdi', '', text));
  });
  return createElement('span', 'feed-fields', ...pairs.flatMap((pair) => [pair, ' ']));
}
