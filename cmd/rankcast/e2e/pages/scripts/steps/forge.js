// Tries what a page can do to a server with the cookies of the browser. forge resolves to the result of each attempt that is named.
var forge = async (server, ...names) => {
	const send = (method, path, options) =>
		fetch(server + path, {method, credentials: 'include', ...options}).then(
			({type, status}) => type + ' ' + status,
			() => 'refused',
		);
	const json = body => ({headers: {'content-type': 'application/json'}, body});
	const load = element =>
		new Promise(done => {
			element.onload = () => done('loaded');
			element.onerror = () => done('refused');
			document.body.append(element);
		});
	const attempts = {
		read: () => send('GET', '/v1/audit'),
		hide: () => send('PUT', '/v1/hidden/star/s17', json('{}')),
		define: () => send('PUT', '/v1/boards/forged', json('{}')),
		score: () => send('POST', '/v1/boards/stars/scores', json('{"updates":[{"member":"forged","score":1}]}')),
		scoreBlindly: () => send('POST', '/v1/boards/stars/scores', {mode: 'no-cors', body: '{"updates":[{"member":"forged","score":1}]}'}),
		reindexBlindly: () => send('POST', '/v1/reindex/star', {mode: 'no-cors'}),
		form: () => {
			const frame = Object.assign(document.createElement('iframe'), {name: 'answer'});
			const form = Object.assign(document.createElement('form'), {method: 'post', action: server + '/v1/reindex/star', target: 'answer'});
			document.body.append(frame, form);
			return new Promise(done => {
				frame.onload = () => done('loaded');
				form.submit();
			});
		},
		image: () => load(Object.assign(new Image(), {src: server + '/v1/audit'})),
		frame: () => load(Object.assign(document.createElement('iframe'), {src: server + '/console'})),
		socket: () =>
			new Promise(done => {
				const socket = new WebSocket(server.replace('http', 'ws') + '/v1/live');
				socket.onopen = () => socket.send('{"type":"subscribe","board":"stars"}');
				socket.onmessage = ({data}) => ['ok', 'error'].includes(JSON.parse(data).type) && done(JSON.parse(data).type);
				socket.onclose = () => done('refused');
			}),
		stream: () =>
			new Promise(done => {
				const stream = new EventSource(server + '/v1/boards/stars/live', {withCredentials: true});
				stream.onopen = () => done('opened');
				stream.onerror = () => stream.readyState === EventSource.CLOSED && done('refused');
			}),
		signOut: () => send('DELETE', '/v1/session', json()),
	};
	const results = {};
	for (const name of names) results[name] = await attempts[name]();
	return results;
};
