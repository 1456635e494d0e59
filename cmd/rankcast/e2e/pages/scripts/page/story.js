Object.assign(page, {
	// besideRows is the members whose sparkline is in the row of the member, after the name and before the score.
	besideRows: () =>
		(rows =>
			rows
				.filter(row => {
					const sparkline = row.querySelector('svg');
					if (!sparkline?.checkVisibility() || !sparkline.querySelector('.line').getAttribute('d')) return false;
					const [own, name, score, box] = [
						row,
						row.querySelector('[part~=member]'),
						row.querySelector('[part~=score]'),
						sparkline,
					].map(e => e.getBoundingClientRect());
					return (
						box.top >= own.top &&
						box.bottom <= own.bottom &&
						box.left >= name.right &&
						box.right <= score.left &&
						box.left === rows[0].querySelector('svg').getBoundingClientRect().left
					);
				})
				.map(row => row.dataset.member)
				.join(' '))(page.all('[part~=row]', page.root())),

	// memberCards is the cards of a member's page.
	memberCards: () =>
		page
			.all('.member-board')
			.map(
				card =>
					['h2', '.place b', '.of', '.score']
						.map(part => card.querySelector(part).textContent)
						.filter(text => text)
						.join(' ') + (card.querySelector('.rank-line') ? ' charted' : ''),
			)
			.join(', '),

	// From the first card on: the name above may take a line less once its font has come.
	cardTops: () =>
		(([first, ...others]) => JSON.stringify(others.map(top => Math.round(top - first))))(
			page.all('.member-board, .place, .rank-line').map(e => e.getBoundingClientRect().top),
		),
});
