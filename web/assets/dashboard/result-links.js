// @ts-check

/**
 * What a reader can do with a result while the board shows it: see in ten seconds how it came about, and keep its picture.
 * dashboard.js uses it.
 */

import { byId } from '../shared/dom.js';
import { encodeSegment, pageURL } from '../shared/links.js';
import { token } from '../shared/token.js';

/** The time for the whole story, s: one that its page offers. */
const STORY_S = '10';

export class ResultLinks {
  #element = byId('result-links', HTMLElement);
  #story = byId('result-story', HTMLAnchorElement);
  #picture = byId('result-picture', HTMLAnchorElement);

  /**
   * @param {HTMLElementTagNameMap['live-leaderboard']} leaderboard
   * @param {() => { board: string, me: string, hasStory: boolean }} now
   */
  constructor(leaderboard, now) {
    leaderboard.addEventListener('finish', ({ detail: { period } }) => {
      const { board, me, hasStory } = now();
      const result = period ? `${board.split('@')[0]}@${period}` : board;
      this.#story.hidden = !hasStory;
      this.#story.href = pageURL(`boards/${encodeSegment(result)}/story`, { me, play: STORY_S }).href;
      this.#picture.hidden = token !== ''; // a link passes no token to a picture
      this.#picture.href = pageURL(`boards/${encodeSegment(result)}/card.png`).href;
      this.#picture.download = `${result.replace(/[:@]/g, '-')}.png`;
      this.#element.hidden = this.#story.hidden && this.#picture.hidden;
    });
  }
}
