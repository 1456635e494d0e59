// Counts the reads of the histories of two boards. That of the board broken fails. passed is the time that has passed, in ms.
var passed = 0,
	reads = {a: 0, b: 0},
	broken = 'a',
	request = fetch,
	now = performance.now.bind(performance);
performance.now = () => now() + passed;
fetch = (url, ...rest) => {
	const [, board] = /boards\/(.)\/history/.exec(url) ?? [];
	if (board) reads[board]++;
	return board === broken ? Promise.resolve(new Response('', {status: 500})) : request(url, ...rest);
};
