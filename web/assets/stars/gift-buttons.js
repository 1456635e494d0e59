// @ts-check

/**
 * The buttons that send flowers to the star shown, one for each size of gift, and the note below
 * them, which thanks the viewer or explains a refusal. gift-sender.js does the sending.
 *
 * @import {Gift, Problem} from './gift-sender.js'
 * @import {State} from '../../kit/rankcast.js'
 */

import { connectWithToken } from '../shared/connection.js';
import { createElement, setAttribute, setText } from '../shared/dom.js';
import { countedText, text } from '../shared/texts.js';
import { token } from '../shared/token.js';
import { GiftSender } from './gift-sender.js';

const THANKS_MS = 9_000;
const PETALS = 12;
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

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');

/** The button for one size of gift. */
class GiftButton {
  flowers;
  #button;
  #label;
  #labelText;

  /**
   * @param {HTMLElement} button
   * @param {(button: GiftButton) => void} onTap
   */
  constructor(button, onTap) {
    this.#button = button;
    this.flowers = Number(button.dataset.flowers);
    this.#label = /** @type {HTMLElement} */ (button.querySelector('.size-label'));
    this.#labelText = this.#label.textContent ?? '';
    button.addEventListener('click', () => onTap(this));
  }

  /** @param {boolean} pending the button stays enabled, because a disabled one loses the focus */
  render(pending) {
    setAttribute(this.#button, 'aria-disabled', pending && 'true');
    setText(this.#label, pending ? text('stars_on_its_way') : this.#labelText);
  }

  /** Removes petals that still rise. */
  removePetals() {
    this.#button.querySelector('.petals')?.remove();
  }

  /** Lets petals rise from the button. They remove themselves at the end. */
  animatePetals() {
    if (reducedMotion.matches) return;
    this.removePetals();
    const petals = createElement('span', 'petals');
    petals.ariaHidden = 'true';
    let left = PETALS;
    for (let i = 0; i < PETALS; i++) {
      const petal = createElement('span', 'petal');
      petal.style.setProperty('--x', String(Math.random() * 2 - 1));
      petal.style.setProperty('--rise', String(0.6 + Math.random() * 0.6));
      petal.style.setProperty('--turn', String(Math.random() * 2 - 1));
      petal.style.setProperty('--wait', String(Math.random()));
      petals.append(petal);
    }
    petals.addEventListener('animationend', () => --left === 0 && petals.remove());
    this.#button.append(petals);
  }
}

export class GiftButtons {
  #buttons;
  #note;
  #askForViewer;
  #nameOf;
  #star = '';
  #user = '';
  /** @type {State} */
  #state = 'connecting';
  /** About gifts that the server has answered. */
  #message = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #sender = new GiftSender((gift, within) => connectWithToken().send('gift', gift, within), {
    onChange: () => this.#render(),
    onAccepted: (gift, results) => this.#thank(gift, results),
    onRefused: (gift, problem) => this.#showMessage(refusalText(problem)),
  });

  /**
   * @param {Iterable<HTMLElement>} buttons
   * @param {HTMLElement} note
   * @param {() => void} askForViewer called on a tap without a viewer
   * @param {(star: string) => string} nameOf
   */
  constructor(buttons, note, askForViewer, nameOf) {
    this.#buttons = [...buttons].map((button) => new GiftButton(button, ({ flowers }) => this.#onTap(flowers)));
    this.#note = note;
    this.#askForViewer = askForViewer;
    this.#nameOf = nameOf;
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
    if (star !== this.#star || user !== this.#user) this.#message = '';
    // The animation of a hidden button would not end, and would start again for the next star.
    if (star !== this.#star) for (const button of this.#buttons) button.removePetals();
    this.#star = star;
    this.#user = user;
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
      this.#showMessage(text('stars_who_first'));
      this.#askForViewer();
    } else if (this.#sender.full) {
      this.#showMessage(text('stars_too_many'));
    } else if (this.#sender.send(this.#star, this.#user, flowers)) {
      this.#showMessage('');
    }
  }

  /**
   * @param {Gift} gift
   * @param {any[]} results
   */
  #thank({ star, user, flowers }, results) {
    const rank = results.find(({ board }) => board === `fans:${star}`)?.rank;
    const values = { star: this.#nameOf(star) };
    this.#showMessage(typeof rank === 'number' ? countedText('stars_thanks_place', flowers, { ...values, rank }) : countedText('stars_thanks', flowers, values), THANKS_MS);
    if (star === this.#star && user === this.#user) this.#buttons.find((button) => button.flowers === flowers)?.animatePetals();
  }

  /**
   * @param {string} message
   * @param {number} [durationMs] default: until the next message
   */
  #showMessage(message, durationMs) {
    clearTimeout(this.#timer);
    this.#message = message;
    if (durationMs) this.#timer = setTimeout(() => this.#showMessage(''), durationMs);
    this.#render();
  }

  #render() {
    for (const button of this.#buttons) button.render(this.#sender.isPending(this.#star, this.#user, button.flowers));
    const waits = this.#sender.pending > 0 && (this.#state === 'away' || this.#state === 'stale');
    setText(this.#note, waits ? text('stars_waits') : this.#message);
  }
}

/** @param {Problem} problem its message is in the server's language, not in the page's */
function refusalText({ code }) {
  return text(REFUSALS.get(code) ?? 'stars_refused');
}
