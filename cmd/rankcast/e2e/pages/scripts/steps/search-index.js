// Replaces the index of the search by one whose words the test knows.
var requests = 0,
	fails = true;
var section = (page, title, heading, text) => ({page, title, heading, anchor: heading.toLowerCase().replaceAll(' ', '-'), text});
var index = [
	section('start', 'Start', 'Start', 'A tie of two. <b>Not a tag</b>'),
	section('boards', 'Boards', 'Ties', 'Two members with one score.'),
	section('boards', 'Boards', 'Retries', 'No ties here: ' + 'word '.repeat(60) + 'and --origins at the end'),
	section('boards', 'Boards', 'Text', 'embed embed embed'),
	{...section('boards', 'Boards', 'Keyed', 'The text.'), keywords: 'iframe embed'},
	section('boards', 'Boards', 'Embed', 'after'),
	{...section('boards', 'Boards', 'Prose', 'the place around you'), code: 'around '.repeat(3)},
	{...section('boards', 'Boards', 'Code', 'Nowhere.'), code: '{"a":1}' + 'x'.repeat(300) + '{"my-part":1}, and my own part'},
	...Array.from({length: 30}, (_, i) => section('how', 'How', 'Item ' + i, 'many')),
];
globalThis.fetch = async () => {
	requests++;
	if (fails) throw new TypeError('no network');
	return Response.json(index);
};
