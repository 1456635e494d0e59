// Changes a board of 20 rows 25 times a second, and counts the frames that are drawn, and those that are late.
var entries = Array.from({length: 20}, (_, i) => ['member ' + i, 1000 - i]),
	seq = 0,
	frames = 0,
	late = 0;
say(list(++seq, entries));
setInterval(() => {
	entries[Math.floor(Math.random() * 20)][1] += 1 + Math.floor(Math.random() * 9);
	entries.sort(([, a], [, b]) => b - a);
	const now = list(++seq, entries);
	sockets
		.at(-1)
		.say({type: 'delta', board: 'b', from: seq - 1, seq, total: 20, len: 20, rows: now.top.map((entry, i) => [i, entry])});
}, 40);
let before = performance.now();
requestAnimationFrame(function frame(at) {
	frames++;
	if (at - before > 25) late++;
	before = at;
	requestAnimationFrame(frame);
});
