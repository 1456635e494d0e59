// @ts-check

/** Functions that make and update elements. The element and the server's own pages use them. */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} name of the CSS part
 * @param {...(Node | string)} content
 * @returns {HTMLElementTagNameMap[Tag]} a new element
 */
export function part(tag, name, ...content) {
  const element = document.createElement(tag);
  element.setAttribute('part', name);
  element.append(...content);
  return element;
}

/**
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  // A text node with other data costs a browser less than another node.
  if (element.textContent !== text) ((text && !element.childElementCount && element.firstChild) || element).textContent = text;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {string | false | undefined} value false or undefined: removes the attribute
 */
export function setAttribute(element, name, value) {
  if (value === false || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * @param {HTMLElement} element
 * @param {string} name of a custom property
 * @param {number} value
 */
export function setProperty(element, name, value) {
  if (element.style.getPropertyValue(name) !== String(value)) element.style.setProperty(name, String(value));
}
