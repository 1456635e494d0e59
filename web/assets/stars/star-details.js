// @ts-check

/** One star: its place in the week, and its fans of today and of the last three hours. */

import { setAttribute, setProperty, setText } from '../../kit/rows.js';
import { numbers } from '../../kit/format.js';
import { instance, problemOfPart } from '../shared/board-name.js';
import { byId } from '../shared/page.js';
import { Portrait } from './portrait.js';
import { writeInitials } from './board-rows.js';
import { counted, text } from '../shared/texts.js';

/**
 * @typedef {import('../../kit/rankcast.js').Entry} Entry
 * @typedef {import('../../kit/rankcast.js').Update} Update
 */

export class StarPage {
  #name = byId('star-name', HTMLElement);
  #rank = byId('star-rank', HTMLElement);
  #score = byId('star-score', HTMLElement);
  #gap = byId('star-gap', HTMLElement);
  #progress = byId('star-progress', HTMLElement);
  #portrait = new Portrait();
  #boards = [
    { family: 'fans:{star}', section: byId('fans', HTMLElement), board: byId('fans-today', HTMLElement) },
    { family: 'fans3h:{star}', section: byId('fans3h', HTMLElement), board: byId('fans-3h', HTMLElement) },
  ];
  #profiles;
  #star = '';

  /** @param {import('./profile-cache.js').Profiles} profiles */
  constructor(profiles) {
    this.#profiles = profiles;
    byId('star-portrait', HTMLElement).append(this.#portrait.element);
    for (const { board } of this.#boards) {
      board.addEventListener('update', (event) => {
        const { snapshot, me } = /** @type {CustomEvent<Update>} */ (event).detail;
        profiles.see('user', [...(snapshot?.top ?? []), ...(me?.around ?? [])]);
        writeInitials(board);
      });
    }
  }

  /** The star's name, as far as it is known. */
  get name() {
    return this.#profiles.of('star', this.#star).name || this.#star;
  }

  /**
   * @param {string} star '': none
   * @param {string} me
   * @param {readonly string[]} missing boards that there are not
   */
  show(star, me, missing) {
    const other = star !== this.#star;
    this.#star = star;
    for (const { family, section, board } of this.#boards) {
      section.hidden = missing.includes(family) || problemOfPart(star) !== '';
      setAttribute(board, 'me', me);
      setAttribute(board, 'board', star && !section.hidden ? instance(family, [star]) : '');
    }
    if (star && other) this.hear({ snapshot: null, me: null, state: 'connecting' });
  }

  /** The star's name may be known now. */
  writeName() {
    if (!this.#star) return;
    const { avatar } = this.#profiles.of('star', this.#star);
    setText(this.#name, this.name);
    this.#portrait.write(this.#star, this.name, avatar);
  }

  /** @param {Update} update of the board of stars, on which the star is followed */
  hear({ snapshot, me }) {
    if (!this.#star) return;
    this.writeName();
    const top = snapshot?.top ?? [];
    const known = new Map([...(me?.around ?? []), ...top].map((entry) => [entry.member, entry]));
    const own = top.find(({ member }) => member === this.#star);
    const rank = own ? own.rank : (me?.rank ?? null);
    const score = own ? own.score : (me?.score ?? null);
    this.#rank.hidden = rank === null;
    setText(this.#rank, rank === null ? '' : text('stars_rank', { n: rank }));
    setAttribute(this.#rank, 'data-podium', rank !== null && rank <= 3 && String(rank));
    setText(this.#score, score !== null ? counted('stars_this_week', score) : problemOfPart(this.#star) ? text('stars_no_such') : me ? text('stars_none_yet') : '');
    const order = [...known.values()].sort((a, b) => a.rank - b.rank);
    const place = order.findIndex(({ member }) => member === this.#star);
    const above = order[place - 1];
    setText(this.#gap, rank === null || place < 0 || score === null ? '' : gapOf(score, above, order[place + 1]));
    setProperty(this.#progress, '--share', score === null || place < 0 ? 0 : above && above.score > 0 ? Math.max(0, score) / above.score : 1);
  }
}

/**
 * @param {number} score
 * @param {Entry | undefined} above
 * @param {Entry | undefined} below
 */
function gapOf(score, above, below) {
  if (above) {
    const values = { rank: above.rank, name: above.name || above.member };
    return above.score === score ? text('stars_level', values) : text('stars_behind', { ...values, score: numbers.format(above.score - score) });
  }
  if (!below || below.score === score) return text('stars_first');
  return text('stars_ahead', { score: numbers.format(score - below.score), name: below.name || below.member });
}
