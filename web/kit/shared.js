// @ts-check

/**
 * What on-demand.js, columns.js, goal.js and reveal.js have of the kit's first file, which gives it: the words of the page, and its rows.
 * An import of that file would load it a second time where its address has a query.
 *
 * @typedef {typeof import('./load.js').shared} Shared
 */

/** @type {Shared['dateParts']} */
export let dateParts;
/** @type {Shared['gapText']} */
export let gapText;
/** @type {Shared['itemsOf']} */
export let itemsOf;
/** @type {Shared['language']} */
export let language;
/** @type {Shared['loadReveal']} */
export let loadReveal;
/** @type {Shared['periodText']} */
export let periodText;
/** @type {Shared['phrase']} */
export let phrase;
/** @type {Shared['roll']} */
export let roll;
/** @type {Shared['Row']} */
export let Row;
/** @type {Shared['scoreFormat']} */
export let scoreFormat;
/** @type {Shared['textIn']} */
export let textIn;

/** @param {Shared} first */
export function share(first) {
  ({ dateParts, gapText, itemsOf, language, loadReveal, periodText, phrase, roll, Row, scoreFormat, textIn } = first);
}
