// Events that a page sends by the kit.

// An event counts once, also after lost connections and answers.
test('PageSendsAnEventUntilItIsAnswered', async () => {
	const sent = want =>
		becomes(
			() =>
				sockets
					.map(({sent}) =>
						sent
							.filter(({type}) => type === 'event')
							.map(({event, data: {id, n}}) => event + n + (id === ids[n] ? '' : id))
							.join(),
					)
					.join(' '),
			want,
		);
	const reply = frame => sockets.at(-1).say({id: sockets.at(-1).sent.findLast(({type}) => type === 'event').id, ...frame});
	await connectKit();
	stopClock();
	var ids = [, 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'],
		results = {};
	var send = n =>
		connection.send('gift', {n, id: ids[n]}).then(
			all => (results[n] = JSON.stringify(all)),
			problem => (results[n] = problem.code),
		);
	send(1);
	await sent('gift1');
	sockets[0].lose();
	pass(1e3);
	await sent('gift1 gift1');
	reply({type: 'error', code: 'unavailable', message: ''});
	await tick();
	pass(1e3);
	await sent('gift1 gift1,gift1');
	// The server has applied half of the event.
	reply({type: 'result', results: [{score: 1}, {error: {code: 'unavailable'}}]});
	await tick();
	pass(2e3);
	await sent('gift1 gift1,gift1,gift1');
	await becomes(() => results[1], undefined);
	reply({type: 'result', results: [{score: 1}, {score: 2}]});
	await becomes(() => String(results[1]), '[{"score":1},{"score":2}]');
	pass(60e3);
	await sent('gift1 gift1,gift1,gift1');
	await becomes(() => sockets.at(-1).closed, true);
	// The kit gives an event without an id one. A refusal is final.
	connection
		.send('gift', {n: 12})
		.catch(
			error =>
				(results[12] = [error, error instanceof Error, error.name, error.message, error.code, error.field].join(', ')),
		);
	await becomes(() => sockets.length, 3);
	await becomes(() => /^[0-9a-f]{32}$/.test(sockets[2].sent.at(-1)?.data.id), true);
	reply({type: 'error', code: 'invalid_request', field: 'flowers', message: 'flowers is missing'});
	await becomes(
		() => String(results[12]),
		'RankcastError: flowers is missing, true, RankcastError, flowers is missing, invalid_request, flowers',
	);
	// After nine minutes the kit gives up, since the server may have forgotten the id and would count the event twice. It does
	// so without an answer, without a server, and after the machine has slept.
	var latest = () => sockets.at(-1).sent.findLast(({type}) => type === 'event')?.data?.n + '',
		total = n => sockets.flatMap(({sent}) => sent).filter(({type, data}) => type === 'event' && data.n === n).length + '';
	answerPings();
	send(2);
	await becomes(() => latest(), '2');
	pass(539e3);
	await becomes(() => results[2], undefined);
	pass(2e3);
	await becomes(() => String(results[2]), 'unavailable');
	await becomes(() => total(2), '1');
	send(3);
	await becomes(() => latest(), '3');
	sockets.at(-1).lose();
	for (let i = 0; i < 60; i++) {
		pass(10e3);
		sockets.at(-1).lose();
	}
	await becomes(() => String(results[3]), 'unavailable');
	send(5);
	await becomes(() => (pass(1e3), latest()), '5');
	asleep += 30 * 60e3;
	sockets.at(-1).lose();
	pass(1e3);
	await becomes(() => (pass(1e3), String(results[5])), 'unavailable');
	await becomes(() => total(5), '1');
	asleep -= 60 * 60e3;
	send(6);
	await becomes(() => latest(), '6');
	asleep -= 30 * 60e3;
	sockets.at(-1).lose();
	pass(1e3);
	await becomes(() => (pass(1e3), String(results[6])), 'unavailable');
	// The event is on its way once, over however many connections, and not at all after an answer.
	send(7);
	await becomes(() => latest(), '7');
	reply({type: 'error', code: 'unavailable', message: ''});
	await tick();
	sockets.at(-1).lose();
	pass(250);
	await becomes(() => (pass(100), total(7)), '2');
	reply({type: 'error', code: 'unavailable', message: ''});
	await tick();
	sockets.at(-1).lose();
	pass(500);
	await becomes(() => (pass(100), total(7)), '3');
	reply({type: 'result', results: [{score: 7}]});
	await becomes(() => String(results[7]), '[{"score":7}]');
	pass(100e3);
	await becomes(() => total(7), '3');
	// The server closes with a final code.
	send(8);
	await becomes(() => (pass(100), latest()), '8');
	sockets.at(-1).lose(4500);
	await becomes(() => String(results[8]), 'closed');
	send(9);
	await becomes(() => String(results[9]), 'closed');
});
