// A clock of the page that stands still, once stopClock is called, unless a test has time pass. The machine may have been
// asleep meanwhile: then timers and performance.now stand still.
var now = Date.parse('2026-11-20T12:00:00Z'),
	asleep = 0,
	timers = new Map(),
	lastTimer = 0;
var stopClock = () => {
	Date.now = () => now + asleep;
	performance.now = () => now;
	globalThis.setTimeout = (run, ms = 0) => (timers.set(++lastTimer, {run, at: now + Math.max(ms, 0)}), lastTimer);
	globalThis.clearTimeout = id => timers.delete(id);
};
var pass = ms => {
	const end = now + ms;
	for (;;) {
		const [id, timer] = [...timers].sort(([, a], [, b]) => a.at - b.at)[0] ?? [];
		if (!timer || timer.at > end) break;
		timers.delete(id);
		now = timer.at;
		timer.run();
	}
	now = end;
};
