// Tests that run on a page, by their names. TestScripts runs each on a page of its own.
var tests = new Map();
var test = (name, run) => {
	if (tests.has(name)) throw new Error(`two tests have the name ${name}`);
	tests.set(name, run);
};

// The clock of the machine, also where a test has stopped that of the page.
var realNow = performance.now.bind(performance);
var patience = 60_000;

// tick waits until what has been promised is done.
var tick = () =>
	new Promise(resolve => {
		const {port1, port2} = new MessageChannel();
		port1.onmessage = resolve;
		port2.postMessage(0);
	});

// becomes waits until is returns want. is may throw for as long as the page has not got what it names.
// If want is what is returns already, the test waits for page.drawn() first: the element renders once a frame.
var becomes = async (is, want) => {
	for (const began = realNow(); ;) {
		await tick();
		let got;
		try {
			got = is();
		} catch (error) {
			got = error;
		}
		if (got === want) return;
		if (realNow() - began > patience) throw new Error(`${is} is ${String(got)}, want ${want}`);
		await new Promise(requestAnimationFrame);
	}
};

// equal requires that a value is another one.
var equal = (got, want, what = '') => {
	if (got !== want) throw new Error(`${what} is ${String(got)}, want ${String(want)}`);
};
