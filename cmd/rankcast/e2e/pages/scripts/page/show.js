Object.assign(page, {
	// Where the portrait and the score of each of the first five are.
	podiumPlaces: () =>
		(() => {
			const board = document.querySelector('#star-board'),
				first = board.shadowRoot === null;
			const rows = [
				...(first ? board.querySelectorAll('tbody tr') : board.shadowRoot.querySelectorAll('[data-member]')),
			].slice(0, 5);
			return JSON.stringify(
				rows.map(row =>
					['.portrait, [part=portrait]', '.first-rank b, [part=rank]'].flatMap(part => {
						const {left, top, width, height} = row.querySelector(part).getBoundingClientRect();
						return [left, top, width, height].map(n => Math.round(n / 2));
					}),
				),
			);
		})(),

	// Whether what a score gained lies within its row, which cuts off all else.
	gainIsInItsRow: () =>
		(() => {
			const row = page.root('star-board').querySelector('[data-podium]:has([data-gain])'),
				score = row?.querySelector('[data-gain]');
			if (!score) return 'none';
			const within = row.getBoundingClientRect(),
				at = score.getBoundingClientRect(),
				gain = getComputedStyle(score, '::after');
			const left = at.left + parseFloat(gain.left) + parseFloat(gain.marginLeft),
				top = at.top + parseFloat(gain.top);
			return String(
				left >= within.left &&
					left + parseFloat(gain.width) <= within.right &&
					top >= within.top &&
					top + parseFloat(gain.height) <= within.bottom,
			);
		})(),

	// feedOf is the lines of the feed, the newest first.
	feedOf: () =>
		page
			.all('.feed-line')
			.map(line =>
				['fan', 'star', 'number', 'count']
					.map(part => line.querySelector('.feed-' + part))
					.filter(part => part.checkVisibility())
					.map(part => part.textContent)
					.join(' '),
			)
			.join(' | '),

	// gifts are the controls that send gifts, and what the page says about its viewer.
	gifts: () =>
		[
			document.querySelector('#viewer').checkVisibility() ? 'asks' : '',
			document.querySelector('.size')?.checkVisibility() ? 'sends' : '',
			document.querySelector('#viewer-note').textContent,
		]
			.filter(word => word)
			.join(', '),
});
