// Writes, reads and watches a board with types that generators have made of the contract: node client.js URL
import createClient from 'openapi-fetch';
import { WebSocket } from 'ws';
import type { paths } from './openapi.js';
import type { Delta } from './messages/Delta.js';
import type { Entry } from './messages/Entry.js';
import type { ErrorMessage } from './messages/ErrorMessage.js';
import type { Snapshot } from './messages/Snapshot.js';
import type { Subscribe } from './messages/Subscribe.js';

const url = process.argv[2]!;
const board = 'typescript';
const http = createClient<paths>({ baseUrl: url });

const defined = await http.PUT('/v1/boards/{board}', { params: { path: { board } }, body: { kind: 'player' } });
if (!defined.data || 'definition' in defined.data) throw new Error('want a definition, and no preview');
console.log('defined', defined.data.board);

const written = await http.POST('/v1/boards/{board}/scores', {
  params: { path: { board } },
  body: { updates: [{ member: 'ana', score: 40, id: 'm1' }, { member: 'eli', score: 30 }] },
});
if (!written.data || !('results' in written.data)) throw new Error('want a result for each update');
for (const result of written.data.results) console.log('wrote', 'error' in result ? result.error.code : `${result.member} ${result.score}`);

const page = await http.GET('/v1/boards/{board}/top', { params: { path: { board }, query: { limit: 1 } } });
for (const entry of page.data?.top ?? []) console.log('read', entry.rank, entry.member, entry.score);

const unknown = await http.GET('/v1/boards/{board}/top', { params: { path: { board: 'nosuch' } } });
console.log('refused', unknown.error?.code);

const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/live`, 'rankcast.v1');
const list: Entry[] = [];
socket.on('open', () => socket.send(JSON.stringify({ type: 'subscribe', board, top: 2 } satisfies Subscribe)));
socket.on('message', async (data) => {
  const frame = JSON.parse(String(data)) as Snapshot | Delta | ErrorMessage | { type: 'ok' | 'status' };
  switch (frame.type) {
    case 'snapshot':
      list.splice(0, list.length, ...frame.top);
      await http.POST('/v1/boards/{board}/scores', { params: { path: { board } }, body: { member: 'mia', score: 50 } });
      break;
    case 'delta':
      for (const [index, entry] of frame.rows) list[index] = entry;
      list.length = frame.len;
      console.log('watched', list.map(({ member, score }) => `${member} ${score}`).join(', '));
      socket.close();
      break;
    case 'error':
      throw new Error(frame.message);
  }
});
