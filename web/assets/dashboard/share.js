// @ts-check

/** The dialog that shares a board: its address as a link and as a QR code, and its code for other sites. dashboard.js uses it. */

import { byId, setText, showModal } from '../shared/dom.js';
import { encodeSegment, pageURL, ROOT } from '../shared/links.js';
import { text } from '../shared/texts.js';

const COPIED_MS = 2_000;

export class ShareDialog {
  #dialog = byId('share-dialog', HTMLDialogElement);
  #qr = byId('share-qr', HTMLImageElement);
  #card = byId('share-card', HTMLImageElement);
  #url = byId('share-url', HTMLElement);
  #frame = byId('share-frame', HTMLElement);
  #element = byId('share-element', HTMLElement);
  #native = byId('share-native', HTMLButtonElement);
  #done = byId('share-done', HTMLElement);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {() => { board: string, top: string }} readURL */
  constructor(readURL) {
    byId('share', HTMLButtonElement).addEventListener('click', () => this.#open(readURL()));
    byId('share-close', HTMLButtonElement).addEventListener('click', () => this.#dialog.close());
    // A click beside the dialog is one on its backdrop.
    this.#dialog.addEventListener('click', ({ target }) => {
      if (target === this.#dialog) this.#dialog.close();
    });
    for (const image of [this.#qr, this.#card]) image.addEventListener('error', () => (image.hidden = true));
    this.#native.hidden = !('share' in navigator);
    // The promise rejects when the reader cancels: the page has nothing to say then.
    this.#native.addEventListener('click', () =>
      navigator.share({ title: document.title, url: this.#url.textContent ?? '' }).catch(() => {}),
    );
    for (const [id, shown] of /** @type {const} */ ([
      ['share-copy-url', this.#url],
      ['share-copy-frame', this.#frame],
      ['share-copy-element', this.#element],
    ])) {
      byId(id, HTMLButtonElement).addEventListener('click', () => this.#copy(shown));
    }
  }

  /** @param {{ board: string, top: string }} options */
  #open({ board, top }) {
    setText(this.#url, location.href);
    setText(this.#done, '');
    this.#qr.hidden = this.#card.hidden = false;
    this.#qr.src = pageURL('qr.svg', { text: location.href }).href;
    this.#card.src = pageURL(`boards/${encodeSegment(board)}/card.png`).href;
    const embed = pageURL(`embed/${encodeSegment(board)}`, { top }).href;
    const height = frameHeight(Number(top), this.#columnRoom());
    setText(
      this.#frame,
      `<iframe src="${attribute(embed)}" width="480" height="${height}" title="${attribute(document.title)}"></iframe>`,
    );
    setText(
      this.#element,
      `<script type="module" src="${attribute(new URL('kit/rankcast.js', ROOT).href)}"></script>\n` +
        `<live-leaderboard board="${attribute(board)}" top="${top}"></live-leaderboard>`,
    );
    showModal(this.#dialog);
  }

  /** @returns {number} how much room columns need, see columns.css of the kit; 0: the board has none */
  #columnRoom() {
    const stage = document.querySelector('live-leaderboard')?.shadowRoot?.querySelector('[part=stage]');
    return Number(stage?.getAttribute('data-room') ?? 0);
  }

  /** @param {HTMLElement} shown */
  async #copy(shown) {
    clearTimeout(this.#timer);
    try {
      await navigator.clipboard.writeText(shown.textContent ?? '');
      setText(this.#done, text('link_copied'));
      this.#timer = setTimeout(() => setText(this.#done, ''), COPIED_MS);
    } catch {
      // The browser lets no page copy by http or without permission. The page selects the text for the reader to copy.
      getSelection()?.selectAllChildren(shown);
      setText(this.#done, text('copy_by_hand'));
    }
  }
}

/**
 * @param {number} top
 * @param {number} room of columns: their heads have two lines at most, and more than a few stand in a second line of each row
 * @returns {number} px: of the page in a frame (web/assets/embed) with a name of one line, a header of two, and so many rows
 */
function frameHeight(top, room) {
  return 124 + (room ? 34 : 0) + (room > 1 ? 68 : 46) * top;
}

/**
 * @param {string} value
 * @returns {string} the value as it stands in an attribute of HTML
 */
function attribute(value) {
  return value.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');
}
