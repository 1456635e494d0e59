// @ts-check

/**
 * How the score of a board with columns reads. The functions are pure. What they need of format.js comes from their callers:
 * this module is in the file that the kit loads for columns, and in the scripts of pages.
 *
 * @import {Column} from './rankcast.js'
 * @import {Scored} from './row.js'
 *
 * @typedef {Pick<typeof import('./format.js'), 'gapText' | 'language' | 'phrase' | 'scoreFormat' | 'textIn'>} Writer
 *
 * short: a value that may be abbreviated, without the unit
 * @typedef {{ name: string, title: string, unit: string, isAscending: boolean, exact: (value: number) => string,
 *   short: (value: number) => string }} Head
 */

/** As FULL_LENGTH of row.js. */
const FULL_LENGTH = 13;
/** The widest title that widens its column, in figures: a longer one has two lines, or is cut. */
const WIDEST_TITLE = 8;
/** Widths of a letter of a head, which is small, in figures: of most scripts, and of those with square letters. */
const [LETTER, SQUARE_LETTER] = [0.75, 1.25];
/** What a word needs besides: some have wide letters. */
const WORD = 0.25;
/** Widths of what stands between the figures of a value, and of a square letter, as of 万. */
const [POINT, SQUARE_SIGN] = [0.5, 1.75];
/** The width of a figure, and the room between two columns, in em. */
const [FIGURE_EM, GAP_EM] = [0.64, 0.75];
/** The most room of columns for which a list has one line in a row, up to a width of the list: see columns.css. */
const ROOMS_EM = [8, 15, 23, 32];

/**
 * @param {readonly Column[]} columns
 * @param {Writer} writer
 * @returns {Head[]}
 */
export function headsOf(columns, { scoreFormat, textIn }) {
  return columns.map(({ name, order, title, display = {} }) => ({
    name,
    title: textIn(title) || name,
    unit: textIn(display.unit).replace(/.*[|]/, ''),
    isAscending: order === 'asc',
    exact: scoreFormat(display),
    short: scoreFormat({ ...display, unit: undefined }, FULL_LENGTH),
  }));
}

/**
 * @param {readonly Column[]} columns
 * @param {Writer} writer
 * @returns {{ exact: import('./row.js').Format, gap: import('./row.js').GapFormat, toNext: import('./row.js').GapFormat }} sentences
 */
export function columnFormats(columns, writer) {
  const { gapText, language, phrase } = writer;
  const heads = headsOf(columns, writer);
  const list = new Intl.ListFormat(language, { style: 'narrow' });
  /** @param {boolean} direction whether the text says that less is missing */
  const gapFormat = (direction) =>
    /** @type {import('./row.js').GapFormat} */ (_, above, entry) => {
      // The first column that differs decides.
      for (const head of heads) {
        const missing = entry ? better(head, above, entry) : (above?.to_next_columns?.[head.name] ?? 0);
        const score = gapText(head.exact(Math.abs(missing)));
        if (missing !== 0) return phrase(direction && head.isAscending ? 'column_less' : 'column_gap', { score, column: head.title });
      }
      return '';
    };
  return {
    exact: (_, entry) =>
      list.format(heads.map((head) => phrase('column', { column: head.title, score: head.exact(valueOf(head, entry)) }))),
    gap: gapFormat(false),
    toNext: gapFormat(true),
  };
}

/**
 * @param {Head} head
 * @param {Scored | undefined} entry
 */
export function valueOf({ name }, entry) {
  return entry?.columns?.[name] ?? 0;
}

/**
 * @param {Head} head
 * @param {Scored | undefined} above
 * @param {Scored} entry
 * @returns {number} by how much the upper entry is better in the column
 */
function better(head, above, entry) {
  return (valueOf(head, above) - valueOf(head, entry)) * (head.isAscending ? -1 : 1);
}

/**
 * The server computes the same, see server/pages/columns.go.
 *
 * @param {Head} head
 * @returns {number} the width that a column needs for its head, in figures
 */
export function headWidth({ title, unit }) {
  const words = `${title} ${unit}`.split(' ');
  return Math.min(WIDEST_TITLE, WORD + Math.max(...words.map((word) => sumOf(word, (c) => (isSquare(c) ? SQUARE_LETTER : LETTER)))));
}

/**
 * @param {string} text of a value
 * @returns {number} the width that a column needs for it, in figures
 */
export function valueWidth(text) {
  return sumOf(text, (c) => (isSquare(c) ? SQUARE_SIGN : /[.,:]/.test(c) ? POINT : 1));
}

/** @param {string} c */
function isSquare(c) {
  return c > '\u2e80';
}

/**
 * @param {string} text
 * @param {(c: string) => number} width of a character
 */
function sumOf(text, width) {
  return [...text].reduce((sum, c) => sum + width(c), 0);
}

/**
 * @param {readonly number[]} widths of all columns, in figures
 * @returns {number} 1 to 5: the room of all columns, by which a narrow list has them in a second line of each row
 */
export function roomOf(widths) {
  return 1 + ROOMS_EM.filter((most) => emOfAll(widths) > most).length;
}

/**
 * @param {number} width in figures
 * @returns {number} in em
 */
export function emOf(width) {
  return Math.round(width * FIGURE_EM * 100) / 100;
}

/**
 * @param {readonly number[]} widths in figures
 * @returns {number} of columns side by side, in em
 */
export function emOfAll(widths) {
  return emOf(widths.reduce((sum, width) => sum + width, 0)) + GAP_EM * (widths.length - 1);
}
