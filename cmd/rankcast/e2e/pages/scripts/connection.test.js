// Connections of the kit: where they lead, and how it notices that one is gone.
const noServers = () => {
	globalThis.urls = [];
	globalThis.WebSocket = class extends EventTarget {
		static OPEN = 1;
		constructor(url) {
			super();
			urls.push(url);
			if (url.startsWith('ftp')) throw new SyntaxError('no such scheme');
		}
		close() {}
	};
};

// A page measures the round-trip time to its server. The kit notices that a connection is gone, and connects again after
// growing random waits, or at the time that the server names.
test('PagePings', async () => {
	await connectKit();
	stopClock();
	const lags = [],
		ping = () => connection.ping().then(ms => lags.push(ms));
	ping();
	await becomes(() => String(lags), '');
	await becomes(() => JSON.stringify(lags), '[null]');
	const u = watch({top: 1});
	watch({top: 2});
	await asks('2 - 0 anew');
	// The first socket is not needed any more.
	u.leave();
	pass(1e3);
	await becomes(() => sockets[0].closed, true);
	ping();
	pass(30);
	sockets[1].say({type: 'pong', id: sockets[1].sent.at(-1).id});
	await becomes(() => JSON.stringify(lags), '[null,30]');
	ping();
	sockets[1].lose();
	await becomes(() => JSON.stringify(lags), '[null,30,null]');
	// The bound of the random wait doubles each time.
	let luck = 0.5;
	Math.random = () => luck;
	var wait = () => {
		const before = sockets.length,
			from = now;
		while (sockets.length === before && now - from < 80e3) pass(1);
		return now - from;
	};
	var waits = codes => codes.map(code => (sockets.at(-1).lose(code), wait())).join();
	await tick();
	pass(250);
	await asks('2 - 0 anew');
	pass(5e3); // a connection that lasts so long is good
	await tick();
	equal(waits(Array(8).fill(1006)), '125,250,500,1000,2000,4000,7500,7500');
	luck = 0.1;
	equal(waits([1006, 1006]), '1500,1500');
	await asks('2 - 0 anew');
	luck = 0.5;
	pass(4999);
	await tick();
	equal(waits([1006]), '7500');
	await asks('2 - 0 anew');
	pass(5e3);
	await tick();
	equal(waits([1006]), '125');
	// The waits are longer if the server is overloaded, or closed for a violation.
	await asks('2 - 0 anew');
	pass(5e3);
	await tick();
	equal(waits([1008, 1006]), '2000,4000');
	await asks('2 - 0 anew');
	pass(5e3);
	await tick();
	equal(waits([1013, 1006]), '2000,4000');
	// A server that stops names the earliest time to come back, which the kit bounds.
	await asks('2 - 0 anew');
	sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 4e3});
	await tick();
	equal(waits([1001]), '5000');
	await asks('2 - 0 anew');
	sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 1e9});
	await tick();
	equal(waits([1001]), '75000');
	await asks('2 - 0 anew');
	sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 4e3});
	sockets.at(-1).lose(1001);
	var count = sockets.length,
		dialed = [],
		online = ms => {
			pass(ms);
			dispatchEvent(new Event('online'));
			dialed.push(sockets.length - count);
		};
	online(3999);
	online(1);
	await becomes(() => dialed.join(), '0,1');
	// The kit connects at once when the network is back.
	await asks('2 - 0 anew');
	sockets.at(-1).lose();
	online(0);
	await becomes(() => dialed.join(), '0,1,2');
	// The kit gives up a connection that never opens, and one that does not answer a ping.
	await asks('2 - 0 anew');
	sockets.at(-1).lose();
	online(0);
	var stuck = sockets.at(-1),
		given = [9999, 1].map(ms => (pass(ms), stuck.closed ?? false));
	await becomes(() => given.join(), 'false,true');
	wait();
	await asks('2 - 0 anew');
	stuck = sockets.at(-1);
	pass(20e3);
	await becomes(() => stuck.sent.at(-1).type, 'ping');
	stuck.say({type: 'pong', id: stuck.sent.at(-1).id});
	pass(5e3);
	await becomes(() => stuck.closed, undefined);
	pass(15e3);
	await becomes(() => stuck.sent.at(-2).type + stuck.sent.at(-1).type, 'pingping');
	pass(4999);
	await becomes(() => stuck.closed, undefined);
	pass(1);
	await becomes(() => stuck.closed, true);
	wait();
	await asks('2 - 0 anew');
	// It does so also when the clock is set back.
	stuck = sockets.at(-1);
	Date.now = (
		real => () =>
			real() - 3600e3
	)(Date.now);
	pass(20e3);
	await becomes(() => stuck.sent.at(-1).type, 'ping');
	pass(5e3);
	await becomes(() => stuck.closed, true);
	wait();
	await asks('2 - 0 anew');
	// Boards beyond the limit of one socket go over another.
	count = sockets.length;
	for (let i = 0; i < 101; i++) connection.subscribe('more' + i, {}, {});
	await becomes(() => sockets.length - count, 1);
	await becomes(
		() =>
			sockets
				.slice(-2)
				.map(({sent}) => new Set(sent.map(({board}) => board).filter(board => board)).size)
				.join(),
		'2,100',
	);
});

// The address of a server may have a path, be that of the page, or be invalid.
test('PageFindsItsServer', async () => {
	noServers();
	var kit,
		states = [];
	import('/kit/rankcast.js').then(all => (kit = all));
	await becomes(() => typeof kit, 'object');
	for (const server of ['https://a.example/boards', 'https://b.example/boards/', '/below', undefined])
		kit.connect(server).subscribe('b', {}, {});
	await becomes(
		() => urls.join(' ').replaceAll(location.host, 'HERE'),
		'wss://a.example/boards/v1/live wss://b.example/boards/v1/live ws://HERE/below/v1/live ws://HERE/v1/live',
	);
	var inTime;
	kit.connect('ftp://c.example').subscribe('b', {}, {onState: (state, {problem}) => states.push(state + ' ' + problem?.code)});
	inTime = states.length;
	await becomes(() => inTime + states.join(), '0stopped cannot_connect');
	var board = document.createElement('live-leaderboard');
	board.setAttribute('board', 'b');
	board.setAttribute('server', 'http://');
	document.body.append(board);
	await becomes(() => board.dataset.state, 'stopped');
	await becomes(() => /Invalid URL/.test(board.shadowRoot.querySelector('[part=note]').textContent), true);
});

// The server of a copy from another address, as in a bundle, is the page's own.
test('CopyOfTheKitFindsItsServer', async () => {
	noServers();
	fetch('/kit/rankcast.js')
		.then(answer => answer.blob())
		.then(blob => import(URL.createObjectURL(blob)))
		.then(({subscribe}) => subscribe('b', {}, {}));
	await becomes(() => urls.join(' ').replaceAll(location.host, 'HERE'), 'ws://HERE/v1/live');
});
