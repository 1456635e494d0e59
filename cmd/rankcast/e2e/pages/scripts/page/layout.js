Object.assign(page, {
	// misfits lists the faults of a page. The page scrolls sideways. A card is narrower than its content. An ellipsis stands for
	// the beginning of a text. A text for screen readers alone takes room: wide letters would then make the page wider.
	misfits: () =>
		[
			document.documentElement.scrollWidth > innerWidth &&
				'the page is ' + document.documentElement.scrollWidth + ' px wide',
			...page
				.all('.card, .member-board')
				.map(
					card =>
						card.scrollWidth > card.clientWidth &&
						'left by ' + (card.scrollWidth - card.clientWidth) + ' px: ' + card.textContent.slice(0, 20),
				),
			...[document, ...page.all('live-leaderboard').flatMap(({shadowRoot}) => shadowRoot ?? [])]
				.flatMap(root => [...root.querySelectorAll('*')])
				.map(part => {
					if (getComputedStyle(part).clipPath === 'inset(50%)' && part.offsetWidth > 1 && !part.matches('a'))
						return 'unseen, ' + part.offsetWidth + ' px wide: ' + part.textContent.slice(0, 20);
					if (
						getComputedStyle(part).textOverflow !== 'ellipsis' ||
						part.scrollWidth <= part.clientWidth ||
						!part.checkVisibility()
					)
						return;
					const range = document.createRange(),
						first = document.createTreeWalker(part, NodeFilter.SHOW_TEXT).nextNode(),
						box = part.getBoundingClientRect();
					if (!first) return;
					range.setStart(first, 0);
					range.setEnd(first, 1);
					const {left, right} = range.getBoundingClientRect();
					return (
						(left < box.left - 1 || right > box.right + 1) &&
						'cut at its beginning: ' + (part.className || part.part) + ' ' + part.textContent.slice(0, 20)
					);
				}),
		]
			.filter(Boolean)
			.join('; '),

	// crowded lists the faults of the visible rows among some rows. A name has less room than so many times the size of its
	// letters, or runs into its score; a name or a score leaves its row, or a row its card; or a score has digits on two
	// lines, which a reader takes for two numbers. A shorter name needs only its own width. A window of 300 px may leave a
	// name less room.
	crowded: (rows, nameOf, scoreOf) =>
		rows.length
			? rows
					.flatMap(row => {
						const [name, score] = [row.querySelector(nameOf), row.querySelector(scoreOf)];
						const card = (
							row.closest('.card, .member-board, .chart') ??
							row.getRootNode().host ??
							row
						).getBoundingClientRect();
						const outer = row.getBoundingClientRect(),
							left = name.getBoundingClientRect(),
							right = score.getBoundingClientRect();
						// Its text too, which may run out of its box.
						const range = document.createRange();
						range.selectNodeContents(score);
						const text = range.getBoundingClientRect();
						const apart =
							left.right <= Math.min(right.left, text.left) + 1 ||
							left.bottom <= right.top + 1 ||
							right.bottom <= left.top + 1;
						const inside =
							[left, right, {left: text.left, right: text.right, top: right.top, bottom: right.bottom}].every(
								box =>
									box.left >= outer.left - 1 &&
									box.right <= outer.right + 1 &&
									box.top >= outer.top - 2 &&
									box.bottom <= outer.bottom + 2,
							) &&
							outer.left >= card.left - 1 &&
							outer.right <= card.right + 1;
						const wide =
							innerWidth === 300 ||
							left.width >= 2.2 * parseFloat(getComputedStyle(name).fontSize) ||
							name.scrollWidth <= name.clientWidth;
						const number = score.firstChild,
							{index, 0: digits} = /\S+/.exec(number.data);
						range.setStart(number, index);
						range.setEnd(number, index + digits.length);
						const whole = new Set([...range.getClientRects()].map(({top}) => top)).size === 1;
						return [!apart && 'overlap', !inside && 'out of the row', !wide && 'name gone', !whole && 'on two lines']
							.filter(Boolean)
							.map(fault =>
								[
									fault,
									name.textContent.slice(0, 9),
									...[outer, left, right, text].map(box =>
										[box.left, box.top, box.right, box.bottom].map(Math.round).join(),
									),
								].join(' '),
							);
					})
					.join('; ')
			: 'no rows',

	// collisions lists what the marks of moves and the gains of rows cover, and what cuts them off. It is "none yet", with
	// their numbers, until one row has the mark and one row the gain that the case waits for. Marks and gains are
	// pseudo-elements: the place of a gain follows from its styles.
	collisions: (marked, gained) => {
		const root = (document.querySelector('#star-board') ?? page.board()).shadowRoot;
		const box = element => element.getBoundingClientRect();
		const textBox = element => {
			const range = document.createRange();
			range.selectNodeContents(element);
			return range.getBoundingClientRect();
		};
		const gainOf = score => {
			const own = box(score),
				style = getComputedStyle(score, '::after'),
				top = own.top + parseFloat(style.top),
				right = own.right - parseFloat(style.right);
			return {left: right - parseFloat(style.width), right, top, bottom: top + parseFloat(style.height)};
		};
		const meet = (a, b) =>
			a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5;
		const holds = (a, b) =>
			a.left <= b.left + 0.5 && b.right <= a.right + 0.5 && a.top <= b.top + 0.5 && b.bottom <= a.bottom + 0.5;
		let marks = 0,
			gains = 0;
		const found = [];
		// isCut tells whether a box between the element and its row cuts off a part of the element.
		const isCut = (element, row, own) => {
			for (let at = element; (at = at.parentElement) !== row;)
				if (getComputedStyle(at).overflowX !== 'visible' && !holds(box(at), own)) return true;
			return getComputedStyle(row).contain.includes('content') && !holds(box(row), own);
		};
		for (const row of root.querySelectorAll('[part=list] > [part~=row]')) {
			const fieldOf = name => row.querySelector('[data-field=' + name + ']');
			const score = fieldOf('score'),
				move = fieldOf('move'),
				others = {portrait: box(fieldOf('portrait')), score: box(score)};
			for (const name of ['rank', 'name', 'gap']) if (fieldOf(name)) others[name] = textBox(fieldOf(name));
			const note = (what, element, own) => {
				for (const [field, other] of Object.entries(others))
					if (meet(own, other)) found.push(row.dataset.member + ': ' + what + ' over ' + field);
				if (isCut(element, row, own)) found.push(row.dataset.member + ': ' + what + ' is cut off');
			};
			if (move.dataset.move && move.checkVisibility()) {
				const {left, right, top, height} = box(move);
				(marks++,
					note('mark', move, {
						left,
						right,
						top,
						bottom: top + Math.max(height, parseFloat(getComputedStyle(move).lineHeight)),
					}));
			}
			if (gained && score.dataset.gain) (gains++, note('gain', score, gainOf(score)));
		}
		return (marked && !marks) || (gained && !gains) ? 'none yet: ' + marks + ' marks, ' + gains + ' gains' : found.join(', ');
	},

	// placesDrawn is how far each line of a row rises, in px of its 40.
	sparklines: () =>
		page
			.all('[part=list] > [part~=row]', page.root())
			.map(row => {
				const ys = row
					.querySelector('svg .line')
					.getAttribute('d')
					.match(/^M0 [\d.]+|[VL](?:[\d.]+ )?[\d.]+/g)
					.map(step => parseFloat(step.match(/[\d.]+$/)[0]));
				return row.dataset.member + ' ' + Math.round(ys[0] - ys.at(-1));
			})
			.join(', '),
});
