// @ts-check

/**
 * The buttons that send flowers to the star shown, one for each size of gift, and the note beside
 * them, which thanks the viewer or explains a refusal. gift-sender.js does the sending.
 *
 * @import {Gift, Problem} from './gift-sender.js'
 * @import {State} from '../../kit/rankcast.js'
 */

import { connectWithToken } from '../shared/connection.js';
import { createElement, setProperty, setText } from '../shared/dom.js';
import { isCalm } from '../shared/motion.js';
import { countedText, text } from '../shared/texts.js';
import { token } from '../shared/token.js';
import { GiftFlights } from './gift-flight.js';
import { GiftSender } from './gift-sender.js';
import { fieldsOf, instance, show } from './show.js';

/** After the last gift. */
const THANKS_MS = 9_000;
/** In a narrow window, where the thanks cover the viewer's goal and nickname (layout.css). */
const COVERING_THANKS_MS = 3_000;
const narrow = matchMedia('(width < 62rem)');
const POP_MS = 260;
/** Taps after which the number above a button grows no more. */
const GROWING_TAPS = 20;
/** Keys of texts, by the code of a problem. */
const REFUSALS = new Map([
  ['unauthorized', 'stars_unauthorized'],
  ['forbidden', token ? 'stars_token_forbids' : 'stars_forbidden'],
  ['not_open', 'stars_not_now'],
  ['unknown_board', 'stars_not_now'],
  ['unknown_event', 'stars_not_now'],
  // No answer came: the gift may count or not.
  ['closed', 'stars_not_known'],
  ['unavailable', 'stars_not_known'],
]);

/** The button for one size of gift. */
class GiftButton {
  flowers;
  element;
  #count = createElement('span', 'size-taps');
  #taps = 0;

  /**
   * @param {HTMLElement} element
   * @param {(button: GiftButton) => void} onTap
   */
  constructor(element, onTap) {
    this.element = element;
    this.flowers = Number(element.dataset.flowers);
    // The note below says it to screen readers, once the flowers have arrived.
    this.#count.ariaHidden = 'true';
    element.append(this.#count);
    element.addEventListener('click', () => onTap(this));
  }

  /** @param {number} taps without an answer */
  render(taps) {
    if (taps === this.#taps) return;
    const grows = taps > this.#taps;
    this.#taps = taps;
    setText(this.#count, taps ? text('stars_combo', { n: taps }) : '');
    setProperty(this.#count, '--growth', Math.min(taps, GROWING_TAPS) / GROWING_TAPS);
    if (grows && !isCalm()) this.#count.animate({ scale: [1.3, 1] }, { duration: POP_MS, easing: 'ease-out' });
  }
}

/**
 * @typedef {object} Page
 * @property {(flowers: number) => void} askForViewer called on a tap without a viewer
 * @property {(star: string) => string} nameOf
 * @property {(star: string) => HTMLElement | null} scoreOf the star's score where the viewer sees it; null: nowhere
 */

export class GiftButtons {
  #buttons;
  #note;
  #page;
  #flights = new GiftFlights();
  #star = '';
  #user = '';
  /** Sizes that were tapped before the viewer was known. @type {number[]} */
  #waiting = [];
  /** @type {State} */
  #state = 'connecting';
  /** About gifts that the server has answered. */
  #message = '';
  /** What the message thanks for. @type {{ star: string, user: string, flowers: number } | null} */
  #thanked = null;
  /** Ends the thanks. @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #sender = new GiftSender(sendGift, {
    onChange: () => this.#render(),
    onAccepted: (gift, results) => this.#thank(gift, results),
    onRefused: (gift, problem) => this.#showMessage(refusalText(problem)),
  });

  /**
   * @param {Iterable<HTMLElement>} buttons
   * @param {HTMLElement} note
   * @param {Page} page
   */
  constructor(buttons, note, page) {
    this.#buttons = [...buttons].map((button) => new GiftButton(button, ({ flowers }) => this.#onTap(flowers)));
    this.#note = note;
    this.#page = page;
  }

  /** Sends the gifts that the last page left without an answer. */
  resume() {
    this.#sender.resume();
  }

  /**
   * @param {string} star
   * @param {string} user the viewer; '': none
   */
  show(star, user) {
    if (star !== this.#star || user !== this.#user) this.#clearMessage();
    if (star !== this.#star) {
      this.#flights.clear();
      this.#waiting = [];
    }
    this.#star = star;
    this.#user = user;
    if (user !== '') for (const size of this.#waiting.splice(0)) this.#sender.tap(star, user, size);
    this.#render();
  }

  /** Forgets the taps that wait for a viewer. */
  dropTaps() {
    this.#waiting = [];
    this.#render();
  }

  /** @param {State} state of the connection */
  setState(state) {
    this.#state = state;
    this.#render();
  }

  /** @param {number} flowers */
  #onTap(flowers) {
    if (this.#user === '') {
      this.#waiting.push(flowers);
      this.#render();
      this.#page.askForViewer(flowers);
    } else if (this.#sender.full) {
      this.#showMessage(text('stars_too_many'));
    } else {
      // Thanks stay, and grow with the next gift.
      if (!this.#thanked) this.#clearMessage();
      this.#sender.tap(this.#star, this.#user, flowers);
    }
  }

  /** @param {number | undefined} max as of {@link GiftSender.setBound} */
  setBound(max) {
    this.#sender.setBound(max);
  }

  /**
   * Thanks for the gift and for those before, as long as their thanks are shown.
   *
   * @param {Gift} gift
   * @param {any[]} results
   */
  #thank({ star, user, size, flowers }, results) {
    const fans = show?.fans && instance(show.fans, star);
    const rank = results.find(({ board }) => board === fans)?.rank;
    const values = { star: this.#page.nameOf(star) };
    const before = this.#thanked;
    const sum = flowers + (before?.star === star && before.user === user ? before.flowers : 0);
    this.#showMessage(
      typeof rank === 'number' ? countedText('stars_thanks_place', sum, { ...values, rank }) : countedText('stars_thanks', sum, values),
    );
    this.#thanked = { star, user, flowers: sum };
    document.dispatchEvent(new CustomEvent('gift')); // for the sound
    this.#timer = setTimeout(() => this.#clearMessage(), narrow.matches ? COVERING_THANKS_MS : THANKS_MS);
    const button = this.#buttons.find((button) => button.flowers === size);
    const score = this.#page.scoreOf(star);
    if (button && score && star === this.#star && user === this.#user) this.#flights.fly(button.element, score, flowers);
  }

  #clearMessage() {
    this.#showMessage('');
  }

  /** @param {string} message stays until the next one */
  #showMessage(message) {
    clearTimeout(this.#timer);
    this.#thanked = null;
    this.#message = message;
    this.#render();
  }

  #render() {
    for (const button of this.#buttons) {
      const waiting = this.#waiting.filter((size) => size === button.flowers).length;
      button.render(waiting + this.#sender.taps(this.#star, this.#user, button.flowers));
    }
    const waits = this.#sender.pending > 0 && (this.#state === 'away' || this.#state === 'stale');
    setText(this.#note, waits ? text('stars_waits') : this.#message);
  }
}

/**
 * @param {{ id: string, star: string, user: string, flowers: number }} gift
 * @param {number} within ms
 * @returns {Promise<any[]>} the results of the boards
 * @throws {Problem} refused, by the board of stars too
 */
async function sendGift(gift, within) {
  if (!show) throw { code: 'unknown_event' };
  const { event, board } = show;
  const results = await connectWithToken().send(event, { id: gift.id, ...fieldsOf(gift) }, within);
  const refusal = results.find((result) => result.board === board)?.error;
  if (refusal) throw refusal;
  return results;
}

/** @param {Problem} problem its message is in the server's language, not in the page's */
function refusalText({ code }) {
  return text(REFUSALS.get(code) ?? 'stars_refused');
}
