// Records where the last petal arrives, the number that appears there, and what that covers.
var flights = [],
	counts = [];
var covers = ({offsetWidth, offsetHeight}, place) => {
	const [x, y] = place.match(/-?[\d.]+/g).map(Number);
	return ['#star-name', '#star-score']
		.filter(one => {
			const {left, right, top, bottom} = document.querySelector(one).getBoundingClientRect();
			return x < right && x + offsetWidth > left && y < bottom && y + offsetHeight > top;
		})
		.join();
};
Element.prototype.animate = (real =>
	function (frames, options) {
		if (this.className === 'petal')
			flights.push(
				frames
					.at(-1)
					.transform.match(/-?[\d.]+/g)
					.slice(0, 2)
					.map(Number),
			);
		if (this.className === 'sky-count') counts.push(this.textContent + covers(this, frames[1].transform));
		return real.call(this, frames, {...options, duration: 1});
	})(Element.prototype.animate);
var near = element => {
	const {left, right, top, bottom} = element.getBoundingClientRect();
	return flights.every(([x, y]) => x > left - 40 && x < right + 40 && y > top - 20 && y < bottom + 20);
};
var target = () =>
	flights.length === 0
		? ''
		: near(document.querySelector('#star-score'))
			? 'head'
			: near(page.root('star-board').querySelector('[data-member=s1] [part=score]'))
				? 'row'
				: JSON.stringify(flights);
