// busy changes a board once a frame: two members get other scores, and one of them another place.
var entries,
	seq = 0,
	done = 0,
	busy = rounds => {
		const from = Math.floor(Math.random() * entries.length),
			to = Math.floor(Math.random() * entries.length);
		const entry = entries.splice(from, 1)[0];
		entries.splice(to, 0, entry);
		const least = Math.min(from, to),
			most = Math.max(from, to);
		entry.score += 1;
		entries[from] = {...entries[from], score: entries[from].score + 1};
		for (let i = least; i <= most; i++) entries[i] = {...entries[i], rank: i + 1};
		const rows = entries.slice(least, most + 1).map((entry, i) => [least + i, entry]);
		sockets.at(-1).say({type: 'delta', board: 'b', from: seq, seq: ++seq, total: 9, len: entries.length, rows});
		if (rounds > 1) requestAnimationFrame(() => busy(rounds - 1));
		else requestAnimationFrame(() => (done = 1));
	};
