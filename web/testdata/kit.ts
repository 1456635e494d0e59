// Checked by `make lint-web`: what the kit's declarations promise is what its modules are.

import * as connection from '../kit/connection.js';
import * as format from '../kit/format.js';

type Kit = typeof import('../kit/rankcast.js');

export const kit: Pick<Kit, 'connect' | 'subscribe' | 'scoreFormat' | 'timeLeft' | 'words'> = {
  connect: connection.connect,
  subscribe: connection.subscribe,
  scoreFormat: format.scoreFormat,
  timeLeft: format.timeLeft,
  words: format.words,
};
