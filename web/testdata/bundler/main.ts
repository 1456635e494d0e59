import { connect, type LiveLeaderboard, type Snapshot } from 'rankcast-kit';

const server = 'http://127.0.0.1:8080';

const board: LiveLeaderboard = document.createElement('live-leaderboard');
board.setAttribute('server', server);
board.setAttribute('board', 'stars');
board.addEventListener('new-leader', ({ detail }) => console.log(`${detail.entry.member} leads`));

const line = document.createElement('p');
const write = ({ total, top }: Snapshot) => {
  line.textContent = `${total} stars, first ${top[0]?.member ?? 'nobody'}`;
};
connect(server).subscribe('stars', { top: 1 }, { onTop: write });
document.body.append(board, line);
