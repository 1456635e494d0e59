// `make lint-web` checks with this file that the kit's modules have the types that rankcast.d.ts declares.

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
