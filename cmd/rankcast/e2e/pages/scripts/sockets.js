// A stand-in for the server: sockets that note what is sent, frames, and what a watcher is told, in words.
var sockets = [];
globalThis.WebSocket = class extends EventTarget {
	static OPEN = 1;
	readyState = 1;
	sent = [];
	constructor() {
		super();
		sockets.push(this);
		queueMicrotask(() => this.dispatchEvent(new Event('open')));
	}
	send(text) {
		this.sent.push(JSON.parse(text));
	}
	close() {
		this.closed = true;
	}
	say(...frames) {
		for (const frame of frames) this.dispatchEvent(new MessageEvent('message', {data: JSON.stringify(frame)}));
	}
	lose(code = 1006, reason) {
		this.dispatchEvent(new CloseEvent('close', {code, reason}));
	}
};

// answerPings makes the sockets answer pings.
var answerPings = () => {
	WebSocket.prototype.send = (send =>
		function (text) {
			send.call(this, text);
			const {type, id} = JSON.parse(text);
			if (type === 'ping') this.say({type: 'pong', id});
		})(WebSocket.prototype.send);
};
var entries = members => [...members].map((member, i) => ({rank: i + 1, member, score: 100 - i}));
var snapshot = (seq, members, epoch = 'e') => ({
	type: 'snapshot',
	board: 'b',
	epoch,
	life: epoch,
	seq,
	total: 9,
	period: '',
	top: entries(members),
});
var delta = (from, seq, place, members, len) => ({
	type: 'delta',
	board: 'b',
	from,
	seq,
	total: 9,
	len,
	rows: [...members].map((member, i) => [place + i, {rank: place + i + 1, member, score: 1}]),
});
var me = (seq, rank) => ({type: 'me', board: 'b', seq, rank, score: 5, total: 9});

// asked is what a socket was sent last.
var asked = socket => {
	const {type, top, me = '-', around = 0, resume} = socket?.sent.at(-1) ?? {};
	return socket?.closed
		? ''
		: type === 'subscribe'
			? [top, me, around, resume ? resume.life + resume.seq : 'anew'].join(' ')
			: (type ?? '');
};

// asks waits until the newest socket was sent this.
var asks = want => becomes(() => asked(sockets.at(-1)), want);

// answer is that of the server: it takes what was sent last, and goes on with these frames.
var answer = (...frames) => sockets.at(-1).say({type: 'ok', id: sockets.at(-1).sent.at(-1).id}, ...frames);

var connection;
var connectKit = async () => (connection = (await import('/kit/rankcast.js')).connect('http://stand-in'));
var watch = wish => {
	const told = {list: '', own: '', state: '', error: '', problem: null};
	told.leave = connection.subscribe('b', wish, {
		onTop: ({top}) => (told.list = top.map(entry => entry.member).join('')),
		onMe: me => (told.own = me.rank + '@' + me.seq),
		onState: (state, {problem}) => {
			told.state = state;
			told.error = problem?.code ?? '';
			told.problem = problem;
		},
	});
	return told;
};
var tell = told => [told.list, told.own, told.state, told.error].join(' ').trim();
