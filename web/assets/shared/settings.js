// @ts-check

/**
 * The settings of the reader: theme, motion, density and sound. A cookie keeps them on this device, so that the server
 * renders the first three (server/pages/settings.go). All pages but the overlay, the embed page and the documentation
 * have the menu.
 */

import { byId, setAttribute } from './dom.js';
import { ROOT } from './links.js';
import { Sound } from './sound.js';

const COOKIE = 'rankcast-settings';
const MAX_AGE_S = 365 * 24 * 3600;

const root = document.documentElement;
const menu = byId('settings', HTMLDetailsElement);
const form = byId('settings-form', HTMLFormElement);
const sound = new Sound();

for (const [name, value] of stored()) {
  const field = form.elements.namedItem(name);
  if (field instanceof RadioNodeList) field.value = value;
  else if (field instanceof HTMLInputElement) field.checked = value === 'on';
}
apply();

form.addEventListener('change', ({ target }) => {
  const chosen = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value) chosen.set(name, String(value));
  document.cookie = `${COOKIE}=${chosen}; Path=${ROOT.pathname}; Max-Age=${MAX_AGE_S}; SameSite=Lax`;
  apply();
  if (target instanceof HTMLInputElement && target.name === 'sound') sound.try();
});
addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape' || !menu.open) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
});
addEventListener('click', ({ target }) => {
  if (target instanceof Node && !menu.contains(target)) menu.open = false;
});

/** @returns {URLSearchParams} the settings that the cookie holds */
function stored() {
  const pair = document.cookie.split('; ').find((pair) => pair.startsWith(`${COOKIE}=`));
  return new URLSearchParams(pair?.slice(COOKIE.length + 1));
}

function apply() {
  const chosen = new FormData(form);
  const value = (/** @type {string} */ name) => String(chosen.get(name) ?? '');
  for (const name of ['theme', 'motion', 'density']) setAttribute(root, `data-${name}`, value(name) || undefined);
  const theme = value('theme');
  // The browser's own bars.
  for (const color of document.querySelectorAll('meta[data-theme]')) {
    const own = /** @type {HTMLMetaElement} */ (color).dataset.theme;
    setAttribute(color, 'media', theme ? (theme === own ? 'all' : 'not all') : `(prefers-color-scheme: ${own})`);
  }
  for (const board of document.querySelectorAll('live-leaderboard')) setAttribute(board, 'calm', value('motion') === 'calm' && '');
  sound.enabled = value('sound') === 'on';
}
