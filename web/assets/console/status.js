// @ts-check

/** Is all well? The verdict, what is not well and what to do, and the state of each node and each Redis. */

import { createElement, setText } from '../shared/dom.js';
import { Problem, repeat, request } from './api.js';
import { amount, count, size, time, UNKNOWN } from './format.js';
import { table } from './table.js';

/** Nodes report every two seconds. */
const POLL_MS = 2_000;

const NODE_COLUMNS = ['Node', 'Up since', 'Clients', 'Subscriptions', 'Followers', 'Updates a second', 'Frames a second', 'Score to frame',
  'CPU', 'Memory'];
const LATELY_COLUMNS = ['Node', 'Limits met', 'Boards read again', 'Slow builds', 'Webhook attempts', 'Queue', 'Certificate ends'];
const REDIS_COLUMNS = ['Redis', 'Ping', 'Commands a second', 'Memory', 'Clients', 'Saved', 'Replicas'];

/** @type {import('./console.js').Show} */
export function show(view, _path, signal) {
  const verdict = createElement('p', 'verdict');
  verdict.role = 'status';
  const problems = createElement('ul', 'problems');
  const nodes = createElement('section', 'panel');
  const lately = createElement('section', 'panel');
  const redis = createElement('section', 'panel');
  view.append(createElement('h1', '', 'Is all well?'), verdict, problems);
  repeat(POLL_MS, async (stop) => {
    try {
      render(await request('GET', 'v1/nodes', { signal: stop }));
    } catch (error) {
      if (!(error instanceof Problem) || stop.aborted) throw error;
      tell('bad', `This node cannot tell. ${error.message}`);
      for (const section of [nodes, redis, lately]) section.dataset.stale = '';
      problems.replaceChildren();
      throw error;
    }
  }, signal);

  /**
   * @param {'good' | 'bad'} state
   * @param {string} text which the tab shows too
   */
  function tell(state, text) {
    verdict.dataset.state = state;
    setText(verdict, text);
    document.title = `${text} · Rankcast console`;
  }

  /** @param {any} is */
  function render(is) {
    const n = is.problems.length;
    tell(is.well ? 'good' : 'bad', is.well ? 'All is well.' : n === 1 ? 'One thing is not well.' : `${count(n)} things are not well.`);
    for (const section of [nodes, redis, lately]) delete section.dataset.stale;
    problems.replaceChildren(...is.problems.map(problem));
    const isSilent = (/** @type {string} */ id) => is.problems.some((/** @type {any} */ p) => p.node === id && p.code === 'node_silent');
    const nodeCells = (/** @type {any} */ node) => cellsOf(node, isSilent(node.id) ? 'silent' : node.reason ? 'not ready' : 'ready');
    nodes.replaceChildren(createElement('h2', '', is.nodes.length === 1 ? 'One node' : `${count(is.nodes.length)} nodes`),
      table(NODE_COLUMNS, is.nodes.map(nodeCells)));
    lately.replaceChildren(createElement('h2', '', 'The last ten minutes'), table(LATELY_COLUMNS, is.nodes.map(latelyCells)));
    redis.replaceChildren(createElement('h2', '', 'Redis'), table(REDIS_COLUMNS, is.redis.map(redisCells)));
    if (!nodes.parentElement) view.append(nodes, redis, lately);
  }
}

/** @param {any} problem */
function problem({ node, redis, message, advice }) {
  const what = createElement('strong', '', node ? `Node ${node} ${message}.` : `${message}${redis ? ` (${redis})` : ''}.`);
  return createElement('li', 'panel', createElement('p', '', what), createElement('p', '', advice));
}

/**
 * @param {any} node
 * @param {string} state
 */
function cellsOf(node, state) {
  const { id, role, version, started, p50, p99 } = node;
  const badge = createElement('span', 'badge', state);
  badge.dataset.state = state === 'ready' ? 'good' : 'bad';
  const about = createElement('small', '', `${role === 'ingest' ? 'ingest, ' : ''}${version}`);
  const name = createElement('span', 'titled', id, ' ', badge, ' ', about);
  const latency = p50 === null ? UNKNOWN : `${amount(p50)} ms, p99 ${amount(p99)} ms`;
  return [name, time(started), count(node.sockets + node.streams), count(node.subscriptions), count(node.followers), amount(node.updates),
    amount(node.frames), latency, amount(node.cpu, 'cores'), size(node.memory)];
}

/** @param {any} node */
function latelyCells({ id, limits, resyncs, slow_builds: builds, webhooks, queue, tls }) {
  return [id, counts(limits), counts(resyncs), count(builds), counts(webhooks),
    queue ? `${count(queue.entries)} entries, ${amount(queue.lag, 's')} behind, ${count(queue.dead_letters)} dead letters` : 'none',
    tls?.expires ? time(tls.expires) : 'none'];
}

/** @param {{ [name: string]: number }} of */
function counts(of) {
  return Object.entries(of).map(([name, n]) => `${name.replaceAll('_', ' ')}: ${count(n)}`).join(', ') || 'none';
}

/** @param {any} master */
function redisCells(master) {
  const { address, fault, version, ping, operations, memory, max_memory: most, clients, max_clients: mostClients, replicas } = master;
  const badge = createElement('span', 'badge', fault ? 'away' : 'answers');
  badge.dataset.state = fault ? 'bad' : 'good';
  const name = createElement('span', 'titled', address ?? 'the master', ' ', badge, ' ', createElement('small', '', version ?? ''));
  return [name, amount(ping, 'ms'), count(operations), most ? `${size(memory)} of ${size(most)}` : size(memory),
    mostClients ? `${count(clients)} of ${count(mostClients)}` : count(clients), saved(master),
    replicas === null || fault ? UNKNOWN : replicas.map(replica).join('; ') || 'none'];
}

/** @param {any} master */
function saved({ aof, aof_ok: aofOK, rdb_ok: rdbOK }) {
  if (aof === null && rdbOK === null) return UNKNOWN;
  if (aof) return aofOK === false ? 'the last write to the AOF failed' : 'AOF';
  return rdbOK === false ? 'the last snapshot failed' : 'snapshots';
}

/** @param {any} replica */
function replica({ address, online, behind, silent }) {
  if (!online) return `${address}: does not follow`;
  return `${address}: ${size(behind)} behind, heard ${silent === null ? 'never' : `${count(silent)} s ago`}`;
}
