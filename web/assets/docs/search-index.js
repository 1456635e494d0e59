// @ts-check

/**
 * Finds sections of the documentation by words. It is pure.
 *
 * page: the last part of the URL; title: the page's; heading: the section's; keywords: words that readers
 * may search for; code: the blocks of code; reference: whether the page is a reference
 * @typedef {{ page: string, title: string, heading: string, anchor: string, text: string, keywords?: string, code?: string,
 *   reference?: boolean }} Section
 *
 * words: the patterns that found the sections; all: whether each section has all of them
 * @typedef {{ sections: Section[], words: RegExp[], all: boolean }} Found
 */

/** The length of an excerpt, and how much of it stands before the match. */
const EXCERPT = 150;
const BEFORE = 40;

/** Words that tell sections apart too little, unless the query has no other. */
const COMMON = new Set('a an and can do does for from how i in is it my of on or own the to what with your'.split(' '));

/**
 * @param {string[]} words
 * @returns {RegExp[]} a pattern for each word, which finds the beginnings of words; the parts of a
 *   word such as data-field stand beside each other; the plural finds the singular
 */
function patterns(words) {
  return words.map((word) => word.match(/[\p{L}\p{N}]+/gu)?.join('[^\\p{L}\\p{N}]{0,3}'))
    .filter((word) => word !== undefined)
    .map((word) => new RegExp(`(?<![\\p{L}\\p{N}])(?:${word.replace(/(.*\p{L}{3}(?<!http))s$/iu, '$&|$1(?![\\p{L}\\p{N}])')})`, 'giu'));
}

/**
 * @param {string} text
 * @param {RegExp[]} words
 * @returns {number} how many of the words the text has
 */
function count(text, words) {
  return words.filter((word) => text.search(word) >= 0).length;
}

/**
 * @param {readonly Section[]} sections
 * @param {string} query
 * @returns {Found} the sections that have all words of the query, or else those with most of them. Those
 *   with more of the words in the heading come first, then in the keywords, then in the page's
 *   title, then those that have the words most often. Sections of a reference come after all others.
 */
export function find(sections, query) {
  const typed = query.toLowerCase().split(/\s+/);
  const telling = typed.filter((word) => !COMMON.has(word));
  const whole = patterns(patterns(telling).length > 0 ? telling : typed);
  const found = having(sections, whole);
  if (whole.length === 0 || found.all && found.sections.length > 0) return found;
  return having(sections, patterns(telling.flatMap((word) => word.split(/[^\p{L}\p{N}]+/u))));
}

/**
 * @param {readonly Section[]} sections
 * @param {RegExp[]} words
 * @returns {Found}
 */
function having(sections, words) {
  const ranked = sections.map((section) => {
    const { title, heading, keywords = '', text, code = '' } = section;
    const all = [title, heading, keywords, text, code].join('\n');
    return {
      section,
      has: count(all, words),
      places: [section.reference ? 0 : 1, count(heading, words), count(keywords, words), count(title, words),
        words.reduce((hits, word) => hits + (`${text}\n${code}`.match(word)?.length ?? 0), 0)],
    };
  });
  const most = Math.max(0, ...ranked.map(({ has }) => has));
  const best = ranked.filter(({ has }) => has > 0 && has === most)
    .sort((a, b) => b.places.map((n, i) => n - a.places[i]).find((difference) => difference !== 0) ?? 0);
  return { sections: best.map(({ section }) => section), words, all: most === words.length };
}

/**
 * @param {Section} section
 * @param {RegExp[]} words
 * @returns {string} the part of the section with most of the words, or its beginning; code only if the
 *   text has none of them
 */
export function excerpt({ text, code = '' }, words) {
  const source = text === '' || count(text, words) === 0 && count(code, words) > 0 ? code : text;
  let match = -1;
  let most = 0;
  for (const { index } of words.flatMap((word) => [...source.matchAll(word)]).sort((a, b) => a.index - b.index)) {
    const has = count(source.slice(index, index + EXCERPT - BEFORE), words);
    if (has > most) [match, most] = [index, has];
  }
  const first = match - BEFORE;
  const space = source.indexOf(' ', first);
  const from = first <= 0 ? 0 : space >= 0 && space < match ? space + 1 : first;
  const end = source.length - from <= EXCERPT ? source.length : source.lastIndexOf(' ', from + EXCERPT);
  const to = end > match + BEFORE || end === source.length ? end : from + EXCERPT;
  return `${from > 0 ? '… ' : ''}${source.slice(from, to)}${to < source.length ? ' …' : ''}`;
}

/**
 * @param {string} text
 * @param {RegExp[]} words
 * @returns {[part: string, isMatch: boolean][]} the text in parts
 */
export function marked(text, words) {
  if (words.length === 0) return [[text, false]];
  // The longest match of a place is marked.
  const sources = words.map(({ source }) => source).sort((a, b) => b.length - a.length);
  const any = new RegExp(`(${sources.join('|')})`, 'giu');
  return text.split(any).map((part, i) => /** @type {[string, boolean]} */ ([part, i % 2 === 1])).filter(([part]) => part !== '');
}
