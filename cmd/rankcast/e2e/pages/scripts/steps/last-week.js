// Gives the week before its first three. Reads are counted once the page has done with them.
var names = ['s1', 's2', 's3'],
	reads = 0;
globalThis.fetch = (
	real =>
	(url, ...more) =>
		!String(url).includes('/stars@-1/')
			? real(url, ...more)
			: Promise.resolve({
					ok: true,
					json: async () => (
						setTimeout(() => reads++),
						{top: names.map((member, i) => ({rank: i + 1, member, score: 30 - i}))}
					),
				})
)(fetch);
dispatchEvent(new Event('online'));
