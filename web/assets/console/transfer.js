// @ts-check

/** The export and the import of a board. */

import { createElement } from '../shared/dom.js';
import { encodeSegment, ROOT } from '../shared/links.js';
import { Problem } from './api.js';
import { ask } from './dialog.js';
import { announce, button, field, input, problemNote } from './form.js';
import { count, size } from './format.js';
import { table } from './table.js';

/**
 * @param {string} board
 * @param {any} about the answer about the board
 * @param {AbortSignal} signal leaving the view stops an import
 * @returns {HTMLElement}
 */
export function transferPanel(board, about, signal) {
  const path = `v1/boards/${encodeSegment(board)}`;
  const panel = createElement('section', 'panel', createElement('h2', '', 'Export and import'));
  const exports = ['csv', 'ndjson'].map((format) => {
    const element = createElement('a', 'button', `Export as ${format.toUpperCase()}`);
    element.href = new URL(`${path}/export?format=${format}`, ROOT).href;
    element.download = `${board.replace(/[^\w.-]+/g, '_')}.${format}`;
    return element;
  });
  panel.append(createElement('p', 'buttons', ...exports),
    createElement('p', 'quiet-text', 'An export holds all members but the hidden ones, with score and data.'));
  const { window, union } = about.definition;
  if (!about.final && !board.includes('@') && !window && !union) panel.append(importForm(board, path, signal));
  return panel;
}

/**
 * @param {string} board
 * @param {string} path
 * @param {AbortSignal} signal
 */
function importForm(board, path, signal) {
  const file = input('file', { type: 'file', accept: '.csv,.ndjson,.jsonl', required: true });
  const result = createElement('div', 'import-result');
  result.role = 'status';
  const start = button('Import', async () => {
    const [chosen] = file.files ?? [];
    if (!chosen) return file.reportValidity();
    await ask({
      title: 'Import these scores?',
      content: [`Each line of ${chosen.name} (${size(chosen.size)}) sets the score of its member on ${board}.`,
        'Other members stay as they are.'],
      action: 'Import',
      submit: async () => {
        load(chosen);
      },
    });
  });
  const hint = createElement('p', 'quiet-text', 'CSV with the columns member, score and data, or NDJSON, as an export has them.');
  return createElement('div', 'import', createElement('div', 'row', field('File', file), start), hint, result);

  /** @param {File} chosen */
  async function load(chosen) {
    const bar = createElement('progress', '');
    bar.setAttribute('aria-label', 'Import');
    const text = createElement('p', 'quiet-text', 'Sending …');
    const stop = button('Stop', () => sending.abort());
    result.replaceChildren(bar, text, stop);
    start.disabled = true;
    const sending = send(path, chosen, (sent) => {
      bar.value = sent / Math.max(chosen.size, 1);
      text.textContent = sent < chosen.size ? `${size(sent)} of ${size(chosen.size)} sent` : 'All sent. The server is counting.';
    });
    signal.addEventListener('abort', () => sending.abort());
    try {
      const done = await sending.answer;
      announce(`${count(done.imported)} scores are imported.`);
      result.replaceChildren(createElement('p', '', `${count(done.imported)} scores are imported, ${count(done.refused)} refused.`));
      if (done.first_errors.length) {
        const rows = done.first_errors.map((/** @type {any} */ { line, message }) => [count(line), createElement('bdi', '', message)]);
        result.append(table(['Line', 'Why it was refused'], rows));
      }
    } catch (error) {
      result.replaceChildren(problemNote(error));
    }
    start.disabled = false;
  }
}

/**
 * Sends a file, which may be larger than memory. Only this kind of request tells how much was sent.
 *
 * @param {string} path
 * @param {File} file
 * @param {(sent: number) => void} onProgress
 * @returns {{ answer: Promise<any>, abort: () => void }}
 */
function send(path, file, onProgress) {
  const request = new XMLHttpRequest();
  request.open('POST', new URL(`${path}/import`, ROOT));
  request.setRequestHeader('content-type', file.name.toLowerCase().endsWith('.csv') ? 'text/csv' : 'application/x-ndjson');
  request.responseType = 'json';
  request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded));
  const answer = new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ detail) => reject(new Problem(request.status, { detail, ...request.response }));
    request.addEventListener('load', () => {
      if (request.status === 401) dispatchEvent(new Event('signedout'));
      return request.status === 200 ? resolve(request.response) : fail('');
    });
    request.addEventListener('error', () => fail('The server has ended the connection. Lines that were imported stay.'));
    request.addEventListener('abort', () => fail('The import was stopped. Lines that were imported stay.'));
  });
  request.send(file);
  return { answer, abort: () => request.abort() };
}
