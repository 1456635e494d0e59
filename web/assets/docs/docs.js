// @ts-check

/**
 * The script of the documentation: copy buttons, the mark in the contents, boxes that scroll, and the
 * search box. A reader needs none of it to read. The documentation is in English only, and so are the
 * words here.
 */

import { byId, setAttribute, setText } from '../shared/dom.js';
import { pageURL, ROOT } from '../shared/links.js';
import { Search } from './search.js';

const COPIED_MS = 2_000;
/** The section that is read is the last one that begins above this part of the window. */
const READING_LINE = 0.12;

const article = byId('docs-article', HTMLElement);
const copyTemplate = byId('docs-copy', HTMLTemplateElement);
const copyStatus = byId('docs-copy-status', HTMLElement);

// Each link to a page of this server keeps the language that the URL asks for, for the way back.
for (const link of document.querySelectorAll('a')) {
  if (link.origin === ROOT.origin && !link.getAttribute('href')?.startsWith('#')) link.href = pageURL(link.href).href;
}

for (const figure of article.querySelectorAll('figure')) {
  const code = figure.querySelector('pre');
  const label = figure.dataset.copy;
  if (code && label) addCopyButton(figure, code, label);
}

// A keyboard scrolls what has the focus.
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const scrolls = target.scrollWidth > target.clientWidth;
    setAttribute(target, 'tabindex', scrolls && '0');
    setAttribute(target, 'role', scrolls && 'region');
    setAttribute(target, 'aria-label', scrolls && boxName(target));
  }
});
const boxes = [...article.querySelectorAll('pre, .table')];
for (const box of boxes) sizes.observe(box);

const contents = document.getElementById('docs-contents');
if (contents) markContents(contents);

// Without a script, the link leads to the folded contents.
const fold = document.getElementById('docs-fold');
document.querySelector('.up')?.addEventListener('click', () => fold?.setAttribute('open', ''));

const search = byId('docs-search', HTMLElement);
search.hidden = false;
new Search({
  element: search,
  input: byId('docs-search-input', HTMLInputElement),
  panel: byId('docs-search-panel', HTMLElement),
  list: byId('docs-search-results', HTMLElement),
  note: byId('docs-search-note', HTMLElement),
  status: byId('docs-search-status', HTMLElement),
});

/**
 * @param {Element} box
 * @returns {string} a name that no other box of the page has
 */
function boxName(box) {
  const kind = box.matches('pre') ? 'Code' : 'Table';
  return `${kind} ${boxes.filter((other) => other.tagName === box.tagName).indexOf(box) + 1}`;
}

/**
 * @param {HTMLElement} figure
 * @param {HTMLElement} code
 * @param {string} label
 */
function addCopyButton(figure, code, label) {
  figure.append(copyTemplate.content.cloneNode(true));
  const button = figure.querySelector('button');
  const done = figure.querySelector('.copied');
  if (!button || !done) return;
  button.ariaLabel = label;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  button.addEventListener('click', async () => {
    clearTimeout(timer);
    let says = 'Copied';
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // The browser lets no page copy by http or without permission. The page selects the code for the reader to copy.
      says = 'Selected';
      getSelection()?.selectAllChildren(code);
    }
    button.toggleAttribute('data-done', says === 'Copied');
    setText(done, says);
    setText(copyStatus, says);
    timer = setTimeout(() => {
      button.removeAttribute('data-done');
      setText(done, '');
      setText(copyStatus, '');
    }, COPIED_MS);
  });
}

/**
 * Marks the section that is read in the contents.
 *
 * @param {HTMLElement} contents
 */
function markContents(contents) {
  const links = [...contents.querySelectorAll('a')];
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  let scheduled = false;
  const mark = () => {
    scheduled = false;
    const line = innerHeight * READING_LINE;
    const atEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
    const current = atEnd ? links.length - 1 : headings.findLastIndex((heading) => heading && heading.getBoundingClientRect().top <= line);
    links.forEach((link, i) => setAttribute(link, 'aria-current', i === current && 'true'));
    // The list scrolls to the mark, and the page does not.
    const link = links[current];
    if (link) {
      const { top, bottom } = link.getBoundingClientRect();
      const room = contents.getBoundingClientRect();
      contents.scrollBy(0, Math.min(0, top - room.top) + Math.max(0, bottom - room.bottom));
    }
  };
  const schedule = () => {
    if (!scheduled) requestAnimationFrame(mark);
    scheduled = true;
  };
  addEventListener('scroll', schedule, { passive: true });
  addEventListener('resize', schedule);
  schedule();
}
