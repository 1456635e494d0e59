// Checked by `make lint-web`: what the kit's declarations promise is what its modules are.

import * as connection from '../kit/connection.js';
import * as format from '../kit/format.js';
import * as element from '../kit/live-leaderboard.js';

type Kit = typeof import('../kit/rankcast.js');

export const kit: Kit = {
  connect: connection.connect,
  subscribe: connection.subscribe,
  scoreFormat: format.scoreFormat,
  words: format.words,
  LiveLeaderboard: element.LiveLeaderboard,
};
