// The goals of the followed member, on a page whose server is the test.
const part = name => root.querySelector('[part=' + name + ']');
const reached = [];
const openGoal = async attributes => {
	await openBoard({me: 'u', top: 3, goal: '500,1000,5000', ...attributes});
	board.addEventListener('goal', ({detail: {member, goal, score, next}}) => reached.push([member, goal, score, next].join(' ')));
};
// standing is a list in which the followed member has a score.
const standing = (seq, score, more) => list(seq, [['u', score]], more);
const shows = want =>
	becomes(
		() =>
			part('goal').checkVisibility() &&
			[part('goal-title'), part('goal-text')].map(part => part.textContent).join(': ') +
				' ' +
				getComputedStyle(part('goal-fill')).getPropertyValue('--_share'),
		want,
	);
const tells = want => becomes(() => reached.splice(0).join(', '), want);
const tellsNothing = async () => {
	await page.drawn();
	equal(reached.join(', '), '', 'what was told');
};

// Each level is told once: not by the first list, nor again after a take-back; of several at once, the highest.
test('GoalsAreToldOnce', async () => {
	await openGoal();
	stopClock();
	say(standing(1, 600, {info: {kind: 'star', display: {unit: 'flowers'}, period: null}}));
	await shows('u: 400 flowers to go 0.2');
	await tellsNothing();
	say(standing(2, 1100));
	await tells('u 1000 1100 5000');
	await shows('u: Goal reached 1');
	equal(part('announcer').textContent, 'u has reached the goal of 1,000 flowers.');
	equal(part('goal-sparks') !== null, true, 'sparks');
	pass(6000);
	await shows('u: 3,900 flowers to go 0.025');
	equal(part('goal-sparks'), null);
	// Taken back, the level is not reached, and reached again it is not told.
	say(standing(3, 900));
	await shows('u: 100 flowers to go 0.8');
	say(standing(4, 1000));
	await shows('u: 4,000 flowers to go 0');
	await tellsNothing();
	say(standing(5, 7000));
	await tells('u 5000 7000 ');
	pass(60e3);
	await shows('u: Goal reached 1');
	// Other goals count from here on.
	board.setAttribute('goal', '100,8000');
	await shows('u: 1,000 flowers to go 0.873');
	await tellsNothing();
	say(standing(6, 8000));
	await tells('u 8000 8000 ');
	// Nor does another member bring along what it has.
	board.setAttribute('me', 'v');
	await becomes(() => sockets.at(-1).sent.at(-1).me, 'v');
	say(list(7, [['u', 8000], ['v', 50]]));
	await shows('v: 50 to go 0.5');
	await tellsNothing();
	say(list(8, [['u', 8000], ['v', 8000]]));
	await tells('v 8000 8000 ');
});

// The bar leads from the level before to the next one, and names both. One level needs no such names.
test('GoalsNameTheEndsOfTheBar', async () => {
	const levels = () => [...part('goal-levels').children].map(level => level.textContent).join();
	const names = want => becomes(() => part('goal-levels').checkVisibility() && levels(), want);
	await openGoal();
	stopClock();
	say(standing(1, 100, {info: {kind: 'star', display: {decimals: 1}, period: null}}));
	await names('0.0,level 1 of 3,50.0');
	say(standing(2, 1100));
	await names('50.0,level 2 of 3,100.0');
	pass(6000);
	await names('100.0,level 3 of 3,500.0');
	say(standing(3, 9000));
	await names('100.0,level 3 of 3,500.0');
	board.setAttribute('goal', '10000');
	await names(false);
});

// Goals that go, and a member that is followed no more, leave nothing behind.
test('GoalsThatComeBackCountFromThere', async () => {
	await openGoal({calm: ''});
	say(standing(1, 400));
	await shows('u: 100 to go 0.8');
	say(standing(2, 500));
	await tells('u 500 500 1000');
	for (const [attribute, value, seq, score] of [
		['goal', '500,1000,5000', 3, 1100],
		['me', 'u', 5, 5100],
	]) {
		board.removeAttribute(attribute);
		await shows(false);
		await becomes(() => part('goal').hasAttribute('data-celebrates'), false);
		say(standing(seq, score));
		await page.drawn();
		board.setAttribute(attribute, value);
		if (attribute === 'me') await becomes(() => sockets.at(-1).sent.at(-1).me, 'u');
		say(standing(seq + 1, score + 1));
		await becomes(() => text().includes((score + 1).toLocaleString()), true);
		await becomes(() => part('goal').checkVisibility(), true);
		await tellsNothing();
	}
});

// Several levels at once are one event, also for a member below the list, and one that had no score.
test('GoalsOfAMemberBelowTheList', async () => {
	await openGoal({top: 1});
	say(list(1, [['a', 90000]]), own(1, null, null));
	await shows('u: 500 to go 0');
	await tellsNothing();
	say(own(2, 7, 1200, {to_next: 3, around: [{rank: 7, member: 'u', score: 1200, name: 'Uma'}]}));
	await tells('u 1000 1200 5000');
	await shows('Uma: Goal reached 1');
});

// A period begins anew without a word, and so does another store. A connection that comes back tells what was reached meanwhile, once.
test('GoalsBeginAnewWithAPeriod', async () => {
	const ends = '2999-01-01T00:00:00Z';
	await openGoal();
	say(standing(1, 400, {period: '1', ends}));
	await shows('u: 100 to go 0.8');
	say(standing(2, 500, {period: '1', ends}));
	await tells('u 500 500 1000');
	say({...standing(3, 700, {period: '2', ends, epoch: 'f'}), top: [{rank: 1, member: 'u', score: 700, name: 'Uma'}]});
	await shows('Uma: 300 to go 0.4');
	await tellsNothing();
	// A member without a score comes without its name.
	say(list(1, [], {period: '3', ends, epoch: ''}), own(1, null, null));
	await shows('Uma: 500 to go 0');
	say(standing(2, 500, {period: '3', ends, epoch: 'g'}), own(2, 1, 500));
	await tells('u 500 500 1000');
	say(standing(1, 600, {period: '3', ends, epoch: 'h'}));
	await page.drawn();
	await tellsNothing();
	for (const want of ['u 1000 1000 5000', '']) {
		const socket = sockets.at(-1);
		socket.lose();
		dispatchEvent(new Event('online'));
		await becomes(() => sockets.at(-1) !== socket && sockets.at(-1).sent.at(-1)?.type, 'subscribe');
		say(standing(3, 1000, {period: '3', ends, epoch: 'h'}));
		await becomes(() => board.dataset.state, 'live');
		await page.drawn();
		equal(reached.splice(0).join(), want);
	}
	// A final result has no more to go.
	say(standing(4, 1200, {period: '3', ends, epoch: 'h', final: true}));
	await shows('Uma: 1,200 / 5,000 0.05');
});

// Goals that are wrong show nothing, and a warning; nor has a board any where less is better, or with columns.
test('WrongGoalsAreHidden', async () => {
	const warned = [];
	console.warn = text => warned.push(text);
	await openGoal();
	say(standing(1, 600));
	await shows('u: 400 to go 0.2');
	const wrong = ['5,3', '500,500', '0', '-5', '1.5', '1,,2', '', 'x', '9007199254740992', '1,2,3,4,5,6,7,8,9,10,11'];
	for (const goal of wrong) {
		board.setAttribute('goal', goal);
		await becomes(() => warned.splice(0).length, 1);
		await shows(false);
	}
	board.setAttribute('goal', '1,2,3,4,5,6,7,8,9,9007199254740991');
	await becomes(() => part('goal-text').textContent, '9,007,199,254,740,391 to go');
	await shows('u: 9,007,199,254,740,391 to go 0');
	for (const info of [
		{kind: 'star', order: 'asc', period: null},
		{kind: 'star', columns: [{name: 'solved'}], period: null},
	]) {
		board.setAttribute('board', 'x');
		board.setAttribute('board', 'b');
		await becomes(() => text() + sockets.at(-1).sent.at(-1).board, 'b');
		say(standing(1, 700, {info}));
		await becomes(() => root.querySelectorAll('[data-member]').length, 1);
		await shows(false);
	}
	equal(warned.length, 0);
	await tellsNothing();
});

// A name, a unit and a score are text, whatever they hold.
test('GoalsAreText', async () => {
	const hostile = '<img src=x onerror=alert(1)>\u202e';
	await openGoal();
	const info = {kind: 'star', title: hostile, display: {unit: hostile}, period: null};
	say({...standing(1, 600, {info}), top: [{rank: 1, member: 'u', score: 600, name: hostile}]});
	await becomes(() => part('goal-title').textContent, hostile);
	await becomes(() => part('title').textContent, hostile);
	await becomes(() => root.querySelectorAll('[part=goal] img, [part=header] img').length, 0);
});

// Calm, a level is told and nothing flies.
test('GoalsAreCalm', async () => {
	await openGoal({calm: ''});
	say(standing(1, 400));
	await shows('u: 100 to go 0.8');
	say(standing(2, 500));
	await tells('u 500 500 1000');
	await shows('u: Goal reached 1');
	equal(part('goal-sparks'), null);
	equal(part('goal').getAnimations({subtree: true}).length, 0, 'animations');
});
