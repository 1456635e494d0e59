// A board with columns in the element, on a page whose server is the test.

var columns = [
	{name: 'solved', order: 'desc', max: 20, title: {en: 'Solved', de: 'Gelöst'}},
	{name: 'penalty', order: 'asc', max: 99999, title: 'Penalty', display: {unit: 'min'}},
];
var packed = ([solved, penalty]) => solved * 100000 - penalty;
var scored = values => ({score: packed(values), columns: {solved: values[0], penalty: values[1]}});
var table = (seq, members, more) => ({
	...list(seq, []),
	...(seq === 1 && {info: {kind: 'team', period: null, columns}}),
	...more,
	top: members.map(([member, ...values], i) => ({rank: i + 1, member, ...scored(values)})),
});
var heads = () =>
	[...root.querySelectorAll('[part=head]')]
		.filter(head => head.checkVisibility())
		.map(head => head.title)
		.join(' | ');

// Each column has its head and its value, and says its name to those who do not see the head. What is missing is said by the
// first column that differs, in the direction that is better.
test('ElementShowsColumns', async () => {
	await openBoard({me: 'u'});
	say(
		table(1, [
			['a', 5, 320],
			['u', 4, 1300],
		]),
	);
	await becomes(text, '1 a Solved 5Penalty 320, me 2 u 1 Solved to next Solved 4Penalty 1,300');
	equal(heads(), 'Solved | Penalty, min');
	equal(root.querySelector('[part=heads]').ariaHidden, 'true');
	equal(root.querySelector('[data-member=u] [part=value]').checkVisibility(), true);
	say(
		table(2, [
			['a', 5, 320],
			['u', 5, 1300],
		]),
	);
	await becomes(text, '1 a Solved 5Penalty 320, me 2 u 980 min less Penalty to next Solved 5Penalty 1,300');
	// Below the list, the server says what is missing.
	var below = (seq, penalty) =>
		own(seq, 7, 0, {...scored([5, 1300]), to_next: penalty, to_next_columns: {solved: 0, penalty}});
	say(table(3, [['a', 6, 320]]), below(3, 15));
	await becomes(text, '1 a Solved 6Penalty 320, below 7 u 15 min less Penalty to next Solved 5Penalty 1,300');
	say(below(4, 0));
	await becomes(text, '1 a Solved 6Penalty 320, below 7 u level with the next Solved 5Penalty 1,300');
	// Another board has one number again.
	board.setAttribute('board', 'x');
	board.setAttribute('board', 'b');
	await becomes(() => sockets.at(-1).sent.at(-1).board, 'b');
	say({...list(1, [['a', 30]]), info: {kind: 'team', period: null}}, own(1, null, null));
	await becomes(text, '1 a 30, below u has no score yet');
	equal(heads(), '');
});

// A change shows what each column gained; less of an ascending column is better. Screen readers hear the names.
test('ElementTellsChangesByColumn', async () => {
	await openBoard({});
	say(
		table(1, [
			['a', 5, 320],
			['b', 4, 10],
		]),
	);
	await becomes(text, '1 a Solved 5Penalty 320, 2 b Solved 4Penalty 10');
	say(
		table(2, [
			['b', 6, 30],
			['a', 5, 300],
		]),
	);
	await becomes(text, '1 b Solved 6Penalty 30, 2 a Solved 5Penalty 300');
	var gain = (member, column) => root.querySelector(`[data-member=${member}] [data-column=${column}]`);
	equal(gain('b', 'solved').dataset.gain, '+2');
	equal(gain('b', 'penalty').dataset.gain, '+20');
	equal(gain('a', 'solved').dataset.gain, undefined);
	equal(gain('a', 'penalty').dataset.gain, '-20');
	var color = element => getComputedStyle(element, '::after').color;
	equal(color(gain('a', 'penalty')), color(gain('b', 'solved')));
	equal(color(gain('b', 'penalty')) === color(gain('b', 'solved')), false);
	await becomes(() => root.querySelector('[part=announcer]').textContent, 'b leads with Solved 6, Penalty 30 min.');
});
