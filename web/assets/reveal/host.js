// @ts-check

/** What the host sees and does: what comes next, the button that reveals it, and what everybody sees. */

import { frozenText, numbers } from '../../kit/format.js';
import { LiveLeaderboard } from '../../kit/rankcast.js';
import { repeat } from '../console/api.js';
import { ask } from '../console/dialog.js';
import { announce, problemNote } from '../console/form.js';
import { reasonOf } from '../console/moderation.js';
import { formatsOf } from '../shared/board-display.js';
import { byId, createElement, setAttribute, setText } from '../shared/dom.js';
import { encodeSegment, pageURL } from '../shared/links.js';
import { Portrait } from '../shared/portrait.js';
import { Autoplay } from './autoplay.js';
import { Steps } from './steps.js';

/**
 * @typedef {import('./steps.js').Pending} Pending
 * @typedef {import('./steps.js').Place} Place
 * @typedef {{ board: string, title: string, definition: any }} Board
 */

/** Scores go on changing unseen. */
const POLL_MS = 3_000;
/** The keys of a presenter's remote, and those nearest at hand. */
const KEYS = [' ', 'Enter', 'PageDown', 'ArrowRight'];

export class Host {
  #view;
  #exact;
  #portrait = new Portrait();
  #pace;
  #play;
  #next;
  #steps;
  #poll;
  #autoplay;
  #hasRevealed = false;
  /** Counts down. @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} view
   * @param {Board} of
   * @param {AbortSignal} signal of the end of the view
   */
  constructor(view, { board, title, definition }, signal) {
    this.#view = view;
    view.replaceChildren(byId('host', HTMLTemplateElement).content.cloneNode(true));
    this.#exact = formatsOf(definition).exact;
    this.#pace = byId('pace', HTMLInputElement);
    this.#play = byId('play', HTMLButtonElement);
    this.#next = byId('next', HTMLButtonElement);
    this.#part('who').prepend(this.#portrait.element);
    setText(this.#part('title'), title);
    /** @type {HTMLAnchorElement} */ (this.#part('page')).href = pageURL(`boards/${encodeSegment(board)}`).href;
    /** @type {HTMLAnchorElement} */ (this.#part('console')).href = `${pageURL('console').href}#/boards/${encodeSegment(board)}`;
    byId('live', LiveLeaderboard).setAttribute('board', board);

    this.#steps = new Steps(board, () => this.#render());
    this.#autoplay = new Autoplay(() => this.#step(), () => this.#render());
    this.#poll = repeat(POLL_MS, (stop) => this.#steps.load(stop), signal);
    signal.addEventListener('abort', () => {
      this.#autoplay.stop();
      clearTimeout(this.#timer);
    });
    this.#next.addEventListener('click', ({ detail }) => {
      if (detail < 2) this.#step(); // not for the second click of two
    });
    document.addEventListener('keydown', (event) => this.#onKey(event), { signal });
    // A browser may click a button as its key comes up.
    document.addEventListener('keyup', (event) => event.target === this.#next && event.preventDefault(), { signal });
    byId('auto', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#autoplay.isOn) this.#autoplay.stop();
      else this.#autoplay.start(this.#pace.valueAsNumber, this.#steps.wait);
    });
    byId('all', HTMLButtonElement).addEventListener('click', () => this.#askForAll());
    this.#render();
    this.#next.focus();
  }

  /** @param {string} name */
  #part(name, of = /** @type {Element} */ (this.#view)) {
    return /** @type {HTMLElement} */ (of.querySelector(`.host-${name}`));
  }

  async #step() {
    if (!(await this.#steps.next())) return;
    this.#hasRevealed ||= !this.#steps.problem;
    if (this.#steps.problem || this.#steps.left === 0) this.#autoplay.stop();
    else this.#autoplay.wait(this.#steps.wait);
    this.#poll.start();
  }

  #askForAll() {
    this.#autoplay.stop();
    ask({
      title: 'Reveal all that is left',
      content: ['All scores become public at once, without a step for each. This cannot be undone.'],
      action: 'Reveal all',
      danger: true,
      reason: 'optional',
      submit: async (values) => {
        await this.#steps.all(reasonOf(values));
        this.#hasRevealed = true;
        announce('All is revealed.');
        this.#poll.start();
      },
    });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const { key, target } = event;
    if (!KEYS.includes(key) || event.ctrlKey || event.altKey || event.metaKey || document.querySelector('dialog[open]')) return;
    // Another control has its own use of its keys.
    const control = target instanceof Element && target !== this.#next && target.closest('button, a, summary, input');
    if (control && (key === ' ' || key === 'Enter' || control instanceof HTMLInputElement)) return;
    event.preventDefault();
    if (!event.repeat) this.#step(); // a held key is one press
  }

  #render() {
    const { entries, isBusy, last, left, frozen, problem, wait } = this.#steps;
    const [entry, ...later] = entries ?? [];
    const isOver = entries?.length === 0;
    setText(this.#part('state'), this.#stateText());
    for (const name of ['next', 'tools', 'hint']) this.#part(name).hidden = isOver;
    this.#next.hidden = isOver;
    // It keeps the focus while a step is under way.
    setAttribute(this.#next, 'aria-disabled', (isBusy || !entry || wait > 0) && 'true');
    const seconds = Math.ceil(wait / 1_000);
    setText(this.#next, isBusy ? 'Revealing …' : seconds ? `Next in ${seconds} …` : left > 1 ? 'Next' : 'Reveal the last one');
    clearTimeout(this.#timer);
    if (seconds) this.#timer = setTimeout(() => this.#render(), wait - (seconds - 1) * 1_000);
    byId('all', HTMLButtonElement).disabled = !entry;
    this.#play.disabled = !entry && !this.#autoplay.isOn;
    setAttribute(this.#next, 'data-waits', this.#autoplay.isOn && !isBusy && entry !== undefined && '');
    this.#next.style.setProperty('--pace', `${this.#autoplay.ms}ms`);
    setText(this.#play, this.#autoplay.isOn ? 'Pause' : 'Play');
    setText(this.#part('note'), last ? `Revealed: ${nameOf(last)} ${this.#outcome(last)}.` : '');
    this.#part('problem').replaceChildren(...(problem ? [problemNote(problem), createElement('p', '', LOST)] : []));
    this.#part('next').toggleAttribute('data-old', !entry);
    if (entry) {
      this.#portrait.render(entry.member, nameOf(entry), entry.avatar);
      setText(this.#part('name'), nameOf(entry));
      setText(this.#part('member'), entry.name ? entry.member : '');
      this.#renderPlace('before', 'No.', entry.public, 'not on the board yet');
      // Others that are revealed later may pass it.
      this.#renderPlace('after', 'in the end No.', entry.pending, 'leaves the board');
    }
    this.#part('then').hidden = later.length === 0;
    this.#part('list').replaceChildren(...later.map((other) => this.#newItem(other)));
    setAttribute(this.#view, 'data-frozen', frozen && '');
  }

  #stateText() {
    const { entries, left, frozen } = this.#steps;
    if (frozen) return `${frozenText(frozen)}. ${left === 0 ? 'Nothing has changed since.' : `${numbers.format(left)} left to reveal.`}`;
    if (!entries) return 'Reading what comes next …';
    return this.#hasRevealed ? 'All is revealed.' : 'This board is not frozen: its standings are public.';
  }

  /** @param {import('./steps.js').Revealed} last */
  #outcome({ rank, score, columns }) {
    if (score === null) return 'has left the board';
    return `${rank ? `is No. ${numbers.format(rank)} with` : 'has'} ${this.#exact(score, { columns })}`;
  }

  /**
   * @param {string} name
   * @param {string} at
   * @param {Place | null} place
   * @param {string} none
   */
  #renderPlace(name, at, place, none) {
    const [rank, score] = this.#part(name).querySelectorAll('dd');
    setText(rank, place?.rank ? `${at} ${numbers.format(place.rank)}` : '–');
    setText(score, place ? this.#exact(place.score, place) : none);
  }

  /** @param {Pending} entry that comes later */
  #newItem(entry) {
    const text = (/** @type {Place | null} */ place) => (place ? this.#exact(place.score, place) : '–');
    const name = createElement('bdi', '', nameOf(entry));
    return createElement('li', '', name, createElement('span', 'quiet-text', `${text(entry.public)} → ${text(entry.pending)}`));
  }
}

/** What a host does when no answer came. */
const LOST = 'If it was revealed all the same, the same step again is no second one.';

/** @param {{ member: string, name?: string }} entry */
function nameOf({ member, name }) {
  return name || member;
}
