// @ts-check

/**
 * Finds sections of the documentation by words. It is pure.
 *
 * page: the last part of the URL; title: the page's; heading: the section's
 * @typedef {{ page: string, title: string, heading: string, anchor: string, text: string }} Section
 */

/** The length of an excerpt, and how much of it stands before the match. */
const EXCERPT = 150;
const BEFORE = 40;

/**
 * @param {string} query
 * @returns {RegExp[]} a pattern for each word, which finds the beginnings of words
 */
function patterns(query) {
  return (query.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => new RegExp(`(?<![\\p{L}\\p{N}])${word}`, 'giu'));
}

/**
 * @param {readonly Section[]} sections
 * @param {string} query
 * @returns {Section[]} the sections in which each word of the query begins a word. Those with more
 *   of the words in the heading come first, then those with more in the page's title.
 */
export function find(sections, query) {
  const words = patterns(query);
  if (words.length === 0) return [];
  const count = (/** @type {string} */ text) => words.filter((word) => text.search(word) >= 0).length;
  return sections
    .filter(({ title, heading, text }) => count(`${title} ${heading} ${text}`) === words.length)
    .map((section) => ({ section, inHeading: count(section.heading), inTitle: count(section.title) }))
    .sort((a, b) => b.inHeading - a.inHeading || b.inTitle - a.inTitle)
    .map(({ section }) => section);
}

/**
 * @param {string} text
 * @param {string} query
 * @returns {string} the part of the text around the first match, or its beginning
 */
export function excerpt(text, query) {
  const places = patterns(query).map((word) => text.search(word)).filter((place) => place >= 0);
  const first = Math.max(0, Math.min(...places, text.length) - BEFORE);
  const from = places.length === 0 || first === 0 ? 0 : text.indexOf(' ', first) + 1;
  const end = text.length - from <= EXCERPT ? text.length : text.lastIndexOf(' ', from + EXCERPT);
  const to = end > from ? end : from + EXCERPT;
  return `${from > 0 ? '… ' : ''}${text.slice(from, to)}${to < text.length ? ' …' : ''}`;
}

/**
 * @param {string} text
 * @param {string} query
 * @returns {[part: string, isMatch: boolean][]} the text in parts
 */
export function marked(text, query) {
  const words = patterns(query).map(({ source }) => source);
  if (words.length === 0) return [[text, false]];
  // The longest match of a place is marked.
  const any = new RegExp(`(${words.sort((a, b) => b.length - a.length).join('|')})`, 'giu');
  return text.split(any).map((part, i) => /** @type {[string, boolean]} */ ([part, i % 2 === 1])).filter(([part]) => part !== '');
}
