Object.assign(page, {
	// layoutShift waits for the next frames, and then tells how far the page has moved since it began to load (cumulative layout
	// shift).
	layoutShift: () =>
		new Promise(resolve =>
			requestAnimationFrame(() =>
				requestAnimationFrame(() => {
					const observer = new PerformanceObserver(() => {});
					observer.observe({type: 'layout-shift', buffered: true});
					resolve(observer.takeRecords().reduce((sum, {value}) => sum + value, 0));
				}),
			),
		),

	// course names the trends beside a board, and tells whether the line of each ends higher or lower than it begins. (A lower
	// point has the larger y.)
	course: () =>
		page
			.all('.trend')
			.filter(course => course.checkVisibility())
			.map(course => {
				const [, from, to = from] =
					course
						.querySelector('.line')
						.getAttribute('d')
						?.match(/^M0 ([\d.]+)(?:H.*V([\d.]+))?H240$/) ?? [];
				const way = from === undefined ? 'no line' : ['lower', 'level', 'higher'][Math.sign(from - to) + 1];
				return [...[...course.querySelectorAll('.trend-name, .trend-change')].map(part => part.textContent), way]
					.filter(text => text)
					.join(' ');
			})
			.join(', '),

	// placesOfRows tells where the rows of a board are, and what they show: those of the page, or those of the
	// element.
	placesOfRows: () =>
		(() => {
			const board = page.board();
			const rows = [...(board.shadowRoot ?? board).querySelectorAll(board.shadowRoot ? '[part~=row]' : 'tbody tr')];
			return JSON.stringify(
				rows.map(row => {
					const {top, height} = row.getBoundingClientRect();
					return [Math.round(top), Math.round(height)];
				}),
			);
		})(),

	// textsOfPage tells what the page says outside the list, of what the first answer has.
	textsOfPage: () =>
		JSON.stringify(
			[
				...document.querySelectorAll(
					'#name, #boards a, .card-name, .card-rank, .card-member, .card-score, .card-faces, #star-name',
				),
			]
				.filter(e => e.checkVisibility())
				.map(e => e.textContent.trim()),
		),

	icons: () =>
		page
			.all('.card, #boards li')
			.filter(item => item.checkVisibility())
			.map(
				item =>
					item.dataset.board +
					' ' +
					(item.querySelector('.card-head img, :scope > a img')?.checkVisibility() ?? false) +
					item.querySelectorAll('.card-head .portrait, :scope > a .portrait').length,
			)
			.sort()
			.join(),

	leading: () =>
		(([first, ...others]) =>
			first.dataset.member +
			' ' +
			first.offsetHeight +
			' ' +
			new Set(others.map(row => row.offsetHeight)).size +
			' ' +
			others[0].offsetHeight)(page.all('[part~=row]', page.root())),

	shareLines: () =>
		[...(board => (board.shadowRoot ?? board).querySelectorAll(board.shadowRoot ? '[part~=row]' : 'tbody tr'))(page.board())]
			.map(row => (style => (style.backgroundImage === 'none' ? 'none' : style.backgroundSize))(getComputedStyle(row)))
			.join(),

	followedRowIsBalanced: () =>
		(row =>
			(([row, name, gap]) => String(Math.abs(name.top - row.top - row.bottom + gap.bottom) < 2))(
				[row, row.querySelector('bdi, [part=member]'), row.querySelector('small, [part=gap]')].map(e =>
					e.getBoundingClientRect(),
				),
			))((board => (board.shadowRoot ?? board).querySelector('.first-me, [part~=me]'))(page.board())),

	moment: () =>
		(([header, moment]) =>
			moment.textContent +
			(([header, moment]) => moment.top >= header.top && moment.bottom <= header.bottom + 1)(
				[header, moment].map(e => e.getBoundingClientRect()),
			))(page.all('[part=header], [part=moment]', page.root())),

	partPlaces: () =>
		JSON.stringify(
			[page.board(), ...page.root().querySelectorAll('[part=header], [part=list], [part=list] > *')].map(element => {
				const {x, y, width, height} = element.getBoundingClientRect();
				return [x, y, width, height];
			}),
		),

	avatars: () =>
		[...root.querySelectorAll('img:not([hidden])')]
			.map(i =>
				[
					i.closest('[data-member]').querySelector('[part=member]').textContent,
					i.getAttribute('src').replace(location.origin, ''),
					i.alt,
					i.loading,
				].join(' '),
			)
			.join(' | '),

	// unscrolled is whether nothing of the page is out of view.
	unscrolled: () =>
		(e =>
			[e.scrollWidth, e.scrollHeight].join('×') === [innerWidth, innerHeight].join('×') &&
			getComputedStyle(e).overflow === 'hidden'
				? 'fits'
				: [e.scrollWidth, e.scrollHeight, innerWidth, innerHeight].join(' '))(document.documentElement),
});
