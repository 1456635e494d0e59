// Uses half an emoji wherever the kit takes a text, and notes each error.
var half = 'Ana \u{1f600}'.slice(0, 5),
	told = {},
	tell = name => error => (told[name] = [error.code, error.field].join(' '));
import('/kit/rankcast.js').then(({connect}) => {
	const connection = connect();
	connection.send('gift', {user: half}).catch(tell('send'));
	connection.send(half, {user: 'u'}).catch(tell('event'));
	connection.subscribe('stars', {me: half}, {onState: (state, {problem}) => problem && tell('me')(problem)});
	connection.subscribe(half, {}, {onState: (state, {problem}) => problem && tell('board')(problem)});
	connection.feed(half, {onError: tell('feed')});
	connection.search('stars', half).catch(tell('search'));
	connection.search(half, 'ann').catch(tell('searched'));
	page.board().setAttribute('me', half);
});
