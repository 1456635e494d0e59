// Counts the frames that are drawn, the updates of each board, and those that come twice in a frame.
var frames = 0,
	updates = {},
	at = {},
	twice = 0,
	count = () => {
		frames++;
		requestAnimationFrame(count);
	};
count();
document.addEventListener('update', ({target: {id}}) => {
	updates[id] = (updates[id] ?? 0) + 1;
	// This clock goes on with each frame.
	if (at[id] === document.timeline.currentTime) twice++;
	at[id] = document.timeline.currentTime;
});
