Object.assign(page, {
	finishNames: () =>
		(line =>
			[...line.querySelectorAll('.finish-place')]
				.filter(place => place.checkVisibility())
				.map(place => {
					const {left, right} = place.getBoundingClientRect(),
						edge = line.getBoundingClientRect();
					return (
						place.textContent.slice(1, 4) +
						(left < edge.left || right > edge.right
							? ' outside'
							: place.scrollWidth > place.clientWidth
								? ' cut'
								: ' whole')
					);
				})
				.join(', '))(document.querySelector('#finish-line')),

	// coveredAtTheEnd tells what stands at the end of the card, and whether it covers the name.
	coveredAtTheEnd: () =>
		((root, mark) => {
			const bar = root.querySelector('[part=countdown]');
			if (!document.querySelector('#rank-change').hidden) return 'rank change';
			const shown = [mark, bar].find(element => element.checkVisibility());
			const name = [...root.querySelectorAll('[part~=me] [part=member]')].find(name =>
				name.checkVisibility({visibilityProperty: true}),
			);
			if (!shown || !name) return 'nothing';
			return (
				(shown === mark ? 'mark' : 'countdown') +
				(name.getBoundingClientRect().right > shown.getBoundingClientRect().left ? ' covers the name' : '')
			);
		})(page.root(), document.querySelector('.finish-mark')),

	misplacedInResult: () =>
		(root => {
			const board = page.board();
			if (!board.hasAttribute('data-finish') || root.querySelectorAll('[part=podium] > *').length < 4)
				return board.dataset.misplaced ?? 'not yet';
			const card = board.getBoundingClientRect(),
				found = [];
			const rows = [...root.querySelectorAll('[part=podium] > *')];
			for (const row of rows) {
				const box = row.getBoundingClientRect();
				for (const field of row.querySelectorAll('[part=portrait], [part=member], [part=score], [part=rank]')) {
					const {left, right} = field.getBoundingClientRect();
					if (left < box.left - 1 || right > box.right + 1)
						found.push(
							row.textContent.trim().slice(0, 1) +
								' ' +
								field.getAttribute('part') +
								' outside by ' +
								Math.max(box.left - left, right - box.right).toFixed(1),
						);
				}
				if (box.left < card.left || box.right > card.right) found.push('a step outside the card');
			}
			if (document.fullscreenElement) {
				const name = rows.at(-1).querySelector('[part=member]');
				if (name.clientWidth < 3 * parseFloat(getComputedStyle(name).fontSize)) found.push('hardly a name');
				const title = root.querySelector('[part=result]');
				if (title.getBoundingClientRect().height > 3.7 * parseFloat(getComputedStyle(title).fontSize))
					found.push('a title of four lines');
				if (rows.at(-1).getBoundingClientRect().bottom > innerHeight)
					found.push('the result ends at ' + rows.at(-1).getBoundingClientRect().bottom.toFixed(0));
			}
			const score = rows[0].querySelector('[part=score]').getBoundingClientRect();
			if (score.bottom > innerHeight && innerWidth >= 640) found.push('the winner ends at ' + score.bottom.toFixed(0));
			return (board.dataset.misplaced = found.join(', ')); // which is left when the result goes
		})(page.root()),

	// coveredInHeader names the texts of the header that the countdown covers. It is shown anew at each look: a frame that comes
	// hides it.
	coveredInHeader: () =>
		(root => {
			const part = name => root.querySelector('[part=' + name + ']'),
				bar = part('countdown');
			const texts = {
				ends: 'ends in 0:09',
				total: '1,234,567 members',
				moment: 'Somebody with a long name passed another one with a name that is as long for No. 2',
			};
			for (const [name, text] of Object.entries(texts)) part(name).textContent = text;
			bar.textContent = '9';
			bar.hidden = false;
			const cover = bar.getBoundingClientRect();
			const found = [];
			for (const name of ['period-name', 'ends', 'state', 'total', 'moment']) {
				const range = document.createRange();
				range.selectNodeContents(part(name));
				const {left, right: end, top, bottom} = range.getBoundingClientRect(),
					right = Math.min(end, part(name).getBoundingClientRect().right);
				if (left > cover.right - 1.5 || right < cover.left + 1.5 || top > cover.bottom - 1.5 || bottom < cover.top + 1.5)
					continue;
				const whole =
					left > cover.left - 1.5 && right < cover.right + 1.5 && top > cover.top - 1.5 && bottom < cover.bottom + 1.5;
				found.push(name + (whole ? '' : ' in part'));
			}
			return found.join(', ');
		})(page.root()),
});
