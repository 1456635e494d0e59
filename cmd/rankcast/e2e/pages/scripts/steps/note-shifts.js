// Adds what moves on the page to shift, and says what it was in shifted.
var shift = 0,
	shifted = [];
new PerformanceObserver(list => {
	for (const {hadRecentInput, value, sources} of list.getEntries())
		if (!hadRecentInput) {
			shift += value;
			shifted.push(
				value.toFixed(3) +
					': ' +
					sources
						.map(
							({node}) =>
								(node?.id || node?.className || node?.nodeName) +
								' in ' +
								(node?.parentElement?.id || node?.parentElement?.className),
						)
						.join(', '),
			);
		}
}).observe({type: 'layout-shift', buffered: true});
