// busy changes a board once a frame: members come and go, all that stay change places and scores, and one is followed.
var seq = 0,
	round = 0,
	done = 0,
	busy = rounds => {
		round++;
		const names = Array.from({length: 200}, (_, i) =>
			i % 7 === round % 7 ? 'new' + round + '.' + i : 'm' + ((i * 7 + round * 3) % 200),
		);
		const entries = names.map((name, i) => [name, 1000 - i + round]);
		say(list(++seq, entries), own(seq, 300 + (round % 5), round, {to_next: 1}));
		if (rounds > 1) requestAnimationFrame(() => busy(rounds - 1));
		else
			requestAnimationFrame(() =>
				setTimeout(() => {
					for (const animation of root.getAnimations()) animation.finish();
					done = round;
				}),
			);
	};
