// @ts-check

/** The view of one star: its rank this week, and its fans of today and of the last three hours. */

import { numbers, words } from '../../kit/format.js';
import { formatsOf } from '../shared/board-display.js';
import { partProblem } from '../shared/board-name.js';
import { byId, setAttribute, setProperty, setText } from '../shared/dom.js';
import { Portrait } from '../shared/portrait.js';
import { countedText, text } from '../shared/texts.js';
import { isInView, renderFlowers } from './board-rows.js';
import { instance, isKnown, show } from './show.js';

/**
 * @typedef {import('../../kit/rankcast.js').Entry} Entry
 * @typedef {import('../../kit/rankcast.js').Update} Update
 * @typedef {import('../shared/board-display.js').Formats} Formats
 */

export class StarDetails {
  #name = byId('star-name', HTMLElement);
  #rank = byId('star-rank', HTMLElement);
  #score = byId('star-score', HTMLElement);
  #gap = byId('star-gap', HTMLElement);
  /** Beside the buttons, where they stand at the bottom of a narrow window. */
  #toPass = byId('gift-gap', HTMLElement);
  #progress = byId('star-progress', HTMLElement);
  #portrait = new Portrait();
  #fanBoards = [
    {
      of: () => show?.fans,
      section: byId('fans', HTMLElement),
      board: byId('fans-today', HTMLElement),
      count: byId('fans-today-count', HTMLElement),
    },
    {
      of: () => show?.recent,
      section: byId('fans3h', HTMLElement),
      board: byId('fans-3h', HTMLElement),
      count: byId('fans-3h-count', HTMLElement),
    },
  ];
  #profiles;
  #star = '';

  /** @param {import('./profile-cache.js').ProfileCache} profiles */
  constructor(profiles) {
    this.#profiles = profiles;
    byId('star-portrait', HTMLElement).replaceChildren(this.#portrait.element);
    for (const { board, count } of this.#fanBoards) {
      board.addEventListener('update', (event) => {
        const { snapshot, me, state } = /** @type {CustomEvent<Update>} */ (event).detail;
        profiles.addEntries('user', [...(snapshot?.top ?? []), ...(me?.around ?? [])]);
        renderFlowers(board);
        board.toggleAttribute('data-to-come', !snapshot && state === 'connecting');
        setText(count, snapshot ? countedText('stars_fan_count', snapshot.total) : '');
      });
    }
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
    for (const { of, section, board } of this.#fanBoards) {
      const family = of();
      section.hidden = (isKnown && !family) || partProblem(star) !== '';
      setAttribute(board, 'me', me);
      setAttribute(board, 'board', family && star && !section.hidden ? instance(family, star) : '');
    }
    if (star && changed) this.update({ snapshot: null, me: null, state: 'connecting' });
  }

  renderName() {
    if (!this.#star) return;
    const { avatar } = this.#profiles.star(this.#star);
    setText(this.#name, this.name);
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
    const formats = formatsOf(snapshot?.info);
    this.#rank.hidden = rank === null;
    setText(this.#rank, rank === null ? '' : text('stars_rank', { n: rank }));
    setAttribute(this.#rank, 'data-podium', rank !== null && rank <= 3 && String(rank));
    setText(
      this.#score,
      score !== null
        ? formats.heads
          ? formats.exact(score, own ?? me ?? undefined)
          : countedText('stars_this_week', score)
        : partProblem(this.#star)
          ? text('stars_no_such')
          : me
            ? text('stars_none_yet')
            : '',
    );
    const order = [...entries.values()].sort((a, b) => a.rank - b.rank);
    const index = order.findIndex(({ member }) => member === this.#star);
    const above = order[index - 1];
    /** @type {[Entry, Entry, Entry, Formats] | null} */
    const places = rank !== null && index >= 0 && score !== null ? [{ ...order[index], score }, above, order[index + 1], formats] : null;
    setText(this.#gap, places ? gapText(...places) : '');
    const isLost = state === 'away' || state === 'stale';
    setText(this.#toPass, isLost ? words[state] : places ? toPassText(...places) : text('stars_send'));
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
  // At an equal score, the star that reached it first stays ahead.
  return above && !formats.heads
    ? countedText('stars_to_pass', above.score - own.score + 1, { name: above.name || above.member })
    : gapText(own, above, below, formats);
}

/**
 * @param {Entry} own
 * @param {Entry | undefined} above
 * @param {Entry | undefined} below
 * @param {Formats} formats
 */
function gapText(own, above, below, { heads, gap }) {
  const { score } = own;
  const format = heads ? gap : numbers.format;
  if (above) {
    const values = { rank: above.rank, name: above.name || above.member };
    return above.score === score
      ? text('stars_level', values)
      : text('stars_behind', { ...values, score: format(above.score - score, above, own) });
  }
  if (!below || below.score === score) return text('stars_first');
  return text('stars_ahead', { score: format(score - below.score, own, below), name: below.name || below.member });
}
