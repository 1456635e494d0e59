Object.assign(page, {
	// shownBoard is the element that the wall shows; none while it plays a story.
	shownBoard: () => page.all('live-leaderboard').find(board => board.checkVisibility()),
	// shownRows are the rows of that element, as words.
	shownRows: () =>
		page
			.all('[part=list] > [part~=row]', page.shownBoard()?.shadowRoot ?? document)
			.map(page.words)
			.join(' | '),

	// scene is what the wall shows: its title, and "story" while it plays one.
	scene: () => page.text('#name') + (document.querySelector('#replay').checkVisibility() ? ': story' : ''),

	// leader is what the wall says about the leader.
	leader: () =>
		['label', 'name', 'score', 'ahead'].map(part => page.text('.leader-' + part)).join(' | '),

	// wallFaults names the parts that are out of view, those that cover another one, and a list that has room for one more row.
	wallFaults: () => {
		const faults = [];
		const board = page.shownBoard();
		const box = element => element.getBoundingClientRect();
		const overlap = (one, other) =>
			one.left < other.right - 1 && one.right > other.left + 1 && one.top < other.bottom - 1 && one.bottom > other.top + 1;
		const shown = page.all('h1, .clock, .leader, .leader > *, .left:not([hidden]), .phone:not([hidden]), .lists, .ticker');
		for (const element of shown.filter(element => element.checkVisibility())) {
			const {left, top, right, bottom, width, height} = box(element);
			if (left < 0 || top < 0 || right > innerWidth + 1 || bottom > innerHeight + 1) faults.push(element.className + ' is out of view');
			if (width * height === 0 && element.textContent) faults.push(element.className + ' has no room');
		}
		const leader = page.all('.leader > *').filter(element => element.textContent).map(box);
		const card = box(document.querySelector('.leader'));
		if (leader.some(({top, bottom}) => top < card.top || bottom > card.bottom)) faults.push('the leader is cut');
		if (leader.some((one, i) => leader.slice(i + 1).some(other => overlap(one, other)))) faults.push('the leader is crowded');
		const lists = box(document.querySelector('.lists'));
		const side = page.all('.leader, .phone').filter(part => part.checkVisibility()).map(box);
		if (side.some(part => overlap(part, lists))) faults.push('the list is over the leader');
		const head = page.all('h1, .facts, .left, .clock').filter(part => part.checkVisibility()).map(box);
		if (head.some((one, i) => head.slice(i + 1).some(other => overlap(one, other)))) faults.push('the head is crowded');
		const facts = document.querySelector('.facts');
		if (facts.scrollWidth > facts.clientWidth) faults.push('the facts are cut');
		const code = document.querySelector('#qr');
		if (innerHeight > innerWidth && code.checkVisibility() && box(code).right < lists.right - 1) faults.push('the code is off the margin');
		const rows = page.all('[part=list] > [part~=row]', board.shadowRoot).filter(row => getComputedStyle(row).visibility === 'visible');
		const boxes = rows.map(box);
		if (boxes.some(({top, bottom}) => top < lists.top - 1 || bottom > lists.bottom + 1)) faults.push('a row is cut');
		if (boxes.some(({top}, i) => i && top < boxes[i - 1].bottom - 1)) faults.push('rows are over each other');
		const free = lists.bottom - boxes.at(-1).bottom;
		const isFull = rows.length >= Number(board.getAttribute('top'));
		if (isFull && free > 1.25 * boxes[0].height) faults.push('there is room for another row');
		const size = parseFloat(getComputedStyle(rows[0]).fontSize);
		if (size < Math.min(innerHeight / 60, innerWidth / 24)) faults.push('the rows are small: ' + size);
		for (const row of rows) {
			const score = row.querySelector('[part=score]');
			if (score.getBoundingClientRect().right > row.getBoundingClientRect().right) faults.push('a score is cut');
		}
		return [...new Set(faults)].join(', ');
	},

	// passOn lets so much time pass on the page, in s.
	passOn: seconds => {
		if (!page.passed) {
			const now = performance.now.bind(performance);
			performance.now = () => now() + page.passed;
			page.passed = 0;
		}
		page.passed += seconds * 1_000;
	},
});
