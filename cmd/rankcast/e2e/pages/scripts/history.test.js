// The lines of a chart follow from the steps: curves to changes, nothing in gaps, and a member that comes from below or goes there.
test('LinesOfAHistory', async () => {
	const h = await import('/assets/shared/history.js');
	const step = (at, members, gapFrom) => ({
		at,
		...(gapFrom && {gapFrom}),
		entries: [...members].map((member, i) => ({rank: i + 1, member, score: at})),
	});
	const history = {until: 90, steps: [step(0, 'ab'), step(10, 'ba'), step(20, 'ac'), step(60, 'ca', 30), step(70, 'ca')]};
	const y = place => (place === h.OUTSIDE ? 3 : place);
	const is = (got, want) => equal(JSON.stringify(got), JSON.stringify(want));
	is(
		[-1, 0, 15, 29, 30, 59, 60, 99].map(
			at =>
				h
					.stepAt(history, at)
					?.entries.map(({member}) => member)
					.join('') ?? '-',
		),
		['-', 'ab', 'ba', 'ac', '-', '-', 'ca', 'ca'],
	);
	is(
		[...h.runsOf(history)].map(
			([member, runs]) => member + runs.map(run => ' ' + run.map(({from, place}) => from + ':' + place)).join(''),
		),
		['a 0:1,10:2,20:1 60:2', 'b 0:2,10:1,20:0', 'c 10:0,20:2 60:1'],
	);
	is(
		h
			.runsOf(history)
			.get('b')
			.map(run => h.pathOf(run, x => x, y, 4)),
		['M0 2H6C8 2 8 1 10 1H16C18 1 18 3 20 3'],
	);
	is(
		h
			.runsOf(history)
			.get('c')
			.map(run => h.pathOf(run, x => x, y, 4)),
		['M16 3C18 3 18 2 20 2H30', 'M60 1H90'],
	);
	is(h.gapsOf(history), [{from: 30, to: 60}]);
	is(
		h.thin(history, 100).steps.map(({at}) => at),
		[0, 20, 60, 70],
	);
	is(
		h.leadersOf(history).map(({from, to, member, score}) => [from, to, member, score].join(' ')),
		['0 10 a 0', '10 20 b 10', '20 30 a 20', '60 90 c 70'],
	);
	is(
		h.join({until: 15, steps: history.steps.slice(0, 2)}, {until: 90, steps: history.steps.slice(1)}).steps.map(({at}) => at),
		[0, 10, 20, 60, 70],
	);
});

// The time axis has its ticks at round times of the zone, also on a day of 23 hours.
test('TicksOfATimeAxis', async () => {
	document.documentElement.lang = 'en';
	const {ticksOf} = await import('/assets/shared/time-scale.js');
	for (const [from, to, zone, want] of [
		[
			Date.UTC(2026, 2, 28, 23),
			Date.UTC(2026, 2, 29, 10),
			'Europe/Berlin',
			['23:00 Mar 29', '01:00 03:00', '04:00 06:00', '07:00 09:00', '10:00 12:00'],
		],
		[
			Date.UTC(2026, 10, 22, 16),
			Date.UTC(2026, 10, 26, 6),
			'Asia/Shanghai',
			['16:00 Nov 23', '16:00 Nov 24', '16:00 Nov 25', '16:00 Nov 26'],
		],
	]) {
		equal(
			JSON.stringify(
				ticksOf(from, to, 5, zone).map(({at, label}) => new Date(at).toISOString().slice(11, 16) + ' ' + label),
			),
			JSON.stringify(want),
		);
	}
});
