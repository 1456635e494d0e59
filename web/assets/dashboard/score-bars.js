// @ts-check

/**
 * The share of each row in the leader's score, as a line (score-bars.css). Times, columns, lists where the least score leads, and
 * lists whose leader has nothing have none.
 */

/** @typedef {import('../../kit/rankcast.js').Update} Update */

/** A line changes with this share at least, so that a list of 1,000 rows writes few styles while its leader gains. */
const STEPS = 200;

export class ScoreBars {
  #leaderboard;
  /** Share by row, in steps, as shown. @type {WeakMap<Element, number>} */
  #shown = new WeakMap();

  /** @param {HTMLElementTagNameMap['live-leaderboard']} leaderboard */
  constructor(leaderboard) {
    this.#leaderboard = leaderboard;
  }

  /**
   * @param {Update} update
   * @param {import('./definition-summary.js').Definition | undefined} definition
   */
  update({ snapshot, me }, definition) {
    const most = snapshot?.top[0]?.score ?? 0;
    const has = most > 0 && definition?.order === 'desc' && !definition.display?.format && !definition.columns;
    this.#leaderboard.toggleAttribute('data-bars', has);
    const rows = this.#leaderboard.shadowRoot?.querySelector('[part=list]')?.children;
    if (!has || !rows || !snapshot) return;
    [...rows].forEach((row, i) => {
      if (!(row instanceof HTMLElement)) return;
      // A row below the list may have been one of the list.
      const own = row.matches('[part~=me]') ? me : me?.around?.find(({ member }) => member === row.dataset.member);
      const score = (snapshot.top[i] ?? own)?.score ?? 0;
      const share = Math.round((Math.max(0, score) / most) * STEPS);
      if (this.#shown.get(row) === share) return;
      this.#shown.set(row, share);
      row.style.setProperty('--share', String(share / STEPS));
    });
  }
}
