// @ts-check

/** The view of one star: its rank, what it rose, and its fans: for long, and for a short time. */

import { words } from '../../kit/format.js';
import { fetchJSON, HTTPError } from '../shared/api.js';
import { formatsOf } from '../shared/board-display.js';
import { partProblem } from '../shared/board-name.js';
import { byId, setAttribute, setProperty, setText } from '../shared/dom.js';
import { encodeSegment } from '../shared/links.js';
import { Portrait } from '../shared/portrait.js';
import { countedText, text } from '../shared/texts.js';
import { isInView, renderAmounts } from './board-rows.js';
import { amountPieces, instance, labelOf, langOf, show, titleOfInstance } from './event.js';
import { hasSymbol } from './symbol.js';

/**
 * @typedef {import('../../kit/rankcast.js').Entry} Entry
 * @typedef {import('../../kit/rankcast.js').Update} Update
 * @typedef {import('../shared/board-display.js').Formats} Formats
 */

/** How long the head says that the star has risen. */
const ROSE_MS = 6_000;

export class StarDetails {
  #name = byId('star-name', HTMLElement);
  #rank = byId('star-rank', HTMLElement);
  #score = byId('star-score', HTMLElement);
  #gap = byId('star-gap', HTMLElement);
  /** Beside the buttons, where they stand at the bottom of a narrow window. */
  #toPass = byId('gift-gap', HTMLElement);
  #progress = byId('star-progress', HTMLElement);
  #move = byId('star-move', HTMLElement);
  #portrait = new Portrait();
  #fanBoards = [
    {
      of: () => show?.fans,
      section: byId('fans-panel', HTMLElement),
      title: byId('fans-title', HTMLElement),
      board: byId('fans', HTMLElement),
      count: byId('fans-count', HTMLElement),
    },
    {
      of: () => show?.recent,
      section: byId('recent-panel', HTMLElement),
      title: byId('recent-title', HTMLElement),
      board: byId('recent', HTMLElement),
      count: byId('recent-count', HTMLElement),
    },
  ];
  #profiles;
  #onNobody;
  #star = '';
  /** The star without a score that the page has asked for last, and the last one that is nobody. */
  #checked = '';
  #nobody = '';
  /** The rank that the star has risen to lately. */
  #risenTo = 0;
  /** The star's last rank and amount, and their period. @type {{ period: string, rank: number, amount: string } | null} */
  #last = null;
  /** The period whose result is shown; '': none. */
  #over = '';
  #formats = formatsOf();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {import('./profile-cache.js').ProfileCache} profiles
   * @param {(other: string) => void} onPassed called with the name of the highest star that the one shown has passed
   * @param {() => void} onNobody called when isNobody has changed
   */
  constructor(profiles, onPassed, onNobody) {
    this.#onNobody = onNobody;
    this.#profiles = profiles;
    byId('star-portrait', HTMLElement).replaceChildren(this.#portrait.element);
    for (const { board, count } of this.#fanBoards) {
      board.addEventListener('update', (event) => {
        const update = /** @type {CustomEvent<Update>} */ (event).detail;
        const { snapshot, me, state } = update;
        profiles.addEntries('fan', [...(snapshot?.top ?? []), ...(me?.around ?? [])]);
        renderAmounts(board, update);
        board.toggleAttribute('data-to-come', !snapshot && state === 'connecting');
        setText(count, snapshot ? countedText('members', snapshot.total) : '');
      });
    }
    const board = byId('star-board', HTMLElement);
    board.addEventListener('finish', (event) => {
      const { period, top } = /** @type {CustomEvent<import('../../kit/rankcast.js').Finish>} */ (event).detail;
      const own = top.find(({ member }) => member === this.#star);
      if (own) this.#last = { period, rank: own.rank, amount: this.#formats.exact(own.score, own) };
      this.#over = period;
      this.#showResult();
    });
    new MutationObserver(() => {
      if (this.#over === '' || board.hasAttribute('data-finish')) return;
      this.#over = '';
      this.#showRise(0);
    }).observe(board, { attributeFilter: ['data-finish'] });
    board.addEventListener('rank-up', (event) => {
      const { rank, before, passed } = /** @type {CustomEvent<import('../../kit/rankcast.js').RankUp>} */ (event).detail;
      if (!this.#star) return;
      this.#showRise(before - rank);
      this.#risenTo = rank;
      if (typeof passed === 'object' && passed.length > 0) onPassed(passed[0].name || passed[0].member);
    });
  }

  /** Whether the event takes nothing for the star shown: it has no score, and no profile in the kind of the field. */
  get isNobody() {
    return this.#star !== '' && this.#nobody === this.#star;
  }

  /** Asks whether a star without a score has a profile. Who may not know gets no answer, and may try. */
  async #check() {
    const star = this.#star;
    if (!show?.kind || this.#checked === star || partProblem(star)) return;
    this.#checked = star;
    try {
      await fetchJSON(`v1/members/${encodeSegment(show.kind)}/${encodeSegment(star)}`);
    } catch (error) {
      if (!(error instanceof HTTPError && error.status === 404)) return;
      this.#setNobody(star);
    }
  }

  /** @param {string} star '': the one shown is somebody */
  #setNobody(star) {
    this.#nobody = star;
    if (this.isNobody) setText(this.#score, text('show_nobody'));
    this.#onNobody();
  }

  /** The star's final place, as long as its board shows the first three. */
  get #result() {
    return this.#over !== '' && this.#last?.period === this.#over ? this.#last : null;
  }

  #showResult() {
    const result = this.#result;
    if (!result) return;
    clearTimeout(this.#timer);
    setAttribute(this.#move, 'data-final', '');
    setText(this.#move, text('show_finished', result));
  }

  /** @param {number} places that the star has risen; 0: none lately */
  #showRise(places) {
    if (this.#result) return;
    clearTimeout(this.#timer);
    setAttribute(this.#move, 'data-final', false);
    setText(this.#move, places > 0 ? countedText('show_rose', places) : '');
    if (places > 0) this.#timer = setTimeout(() => this.#showRise(0), ROSE_MS);
  }

  /** The star's name, or its id until the name is known. */
  get name() {
    return this.#profiles.star(this.#star).name || this.#star;
  }

  /** The star's score in the head; null: it is out of view. */
  get visibleScore() {
    return isInView(this.#score) ? this.#score : null;
  }

  /**
   * @param {string} star '': none
   * @param {string} me the viewer, whom the fan boards follow
   */
  show(star, me) {
    const changed = star !== this.#star;
    this.#star = star;
    if (changed) {
      this.#over = '';
      this.#last = null;
      this.#showRise(0);
    }
    for (const { of, section, board } of this.#fanBoards) {
      const family = of();
      section.hidden = (show !== null && !family) || partProblem(star) !== '';
      setAttribute(board, 'me', me);
      setAttribute(board, 'board', family && star && !section.hidden ? instance(family, star) : '');
    }
    if (star && changed) this.update({ snapshot: null, me: null, state: 'connecting' });
  }

  renderName() {
    if (!this.#star) return;
    const { avatar } = this.#profiles.star(this.#star);
    setText(this.#name, this.name);
    for (const { of, title } of this.#fanBoards) {
      setText(title, titleOfInstance(of() ?? '', this.#star, this.name));
      setAttribute(title, 'lang', langOf(labelOf(of() ?? '')));
    }
    this.#portrait.render(this.#star, this.name, avatar);
  }

  /** @param {Update} update of the board of stars, which follows the star */
  update({ snapshot, me, state }) {
    if (!this.#star) return;
    this.renderName();
    const top = snapshot?.top ?? [];
    const entries = new Map([...(me?.around ?? []), ...top].map((entry) => [entry.member, entry]));
    const own = top.find(({ member }) => member === this.#star);
    const rank = own ? own.rank : (me?.rank ?? null);
    const score = own ? own.score : (me?.score ?? null);
    if (score !== null && this.isNobody) this.#setNobody('');
    else if (me) this.#check();
    const formats = (this.#formats = formatsOf(snapshot?.info));
    if (snapshot && rank !== null && score !== null && (this.#over === '' || this.#over === snapshot.period)) {
      this.#last = { period: snapshot.period, rank, amount: formats.exact(score, own ?? me ?? undefined) };
      this.#showResult();
    } else if (me && score === null && this.#over === '') this.#last = null; // it has left the board
    if (rank === null || rank > this.#risenTo) this.#showRise(0);
    this.#rank.hidden = rank === null;
    setText(this.#rank, rank === null ? '' : text('show_rank', { n: rank }));
    setAttribute(this.#rank, 'data-podium', rank !== null && rank <= 3 && String(rank));
    setText(
      this.#score,
      score !== null
        ? formats.exact(score, own ?? me ?? undefined)
        : partProblem(this.#star)
          ? text('show_no_such')
          : this.isNobody
            ? text('show_nobody')
            : me
              ? text('show_none_yet')
              : '',
    );
    setAttribute(this.#score, 'lang', score !== null && langOf(snapshot?.info?.display?.unit));
    this.#score.parentElement?.toggleAttribute('data-no-symbol', score === null || !hasSymbol(snapshot?.info));
    const order = [...entries.values()].sort((a, b) => a.rank - b.rank);
    const index = order.findIndex(({ member }) => member === this.#star);
    const above = order[index - 1];
    /** @type {[Entry, Entry, Entry, Formats] | null} */
    const places = rank !== null && index >= 0 && score !== null ? [{ ...order[index], score }, above, order[index + 1], formats] : null;
    setText(this.#gap, places ? gapText(...places) : '');
    const isLost = state === 'away' || state === 'stale';
    setText(this.#toPass, isLost ? words[state] : places ? toPassText(...places) : text('show_send'));
    setProperty(
      this.#progress,
      '--share',
      score === null || index < 0 ? 0 : above && above.score > 0 ? Math.max(0, score) / above.score : 1,
    );
  }
}

/**
 * @param {Entry} own
 * @param {Entry | undefined} above
 * @param {Entry | undefined} below
 * @param {Formats} formats
 */
function toPassText(own, above, below, formats) {
  if (!above || formats.heads || above.score < own.score) return gapText(own, above, below, formats);
  // At an equal score, the star that reached it first stays ahead.
  const [number, unit] = amountPieces(above.score - own.score + 1);
  return text('show_to_pass', { number, unit, name: above.name || above.member });
}

/**
 * @param {Entry} own
 * @param {Entry | undefined} above
 * @param {Entry | undefined} below
 * @param {Formats} formats
 */
function gapText(own, above, below, { gap }) {
  const { score } = own;
  if (above) {
    const values = { rank: above.rank, name: above.name || above.member };
    return above.score === score
      ? text('show_level', values)
      : text('show_behind', { ...values, amount: gap(Math.abs(above.score - score), above, own) });
  }
  if (!below || below.score === score) return text('show_first');
  return text('show_ahead', { amount: gap(Math.abs(score - below.score), own, below), name: below.name || below.member });
}
