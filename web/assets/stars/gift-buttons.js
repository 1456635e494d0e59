// @ts-check

/**
 * The buttons that send flowers to the star that is shown, and what is said about it.
 *
 * @import {Gift, Problem} from './gift-sender.js'
 * @import {State} from '../../kit/rankcast.js'
 */

import { setAttribute, setText } from '../../kit/rows.js';
import { connect } from '../../kit/rankcast.js';
import { Gifts } from './gift-sender.js';
import { make } from '../shared/page.js';
import { counted, text } from '../shared/texts.js';

const THANKS_MS = 9_000;
const PETALS = 12;
/** Texts, by a problem's code. */
const WHY_NOT = new Map([
  ['forbidden', 'stars_forbidden'],
  ['not_open', 'stars_not_now'],
  ['unknown_board', 'stars_not_now'],
  ['unknown_event', 'stars_not_now'],
  // Given up, without an answer.
  ['closed', 'stars_not_known'],
  ['unavailable', 'stars_not_known'],
]);

const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');

/** One size of gift. */
class Size {
  flowers;
  #button;
  #label;
  #words;

  /**
   * @param {HTMLElement} button
   * @param {(size: Size) => void} onTap
   */
  constructor(button, onTap) {
    this.#button = button;
    this.flowers = Number(button.dataset.flowers);
    this.#label = /** @type {HTMLElement} */ (button.querySelector('.size-label'));
    this.#words = this.#label.textContent ?? '';
    button.addEventListener('click', () => onTap(this));
  }

  /** @param {boolean} onItsWay never disabled, which would take the focus away */
  write(onItsWay) {
    setAttribute(this.#button, 'aria-disabled', onItsWay && 'true');
    setText(this.#label, onItsWay ? text('stars_on_its_way') : this.#words);
  }

  /** Those that rise are gone. */
  calm() {
    this.#button.querySelector('.petals')?.remove();
  }

  /** Some petals rise, and are gone when they have. */
  celebrate() {
    if (lessMotion.matches) return;
    this.calm();
    const petals = make('span', 'petals');
    petals.ariaHidden = 'true';
    let left = PETALS;
    for (let i = 0; i < PETALS; i++) {
      const petal = make('span', 'petal');
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
  #sizes;
  #note;
  #askWho;
  #nameOf;
  #star = '';
  #user = '';
  /** @type {State} */
  #state = 'connecting';
  /** What was said about gifts that are answered. */
  #said = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #gifts = new Gifts((gift, within) => connect().send('gift', gift, within), {
    change: () => this.#write(),
    taken: (gift, results) => this.#thank(gift, results),
    refused: (gift, problem) => this.#say(whyNot(problem)),
  });

  /**
   * @param {Iterable<HTMLElement>} buttons
   * @param {HTMLElement} note
   * @param {() => void} askWho has the viewer say who they are
   * @param {(star: string) => string} nameOf
   */
  constructor(buttons, note, askWho, nameOf) {
    this.#sizes = [...buttons].map((button) => new Size(button, ({ flowers }) => this.#tap(flowers)));
    this.#note = note;
    this.#askWho = askWho;
    this.#nameOf = nameOf;
  }

  /** Sends what was not answered when the page was left. */
  resume() {
    this.#gifts.resume();
  }

  /**
   * @param {string} star
   * @param {string} user
   */
  show(star, user) {
    if (star !== this.#star || user !== this.#user) this.#said = '';
    // Hidden, they would not end, and rise anew for the star that is shown next.
    if (star !== this.#star) for (const size of this.#sizes) size.calm();
    this.#star = star;
    this.#user = user;
    this.#write();
  }

  /** @param {State} state of the connection */
  hear(state) {
    this.#state = state;
    this.#write();
  }

  /** @param {number} flowers */
  #tap(flowers) {
    if (this.#user === '') {
      this.#say(text('stars_who_first'));
      this.#askWho();
    } else if (this.#gifts.full) {
      this.#say(text('stars_too_many'));
    } else if (this.#gifts.give(this.#star, this.#user, flowers)) {
      this.#say('');
    }
  }

  /**
   * @param {Gift} gift
   * @param {any[]} results
   */
  #thank({ star, user, flowers }, results) {
    const place = results.find(({ board }) => board === `fans:${star}`)?.rank;
    const values = { star: this.#nameOf(star) };
    this.#say(typeof place === 'number' ? counted('stars_thanks_place', flowers, { ...values, rank: place }) : counted('stars_thanks', flowers, values), THANKS_MS);
    if (star === this.#star && user === this.#user) this.#sizes.find((size) => size.flowers === flowers)?.celebrate();
  }

  /**
   * @param {string} sentence
   * @param {number} [forMs] default: until something else is said
   */
  #say(sentence, forMs) {
    clearTimeout(this.#timer);
    this.#said = sentence;
    if (forMs) this.#timer = setTimeout(() => this.#say(''), forMs);
    this.#write();
  }

  #write() {
    for (const size of this.#sizes) size.write(this.#gifts.isOnItsWay(this.#star, this.#user, size.flowers));
    const waits = this.#gifts.size > 0 && (this.#state === 'away' || this.#state === 'stale');
    setText(this.#note, waits ? text('stars_waits') : this.#said);
  }
}

/** @param {Problem} problem whose message is in the server's language, not in the page's */
function whyNot({ code }) {
  return text(WHY_NOT.get(code) ?? 'stars_refused');
}
