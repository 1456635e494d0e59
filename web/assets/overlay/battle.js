// @ts-check

/**
 * What happens at the top of the overlay's list: a member that comes close to the place above is told of in the line of the title,
 * and a new leader below the rows, where there is room.
 */

import { byId, setText } from '../shared/dom.js';
import { text } from '../shared/texts.js';

/** A battle is worth the line of the title for some seconds, and not all the time. */
const SHOWN_MS = 6_000;
const PAUSE_MS = 20_000;
const LEADER_PAUSE_MS = 10_000;
/** The height of an alert and the space around it, in heights of the line of the title. */
const ALERT_LINES = 3;

/**
 * @param {HTMLElementTagNameMap['live-leaderboard']} board
 * @param {import('./alert.js').Alerts} alerts
 */
export function showBattles(board, alerts) {
  const line = byId('battle', HTMLElement);
  const stage = byId('stage', HTMLElement);
  const heading = byId('heading', HTMLElement);
  let [toldAt, ledAt] = [-Infinity, -Infinity];
  // Beside a result, a reader would take a line about the next period for one about the last.
  const isFinal = () => board.hasAttribute('data-finish');
  board.setAttribute('moments', ''); // look.css hides those of the element
  board.addEventListener('moment', ({ detail }) => {
    const now = performance.now();
    if (isFinal() || detail.kind !== 'closing' || now - toldAt < PAUSE_MS) return;
    toldAt = now;
    setText(line, detail.text);
    line.hidden = false;
    setTimeout(() => (line.hidden = true), SHOWN_MS);
  });
  board.addEventListener('finish', () => (line.hidden = true));
  board.addEventListener('new-leader', ({ detail: { entry } }) => {
    const now = performance.now();
    const room = stage.clientHeight - byId('frame', HTMLElement).offsetHeight;
    if (isFinal() || now - ledAt < LEADER_PAUSE_MS || room < ALERT_LINES * heading.offsetHeight || heading.offsetHeight < 10) return;
    ledAt = now;
    const { member: id, name = id, avatar } = entry;
    alerts.show({ weight: 0, id, name, avatar, line: text('overlay_leads'), amount: '' });
  });
}
