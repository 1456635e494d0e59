// @ts-check

/** What stands for a member in a small circle: its avatar, or the first letter of its name in a color of its own. */

import { setAttribute } from './dom.js';

/** The other origins whose images a page of the server shows. Undefined on a page of another site, whose policy decides. */
const avatarOrigins = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name=rankcast-avatar-origins]'))?.content.split(
  ' ',
);

/**
 * Shows an image of this site, or one by https if the page's policy allows it. An image that
 * does not load is hidden.
 *
 * @param {HTMLImageElement} image
 * @param {string | undefined} avatar
 */
export function setAvatar(image, avatar) {
  let url = '';
  if (avatar && URL.canParse(avatar, location.href)) {
    const { origin, protocol, href } = new URL(avatar, location.href);
    const isOwn = origin === location.origin;
    const isAllowed = avatarOrigins ? isOwn || avatarOrigins.includes(origin) : protocol === 'https:';
    if (avatar.startsWith('/') ? isOwn : /^https?:\/\//i.test(avatar) && isAllowed) url = href;
  }
  if (url === image.dataset.src) return;
  image.dataset.src = url;
  image.hidden = !url;
  image.alt = ''; // the name stands beside the image
  image.loading = 'lazy';
  image.referrerPolicy = 'no-referrer';
  image.onerror = () => (image.hidden = true);
  setAttribute(image, 'src', url || false);
}

/**
 * @param {string} name
 * @returns {string} its first letter or number, or else its first character. web/testdata/portraits.json has what the server chooses too
 */
export function initialOf(name) {
  return (/[\p{L}\p{Nd}]/u.exec(name) ?? [...name, ''])[0].toUpperCase();
}

/**
 * @param {string} id of a member
 * @returns {number} the hue of its color, 0 to 359: always the same, as the server's
 */
export function hueOf(id) {
  let hash = 0;
  for (const byte of new TextEncoder().encode(id)) hash = (31 * hash + byte) % 360;
  return (137 * hash) % 360; // ids that follow each other have colors far apart
}
