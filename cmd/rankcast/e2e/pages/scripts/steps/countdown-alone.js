// Runs a countdown whose seconds pass at once, and notes what it shows.
var counted = document.createElement('b'),
	second = 0;
var read = [];
import('/assets/show/countdown.js').then(({Countdown}) => {
	new MutationObserver(() => read.push(counted.textContent)).observe(counted, {childList: true});
	globalThis.setTimeout = (
		real =>
		(run, ms, ...more) =>
			ms === 1e3 && second < 3 ? (second++, queueMicrotask(run), 0) : real(run, ms, ...more)
	)(setTimeout);
	new Countdown(document.createElement('p'), counted, () => second * 1e3).setEnd(new Date(9e3).toJSON());
});
