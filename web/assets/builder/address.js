// @ts-check

/** The options of an overlay in the form of the builder, and in an address, which leaves out what is the default. */

import { ACCENT, CHOICES, NAMES, NUMBERS, readOptions, TEXTS } from '../overlay/options.js';
import { decodeSegment, ROOT } from '../shared/links.js';
import { URLOptions } from '../shared/url-options.js';

/** The size of a source in OBS, px, which OBS reads from a link that is dropped on it. */
export const SIZE = ['layer-width', 'layer-height'];
/** The language of the overlay in the address of the builder, which has its own in `lang`. The overlay ignores it, as it does SIZE. */
const LANG = 'layer-lang';

/**
 * @param {HTMLFormElement} form
 * @returns {URLSearchParams} the options of the form that the mode uses and that differ from the defaults, right or wrong
 */
export function readForm(form) {
  const query = new URLSearchParams();
  for (const name of NAMES) {
    const value = isUsed(form, name) ? valueOf(form, name) : undefined;
    if (value !== undefined) query.set(name, value);
  }
  return query;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name of an option
 * @returns {boolean} whether the mode has it; an event is that of alerts
 */
export function isUsed(form, name) {
  if (name === 'event') return valueOf(form, 'gifts') !== undefined;
  const modes = form.querySelector(`[name="${name}"]`)?.closest('[data-modes]')?.getAttribute('data-modes');
  return !modes || modes.split(' ').includes(String(new FormData(form).get('mode')));
}

/**
 * @param {URLSearchParams} query of an overlay
 * @returns {Map<string, string>} what is wrong with it, by option
 */
export function faultsOf(query) {
  const options = new URLOptions(query);
  readOptions(options);
  return options.wrong;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name of an option
 * @returns {string | undefined} undefined: the default
 */
function valueOf(form, name) {
  const field = form.elements.namedItem(name);
  const own = form.elements.namedItem(`has-${name}`);
  const isOn = own instanceof HTMLInputElement && own.checked;
  if (field instanceof HTMLInputElement && field.type === 'checkbox') {
    const value = field.checked === (field.value === CHOICES[name][0]) ? CHOICES[name][0] : CHOICES[name][1];
    return value === CHOICES[name][0] ? undefined : value;
  }
  const value = field && 'value' in field ? field.value.trim() : '';
  if (name === 'accent') return isOn ? shortColor(value) : undefined;
  if (name in TEXTS && !isOn) return '';
  const isDefault = value === '' || (name !== 'lang' && value === CHOICES[name]?.[0]) || value === String(NUMBERS[name]?.[2]);
  return isDefault ? undefined : value;
}

/**
 * @param {string} color as #aabbcc
 * @returns {string} as the address has it: abc
 */
function shortColor(color) {
  return color.slice(1).replace(/^(.)\1(.)\2(.)\3$/, '$1$2$3');
}

/**
 * Sets the form to what an address says, and everything else to its default.
 *
 * @param {HTMLFormElement} form
 * @param {URLSearchParams} query
 */
export function fillForm(form, query) {
  form.reset();
  for (const name of NAMES) {
    const value = query.get(name);
    const field = form.elements.namedItem(name);
    const own = form.elements.namedItem(`has-${name}`);
    if (own instanceof HTMLInputElement) own.checked = name === 'accent' ? ACCENT.test(value ?? '') : value !== '';
    if (!value) continue;
    if (name in CHOICES && !CHOICES[name].includes(value)) continue;
    if (field instanceof HTMLInputElement && field.type === 'checkbox') field.checked = field.value === value;
    else if (name === 'accent' && field instanceof HTMLInputElement)
      field.value = `#${value.length === 3 ? value.replace(/./g, '$&$&') : value}`.toLowerCase();
    else if (field && 'value' in field && !isBeyond(field, value)) field.value = value;
  }
}

/**
 * @param {object} field
 * @param {string} value
 * @returns {boolean} whether the field is a slider that has no such place, and would take the nearest one
 */
function isBeyond(field, value) {
  return field instanceof HTMLInputElement && field.type === 'range' && !(Number(value) >= +field.min && Number(value) <= +field.max);
}

/**
 * @param {string} pasted an address of an overlay, of any server and with or without a scheme, or of the pages of a board
 * @returns {{ host: string, board: string, query: URLSearchParams } | undefined} undefined: it is none
 */
export function parseAddress(pasted) {
  const address = pasted.trim();
  const full = /^[a-z][a-z\d+.-]*:\/\//i.test(address) || address.startsWith('/') ? address : `//${address}`;
  if (!URL.canParse(full, ROOT.href)) return undefined;
  const { host, pathname, searchParams } = new URL(full, ROOT);
  const [, page, segment] = /\/(overlay|boards)\/([^/]+)(?:\/|\/overlay)?$/.exec(pathname) ?? [];
  if (!segment) return undefined;
  const query = page === 'overlay' ? searchParams : overlayQuery(searchParams);
  return { host, board: decodeSegment(segment), query };
}

/**
 * @param {URLSearchParams} query of the builder
 * @returns {URLSearchParams} that of its overlay
 */
export function overlayQuery(query) {
  const own = new URLSearchParams([...query].filter(([name]) => name !== 'lang' && name !== LANG));
  const lang = query.get(LANG);
  if (lang) own.set('lang', lang);
  return own;
}

/**
 * @param {URL} builder
 * @param {URLSearchParams} query of its overlay
 * @returns {URL} the builder with it
 */
export function withOverlay(builder, query) {
  const all = new URLSearchParams(builder.search);
  for (const [name, value] of query) all.set(name === 'lang' ? LANG : name, value);
  return withQuery(builder, all);
}

/**
 * @param {URL} page
 * @param {URLSearchParams} query
 * @returns {URL} the page with a query, in which commas and the like stay readable
 */
export function withQuery(page, query) {
  const url = new URL(page);
  url.search = String(query).replace(/%(2C|3A|40)/g, decodeURIComponent);
  return url;
}
