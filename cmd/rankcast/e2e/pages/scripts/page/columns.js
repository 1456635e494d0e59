Object.assign(page, {
	// columnLines are the heads of the columns of a board, and the values of each row, as words: those of the page, or those of
	// the element.
	columnLines: () =>
		page
			.columnParts()
			.map(line => line.map(page.words).join(' '))
			.join(' | '),

	// columnEdges tells where each column ends, from the left edge of the window, if heads and values stand one below the other.
	columnEdges: () =>
		(([heads, ...rows]) =>
			heads
				.map((head, i) => {
					const edges = [head, ...rows.map(row => row[i])].map(cell => cell.getBoundingClientRect().right);
					// The rows of an overlay have a border of 1 px.
					return Math.max(...edges) - Math.min(...edges) < 1.5 ? Math.round(edges[1]) : 'crooked';
				})
				.join(' '))(page.columnParts()),

	columnParts: () =>
		(board => {
			const root = board.shadowRoot ?? board;
			const [heads, rows, cell] = board.shadowRoot
				? ['[part=heads]', '[part~=row]', '[part=column], [part=head]']
				: ['.first-rows thead', '.first-rows tbody tr', '.column'];
			return [root.querySelector(heads), ...root.querySelectorAll(rows)].map(line => page.all(cell, line));
		})(page.board()),

	// columnFaults names what is wrong with the columns of a board: values or names that are cut, or that stand over others.
	columnFaults: () =>
		page
			.all('[part~=row]', page.root())
			.filter(row => row.checkVisibility())
			.flatMap(row => {
				const member = row.querySelector('[part=member]');
				const name = member.getBoundingClientRect();
				const cells = page.all('[part=column]', row).map(cell => cell.getBoundingClientRect());
				const {top, bottom, right} = row.getBoundingClientRect();
				const values = page.all('[part=value]', row).map(value => value.getBoundingClientRect());
				return [
					member.scrollWidth > member.clientWidth && 'cut name',
					cells.some(cell => cell.top < top || cell.bottom > bottom + 1 || cell.right > right) && 'outside',
					cells.some((cell, i) => i && cell.left < cells[i - 1].right - 1) && 'over another',
					values.some((value, i) => value.width > cells[i].width + 1) && 'wider than its column',
					cells[0].top < name.bottom && cells[0].left < name.right - 1 && cells[0].bottom > name.top && 'over the name',
				]
					.filter(Boolean)
					.map(fault => row.dataset.member + ': ' + fault);
			})
			.join(', '),
});
