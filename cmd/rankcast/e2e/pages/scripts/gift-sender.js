// senderHistory runs a random history of the sender of gifts, by the clock of clock.js, with a line and a server of its own:
// taps, pauses, late and missing answers, changes of the bound, and pages that end with and without a pagehide event. The
// result names each fault: an id with two contents, an event beyond the bound, what does not count exactly once.
var senderHistory = async seed => {
	const {GiftSender} = await import('/assets/show/gift-sender.js');
	let state = seed;
	const below = n => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % n;
	const listen = addEventListener,
		listenToDocument = document.addEventListener;
	const wrong = [],
		server = new Map(),
		tapped = {},
		bounds = new Map();
	let line = [],
		onPageHide = [],
		sender,
		bound = 99;
	const tick = () =>
		new Promise(resolve => {
			const {port1, port2} = new MessageChannel();
			port1.onmessage = resolve;
			port2.postMessage(0);
		});
	const deliver = ({gift}) => {
		const contents = JSON.stringify([gift.star, gift.fan, gift.amount]);
		if ((server.get(gift.id) ?? contents) !== contents)
			wrong.push('id reused: ' + contents + ' after ' + server.get(gift.id));
		if (gift.amount > bounds.get(gift.id)) wrong.push(gift.amount + ', beyond ' + bounds.get(gift.id));
		server.set(gift.id, contents);
	};
	const openPage = () => {
		(timers.clear(), (line = []), (onPageHide = []));
		document.addEventListener = () => {}; // a window that the browser hides would wake the senders of pages that have ended
		globalThis.addEventListener = (type, listener) => type === 'pagehide' && onPageHide.push(listener);
		sender = new GiftSender(
			'gift',
			gift =>
				new Promise((resolve, reject) => {
					// A gift of the page before was perhaps sent under another bound, and stays as it was.
					if (!bounds.has(gift.id)) bounds.set(gift.id, resumes ? largest : bound);
					line.push({gift: {...gift}, resolve, reject});
				}),
			{onChange() {}, onAccepted() {}, onRefused: (gift, problem) => wrong.push(String(problem.stack))},
		);
		((globalThis.addEventListener = listen), (document.addEventListener = listenToDocument));
		sender.setBound(bound);
		resumes = true;
		sender.resume();
		resumes = false;
	};
	const answer = () => {
		const [event] = line.splice(below(line.length), 1);
		deliver(event);
		event.resolve([{board: 'stars'}]);
	};
	let largest = bound,
		resumes = false;
	sessionStorage.clear();
	openPage();
	for (let step = 0; step < 300; step++) {
		const kind = below(20);
		if (kind < 12) {
			const [star, fan, choice] = [['s1', 's2'][below(2)], ['ann', 'bo'][below(2)], [1, 10, 99][below(3)]];
			sender.tap(star, fan, choice);
			tapped[star + fan] = (tapped[star + fan] ?? 0) + choice;
			pass(below(200));
		} else if (kind < 14) pass(below(2_000));
		else if (kind < 17 && line.length) answer();
		else if (kind === 17 && line.length) deliver(line[below(line.length)]);
		else if (kind === 18) ((largest = Math.max(largest, (bound = [30, 99, 1_000][below(3)]))), sender.setBound(bound));
		else if (kind === 19) {
			if (below(2)) for (const listener of onPageHide) listener();
			for (const event of line) if (below(2)) deliver(event);
			openPage();
		}
		await tick();
	}
	pass(1_000);
	for (; line.length; await tick()) answer();
	if (sessionStorage.getItem('rankcast gifts /show/gift') !== '[]')
		wrong.push('still stored: ' + sessionStorage.getItem('rankcast gifts /show/gift'));
	if (sender.pending !== 0) wrong.push(sender.pending + ' pending');
	const counted = {};
	for (const contents of server.values()) {
		const [star, fan, amount] = JSON.parse(contents);
		counted[star + fan] = (counted[star + fan] ?? 0) + amount;
	}
	for (const of of Object.keys(tapped))
		if (counted[of] !== tapped[of]) wrong.push(of + ' has ' + counted[of] + ' of ' + tapped[of]);
	return wrong.join('; ') || 'nothing in ' + server.size + ' events';
};
