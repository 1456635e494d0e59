// @ts-check

/** Parts of a shadow root, and writes that touch it only where it differs. */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} name
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function part(tag, name) {
  const element = document.createElement(tag);
  element.setAttribute('part', name);
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {string | null} value null: without it
 */
export function setAttribute(element, name, value) {
  if (element.getAttribute(name) === value) return;
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

/**
 * @param {HTMLElement} element
 * @param {string} name of a custom property
 * @param {string} value
 */
export function setProperty(element, name, value) {
  if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
}
