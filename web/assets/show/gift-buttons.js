// @ts-check

/**
 * The buttons that send a gift to the star shown, one for each choice, and the note beside them, which thanks the viewer or
 * explains a refusal. gift-sender.js does the sending.
 *
 * @import {Gift, Problem} from './gift-sender.js'
 * @import {State} from '../../kit/rankcast.js'
 */

import { connectWithToken } from '../shared/connection.js';
import { createElement, setAttribute, setProperty, setText } from '../shared/dom.js';
import { isCalm } from '../shared/motion.js';
import { text } from '../shared/texts.js';
import { token } from '../shared/token.js';
import { amountPieces, amountText, boardDefinition, event, fieldsOf, instance, isLargest, langOf, show } from './event.js';
import { GiftFlights } from './gift-flight.js';
import { GiftSender } from './gift-sender.js';
import { createSymbol } from './symbol.js';

/** After the last gift. */
const THANKS_MS = 9_000;
/** In a narrow window, where the thanks cover the viewer's goal and nickname (layout.css). */
const COVERING_THANKS_MS = 3_000;
const narrow = matchMedia('(width < 62rem)');
const POP_MS = 260;
/** Taps after which the number above a button grows no more. */
const GROWING_TAPS = 20;
/** The symbols on the button of the largest choice. */
const MAX_SYMBOLS = 5;
/** Between two rains for gifts of others. */
const RAIN_PAUSE_MS = 10_000;
/** The rain for the viewer's own gift fills the window; that for another one only says that there is one. */
const DROPS = 44;
const DROPS_OF_OTHERS = 7;
/** The answer to a gift and the star's rise by it come within this time. */
const RISE_MS = 1_500;
/** Keys of texts, by the code of a problem. */
const REFUSALS = new Map([
  ['unauthorized', 'show_unauthorized'],
  ['forbidden', token ? 'show_token_forbids' : 'show_forbidden'],
  ['not_open', 'show_not_now'],
  ['unknown_board', 'show_not_now'],
  ['unknown_event', 'show_not_now'],
  // No answer came: the gift may count or not.
  ['closed', 'show_not_known'],
  ['unavailable', 'show_not_known'],
]);

/** The button for one choice. */
class GiftButton {
  amount;
  element;
  #count = createElement('span', 'size-taps');
  #taps = 0;

  /**
   * @param {number} amount
   * @param {HTMLElement} element
   * @param {(button: GiftButton) => void} onTap
   */
  constructor(amount, element, onTap) {
    this.amount = amount;
    this.element = element;
    // The note below says it to screen readers, once the gift has arrived.
    this.#count.ariaHidden = 'true';
    element.append(this.#count);
    element.addEventListener('click', () => onTap(this));
  }

  /** @param {number} taps of the run */
  render(taps) {
    if (taps === this.#taps) return;
    const grows = taps > this.#taps;
    this.#taps = taps;
    setText(this.#count, taps ? text('show_combo', { n: taps }) : '');
    setProperty(this.#count, '--growth', Math.min(taps, GROWING_TAPS) / GROWING_TAPS);
    if (grows && !isCalm()) this.#count.animate({ scale: [1.3, 1] }, { duration: POP_MS, easing: 'ease-out' });
  }
}

/**
 * @typedef {object} Page
 * @property {(amount: number) => void} askForViewer called on a tap without a viewer
 * @property {(star: string) => string} nameOf
 * @property {(star: string) => HTMLElement | null} scoreOf the star's score where the viewer sees it; null: nowhere
 */

export class GiftButtons {
  #group;
  /** @type {GiftButton[]} */
  #buttons = [];
  #note;
  #page;
  #flights = new GiftFlights();
  #star = '';
  #fan = '';
  /** The choice that was tapped before the viewer was known; 0: none. */
  #waiting = 0;
  /** @type {State} */
  #state = 'connecting';
  #rainedAt = -Infinity;
  /** About gifts that the server has answered. */
  #message = '';
  /** What the message thanks for. @type {{ star: string, amount: number } | null} */
  #thanked = null;
  #thankedAt = 0;
  /** The star's last rise, and whom it passed. @type {{ star: string, name: string, at: number } | null} */
  #rise = null;
  /** Ends the thanks. @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #sender = new GiftSender(event, sendGift, {
    onChange: () => this.#render(),
    onAccepted: (gift, results) => this.#thank(gift, results),
    onRefused: (_, problem) => this.#showMessage(refusalText(problem)),
  });

  /**
   * @param {HTMLElement} group with the buttons that the server knew
   * @param {HTMLElement} note
   * @param {Page} page
   */
  constructor(group, note, page) {
    this.#group = group;
    this.#note = note;
    this.#page = page;
  }

  /** Sends the gifts that the last page left without an answer. */
  resume() {
    this.#updateButtons();
    this.#sender.resume();
  }

  /**
   * @param {string} star
   * @param {string} fan the viewer; '': none
   */
  show(star, fan) {
    this.#updateButtons();
    if (star !== this.#star || fan !== this.#fan) this.#clearMessage();
    if (star !== this.#star) {
      this.#flights.clear();
      this.#waiting = 0;
    }
    this.#star = star;
    this.#fan = fan;
    if (fan !== '' && this.#waiting > 0) {
      this.#send(this.#waiting);
      this.#waiting = 0;
    }
    this.#render();
  }

  /** Forgets the tap that waits for a viewer. */
  dropTap() {
    this.#waiting = 0;
    this.#render();
  }

  /** @param {State} state of the connection */
  setState(state) {
    this.#state = state;
    this.#render();
  }

  /**
   * The feed tells a gift. For as large a one as the largest choice it rains a little, but not again soon.
   *
   * @param {number} amount
   */
  celebrate(amount) {
    const now = performance.now();
    if (!isLargest(amount) || now - this.#rainedAt < RAIN_PAUSE_MS) return;
    this.#rainedAt = now;
    this.#flights.rain(DROPS_OF_OTHERS);
  }

  /** The definition of the event may have changed. */
  #updateButtons() {
    const { choices = [], max = Infinity } = show ?? {};
    this.#sender.setBound(max);
    const amounts = this.#buttons.map(({ amount }) => amount);
    if (choices.join() === amounts.join()) return;
    const elements = /** @type {HTMLElement[]} */ ([...this.#group.children]);
    const known = elements.map(({ dataset }) => Number(dataset.amount));
    if (choices.join() !== known.join()) this.#group.replaceChildren(...choices.map(newButton));
    this.#buttons = choices.map(
      (amount, i) => new GiftButton(amount, /** @type {HTMLElement} */ (this.#group.children[i]), (button) => this.#onTap(button.amount)),
    );
  }

  /** @param {number} choice */
  #onTap(choice) {
    if (this.#fan === '') {
      this.#waiting = choice;
      this.#render();
      this.#page.askForViewer(choice);
    } else if (this.#sender.full) {
      this.#showMessage(text('show_too_many'));
    } else {
      // Thanks stay until those for the next gift.
      if (!this.#thanked) this.#clearMessage();
      this.#send(choice);
    }
  }

  /** @param {number} choice */
  #send(choice) {
    this.#sender.tap(this.#star, this.#fan, choice);
    if (this.#state !== 'live') return;
    const index = this.#buttons.findIndex(({ amount }) => amount === choice);
    const score = this.#page.scoreOf(this.#star);
    if (index >= 0 && score)
      this.#flights.fly(this.#buttons[index].element, score, choice, index / Math.max(this.#buttons.length - 1, 1));
    if (!isLargest(choice)) return;
    this.#rainedAt = performance.now();
    this.#flights.rain(DROPS);
  }

  /**
   * Thanks for the gift and for the others of the runs that the buttons count.
   *
   * @param {Gift} gift
   * @param {any[]} results
   */
  #thank({ star, fan }, results) {
    const fans = show?.fans && instance(show.fans, star);
    const rank = results.find(({ board }) => board === fans)?.rank;
    const amount = this.#sender.taken(star, fan);
    const values = { name: this.#page.nameOf(star), amount: amountText(amount) };
    const other = this.#rise?.star === star && performance.now() - this.#rise.at < RISE_MS ? this.#rise.name : '';
    if (other) this.#showMessage(text('show_thanks_passed', { ...values, other }));
    else this.#showMessage(typeof rank === 'number' ? text('show_thanks_place', { ...values, rank }) : text('show_thanks', values));
    this.#thanked = { star, amount };
    this.#thankedAt = performance.now();
    document.dispatchEvent(new CustomEvent('gift')); // for the sound
    this.#timer = setTimeout(() => this.#clearMessage(), narrow.matches ? COVERING_THANKS_MS : THANKS_MS);
  }

  /**
   * The star has passed another one. The thanks say so, if the star rises while the viewer's gift is on its way or just after.
   *
   * @param {string} name
   */
  tellPassed(name) {
    if (this.#sender.pending > 0) this.#rise = { star: this.#star, name, at: performance.now() };
    if (!this.#thanked || performance.now() - this.#thankedAt > RISE_MS) return;
    const { star, amount } = this.#thanked;
    this.#message = text('show_thanks_passed', { name: this.#page.nameOf(star), amount: amountText(amount), other: name });
    this.#render();
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
    for (const button of this.#buttons) button.render(this.#sender.taps(this.#star, this.#fan, button.amount));
    const waits = this.#sender.pending > 0 && (this.#state === 'away' || this.#state === 'stale');
    setText(this.#note, waits ? text('show_waits') : this.#message);
  }
}

/**
 * As the template of the page has them.
 *
 * @param {number} amount
 * @param {number} i
 * @param {readonly number[]} choices
 * @returns {HTMLElement}
 */
function newButton(amount, i, choices) {
  const symbols = 1 + Math.round(((MAX_SYMBOLS - 1) * i) / Math.max(choices.length - 1, 1));
  const bouquet = createElement('span', 'bouquet', ...Array.from({ length: symbols }, createSymbol));
  bouquet.ariaHidden = 'true';
  const [number, unit] = amountPieces(amount);
  const unitText = createElement('span', 'size-unit', unit);
  setAttribute(unitText, 'lang', langOf(boardDefinition()?.display?.unit));
  const count = createElement('span', 'size-count', number, ...(unit ? [' ', unitText] : []));
  const button = createElement('button', 'size', bouquet, ' ', count);
  button.type = 'button';
  button.dataset.amount = String(amount);
  return button;
}

/**
 * @param {{ id: string, star: string, fan: string, amount: number }} gift
 * @param {number} within ms
 * @returns {Promise<any[]>} the results of the boards
 * @throws {Problem} refused, by the board of the show too
 */
async function sendGift(gift, within) {
  if (!show) throw { code: 'unknown_event' };
  const { board } = show;
  const results = await connectWithToken().send(event, { id: gift.id, ...fieldsOf(gift) }, within);
  const refusal = results.find((result) => result.board === board)?.error;
  if (refusal) throw refusal;
  return results;
}

/** @param {Problem} problem its message is in the server's language, not in the page's */
function refusalText({ code }) {
  return text(REFUSALS.get(code) ?? 'show_refused');
}
