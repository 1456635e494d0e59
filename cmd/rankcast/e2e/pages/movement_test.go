//go:build !race

package pages

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// marks is what the rows of the board show of their past: moves and gains.
const marks = `
	var moves = () => [...root.querySelectorAll('[data-member]')]
		.map(row => row.dataset.member + (row.querySelector('[data-move]')?.dataset.move ?? '')).join(' ');
	var gains = () => [...root.querySelectorAll('[data-member]')]
		.map(row => row.dataset.member + (row.querySelector('[data-gain]')?.dataset.gain ?? '')).join(' ');
	var rolled = '';
	board.addEventListener('update', () => rolled = rolls());
	var rolls = () => [...root.querySelectorAll('[part=digits]')].map(digits => digits.dataset.before + '>' + digits.textContent).join(' ');`

// A row shows for ten seconds what its rank has changed, and what its score has gained, and its text is right at once.
func TestRowsShowWhatHasChanged(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{me: 'c', top: 3}`)
	do(script(clockwork+marks), script(`say(list(1, [['a', 1230], ['b', 1000], ['c', 900]]))`),
		becomes(`text()`, "1 a 1,230, 2 b 1,000, me 3 c 100 to next 900"),
		becomes(`moves() + ' | ' + gains()`, "a b c | a b c"),
		script(`say(list(2, [['c', 1235], ['a', 1230], ['b', 1000]]))`), becomes(`text()`, "me 1 c 1,235, 2 a 1,230, 3 b 1,000"),
		becomes(`moves() + ' | ' + gains() + ' | ' + rolled`, "c▲2 a▼1 b▼1 | c+335 a b | 900>1,235"),
		// Who rises passes over all others, also over the followed member.
		script(`for (const animation of root.getAnimations()) animation.finish()`), // each row is at its place
		script(`pass(2000); say(list(3, [['a', 1240], ['c', 1235], ['b', 1000]]))`), becomes(`moves()`, "a c▲1 b▼1"),
		becomes(`(z => z('a') > z('c') ? 'over' : z('a') + ' ' + z('c'))(member =>
			Number(getComputedStyle(root.querySelector('[data-member=' + member + ']')).zIndex))`, "over"),
		becomes(`gains() + ' | ' + rolled.split(' ')[0]`, "a+10 c+335 b | 3>4"),
		becomes(`rolls() + text()`, "1 a 1,240, me 2 c 5 to next 1,235, 3 b 1,000"),
		// Ten seconds after the last change of each.
		script(`pass(7999)`), becomes(`moves()`, "a c▲1 b▼1"), script(`pass(1)`), becomes(`moves()`, "a c▲1 b"), script(`pass(2000)`),
		becomes(`moves()`, "a c b"),
		// A score that changes again before anybody could read it is only written.
		script(`say(list(4, [['a', 1241], ['c', 1235], ['b', 1000]]))`), becomes(`gains()`, "a+1 c+335 b"),
		script(`pass(100); say(list(5, [['a', 1242], ['c', 1235], ['b', 1000]]))`),
		becomes(`text() + gains()`, "1 a 1,242, me 2 c 7 to next 1,235, 3 b 1,000a c+335 b"),
		// Another epoch means another store. Its list differs, but nobody has passed anybody or lost points.
		script(`pass(10000); say(list(1, [['b', 40], ['c', 30], ['a', 20]], {epoch: 'other'}))`),
		becomes(`text()`, "1 b 40, me 2 c 10 to next 30, 3 a 20"),
		becomes(`moves() + ' | ' + gains() + rolls()`, "b c a | b c a"),
		script(`pass(2000); say(list(2, [['b', 41], ['c', 30], ['a', 20]], {epoch: 'other'}))`), becomes(`gains()`, "b+1 c a"),
	)
	// In a burst of changes no score rolls, and each row has the right score.
	do(script(`board.setAttribute('top', '40')`), becomes(`sockets.at(-1).sent.at(-1).top + ''`, "40"),
		script(`var many = (seq, from) => say(list(seq, Array.from({length: 40}, (_, i) => ['m' + i, from - i]))); many(6, 5000)`),
		becomes(`root.querySelectorAll('[data-member]').length + ''`, "40"),
		script(`pass(5000); many(7, 7000)`), becomes(`root.querySelector('[data-member=m39] [part=score]').textContent`, "6,961"),
		becomes(`rolled + root.querySelectorAll('[data-gain]').length`, "0"))
}

// What a score has gained has the color of a rise if the change is good, and that of a fall if it is bad. Where less is better,
// a gain is bad.
func TestGainsHaveTheColorOfWhatTheyMean(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{top: 3}`)
	do(script(clockwork+marks), script(`board.style.cssText = '--rankcast-accent: rgb(1, 2, 3); --rankcast-warn: rgb(4, 5, 6)';
		var look = field => [...root.querySelectorAll('[data-' + field + ']')]
			.map(marked => marked.dataset[field]
				+ ({'rgb(1, 2, 3)': ' good', 'rgb(4, 5, 6)': ' bad'}[getComputedStyle(marked, '::after').color] ?? ' neither')).join(', ')`),
		script(`say(list(1, [['a', 30], ['b', 20], ['c', 10]]))`), becomes(`text()`, "1 a 30, 2 b 20, 3 c 10"),
		script(`pass(2000); say(list(2, [['b', 28], ['a', 25], ['c', 10]]))`), becomes(`look('gain')`, "+8 good, -5 bad"),
		becomes(`look('move')`, "▲1 good, ▼1 bad"),
		script(`var laps = {epoch: 'laps', info: {kind: 'member', order: 'asc', period: null}};
			pass(20000); say(list(1, [['a', 80000], ['b', 90000], ['c', 95000]], laps))`), becomes(`text()`, "1 a 80,000, 2 b 90,000, 3 c 95,000"),
		script(`pass(2000); say(list(2, [['b', 70000], ['a', 81000], ['c', 95000]], {epoch: 'laps'}))`),
		becomes(`look('gain')`, "-20,000 good, +1,000 bad"), becomes(`look('move')`, "▲1 good, ▼1 bad"),
		// The order of the list tells nothing where it has one member, or equal scores.
		script(`pass(2000); say(list(3, [['b', 60000]], {epoch: 'laps'}))`), becomes(`look('gain')`, "-10,000 good"),
		script(`pass(2000); say(list(4, [['b', 61000]], {epoch: 'laps'}))`), becomes(`look('gain')`, "+1,000 bad"),
		script(`pass(20000); say(list(1, [['a', 7], ['b', 9]], laps))`), becomes(`text()`, "1 a 7, 2 b 9"),
		script(`pass(2000); say(list(2, [['a', 7], ['b', 7]], {epoch: 'laps'}))`), becomes(`look('gain')`, "-2 good"))
}

// For a reader who prefers reduced motion, or on a calm element, nothing rolls, glides or shines. The marks stay.
func TestCalmRows(t *testing.T) {
	t.Parallel()
	for _, attributes := range []string{`{top: 3, calm: ''}`, `{top: 3}`} {
		do, ctx := page(t, attributes)
		if attributes == `{top: 3}` {
			require.NoError(t, e2etest.Call(ctx, emulation.SetEmulatedMedia,
				emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}}))
		}
		do(script(marks), script(`say(list(1, [['a', 30], ['b', 20]]))`), becomes(`text()`, "1 a 30, 2 b 20"),
			script(`say(list(2, [['b', 40], ['a', 30]]))`), becomes(`text()`, "1 b 40, 2 a 30"), becomes(`moves()`, "b▲1 a▼1"),
			becomes(`gains() + rolls() + root.querySelectorAll('[data-leads]').length + root.getAnimations()
				.filter(animation => animation.constructor === Animation).length`, "b a00"))
	}
}

// What matters most is told in a sentence, and the row of a new leader shines.
func TestElementTellsMoments(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{top: 5, moments: ''}`)
	do(script(clockwork), script(`
		var moments = [];
		board.addEventListener('moment', ({detail: {kind, rank, entry, other, text}}) =>
			moments.push([kind, rank, entry.member, other.member].join(' ')));
		var line = () => root.querySelector('[part=moment]').textContent;
		var named = (seq, ...entries) =>
			say({...list(seq, []), top: entries
				.map(([member, score], i) => ({rank: i + 1, member, score, name: {a: 'Ana', e: 'Eli', m: 'Mochi'}[member]}))})`),
		script(`named(1, ['a', 1000], ['e', 900], ['m', 500], ['x', 400])`), becomes(`text()`, "1 Ana 1,000, 2 Eli 900, 3 Mochi 500, 4 x 400"),
		becomes(`root.adoptedStyleSheets.length + ''`, "2"), // what tells moments is there
		script(`named(2, ['e', 1050], ['a', 1000], ['x', 600], ['m', 500])`),
		becomes(`text()`, "1 Eli 1,050, 2 Ana 1,000, 3 x 600, 4 Mochi 500"), script(`pass(0)`),
		becomes(`line() + '; ' + moments.splice(0)`, "Eli passed Ana for No. 1; passed 1 e a"),
		becomes(`root.querySelector('[data-leads]')?.dataset.member`, "e"),
		// Of what happens meanwhile, the highest place is told, and not before 2.5 s have passed.
		script(`named(3, ['e', 1050], ['x', 1010], ['a', 1000], ['m', 500])`),
		becomes(`text()`, "1 Eli 1,050, 2 x 1,010, 3 Ana 1,000, 4 Mochi 500"),
		script(`named(4, ['e', 1050], ['x', 1010], ['m', 1001], ['a', 1000])`),
		becomes(`text()`, "1 Eli 1,050, 2 x 1,010, 3 Mochi 1,001, 4 Ana 1,000"),
		script(`pass(2499)`), becomes(`moments.length + ''`, "0"), script(`pass(1)`), becomes(`line() + '; ' + moments.splice(0)`,
			"x passed Ana for No. 2; passed 2 x a"),
		// A gap that shrinks fast, and is small.
		script(`pass(3000); named(5, ['e', 1060], ['x', 1010], ['m', 1001], ['a', 1000])`),
		becomes(`text()`, "1 Eli 1,060, 2 x 1,010, 3 Mochi 1,001, 4 Ana 1,000"),
		script(`pass(3000); named(6, ['e', 1060], ['x', 1052], ['m', 1001], ['a', 1000])`),
		becomes(`text()`, "1 Eli 1,060, 2 x 1,052, 3 Mochi 1,001, 4 Ana 1,000"), script(`pass(0)`),
		becomes(`line() + '; ' + moments.splice(0)`, "x is 8 behind Eli, closing; closing 2 x e"),
		script(`pass(12000)`), becomes(`line()`, ""),
		// A new period begins with nothing to tell.
		script(`named(7, ['x', 1070], ['e', 1060], ['m', 1001])`), becomes(`text()`, "1 x 1,070, 2 Eli 1,060, 3 Mochi 1,001"),
		script(`pass(0)`), becomes(`line()`, "x passed Eli for No. 1"),
		script(`moments = []; say(list(1, [['m', 1], ['e', 1]], {period: '2'}))`), becomes(`text() + line()`, "1 m 1, 2 e 1"),
		script(`pass(9000)`), becomes(`line() + moments`, ""),
	)
}

// The end of a period: its last seconds are counted down, and its first three stay for a while, for those who saw it end and
// those who come a little later.
func TestElementShowsTheFinish(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{top: 5}`)
	shown := func(want string) chromedp.Action[chromedp.Void] { return becomes(`finish()`, want) }
	do(script(clockwork), script(`
		var finished = [];
		var finish = () => !board.hasAttribute('data-finish') ? root.querySelector('[part=finish]').checkVisibility() ? 'left behind' : '' :
			[...root.querySelectorAll('[part=result], [part=podium] > *')].map(part => part.innerText.replace(/\s+/g, ' ').trim()).join(' | ');
		var places = () => finish().split(' | ').slice(1).join(' | ');
		var count = () => (count => count.checkVisibility() ? count.textContent : '')(root.querySelector('[part=countdown]'));
		var watch = attributes => make({top: 5, ...attributes})
			.then(() => board.addEventListener('finish', ({detail: {period, top}}) =>
				finished.push(period + ' ' + top.map(({member}) => member).join(''))));
		var of = (name, ends, more) => ({period: name, ends, ...more});
		var first = {timezone: 'Asia/Shanghai', opens: '2026-11-19T12:00:00Z', ends: '2026-11-20T12:00:30Z', name: '1'};
		watch()`),
		becomes(`sockets.at(-1).sent.at(-1)?.board + timers.size`, "b"+"1"),
		script(`say(list(1, [['a', 30], ['b', 20], ['c', 10], ['d', 5]], of('1', first.ends, {info: {kind: 'member', period: first}})))`),
		becomes(`text()`, "1 a 30, 2 b 20, 3 c 10, 4 d 5"), becomes(`count() + finish()`, ""),
		script(`pass(19000)`), becomes(`count()`, ""), script(`pass(1000)`), becomes(`count()`, "10"), script(`pass(9000)`),
		becomes(`count()`, "1"), script(`pass(1000)`), becomes(`count()`, ""), shown(""),
		script(`pass(200); say(list(2, [['b', 40], ['a', 30], ['c', 10], ['d', 5]],
			of('1', first.ends, {final: true, info: {kind: 'member', period: first}})))`),
		shown("Final result, Nov 20, 2026, 8:00 PM GMT+8 | 1 b 40 | 2 a 30 | 3 c 10"), becomes(`finished.splice(0).join()`, "1 bacd"),
		// The next period goes on behind it.
		script(`sockets.at(-1).say(list(1, [], of('2', '2026-11-21T12:00:30Z')))`), becomes(`text()`, ""),
		script(`sockets.at(-1).say(list(2, [['x', 1]], of('2', '2026-11-21T12:00:30Z')))`), becomes(`text()`, "1 x 1"),
		shown("Final result, Nov 20, 2026, 8:00 PM GMT+8 | 1 b 40 | 2 a 30 | 3 c 10"), script(`pass(14799)`),
		becomes(`String(finish() !== '')`, "true"), script(`pass(1)`), shown(""),

		// Who comes seven seconds late asks for the result of the last period.
		script(`now = Date.parse('2026-11-20T12:00:37Z'); watch()`), becomes(`sockets.at(-1).sent.at(-1)?.board`, "b"),
		script(`say(list(2, [['x', 1]], of('2', '2026-11-21T12:00:30Z',
			{info: {kind: 'member', period: {opens: first.ends, ends: '2026-11-21T12:00:30Z'}}})))`), becomes(`text()`, "1 x 1"),
		becomes(`(({board, top}) => board + ' ' + top)(sockets.at(-1).sent.at(-1))`, "b@-1 3"), shown(""),
		script(`sockets.at(-1).say({type: 'ok', id: sockets.at(-1).sent.at(-1).id},
			{...list(9, [['b', 40], ['a', 30]], of('1', first.ends, {final: true, info: {kind: 'member', period: first}})), board: 'b@-1'})`),
		shown("Final result, Nov 20, 2026, 8:00 PM GMT+8 | 1 b 40 | 2 a 30"), becomes(`finished.splice(0).join()`, "1 ba"),
		becomes(`sockets.at(-1).sent.at(-1).type`, "unsubscribe"),
		script(`pass(7999)`), becomes(`String(finish() !== '')`, "true"), script(`pass(1)`), shown(""),

		// The followed member's place stands below the first three, of those who saw the end and of those who come late.
		script(`now = Date.parse('2026-11-20T12:00:31Z'); watch({top: 2, me: 'q'})`), becomes(`sockets.at(-1).sent.at(-1)?.board + text()`, "b"),
		script(`say(list(1, [['a', 30], ['b', 20]], of('1', first.ends)),
			own(1, 5, 3, {to_next: 1, around: [{rank: 5, member: 'q', score: 3,
				name: 'Quin'}]}))`), becomes(`text()`, "1 a 30, 2 b 20, below 5 Quin 1 to next 3"),
		script(`sockets.at(-1).say(list(2, [['a', 30], ['b', 20]], of('1', first.ends, {final: true})))`),
		becomes(`places()`, "1 a 30 | 2 b 20 | 5 Quin 3"),
		script(`sockets.at(-1).say(own(2, 4, 5, {to_next: 7, around: [{rank: 4, member: 'q', score: 5, name: 'Quin'}]}))`),
		becomes(`places()`, "1 a 30 | 2 b 20 | 4 Quin 5"),
		becomes(`finished.splice(0).join()`, "1 ab"),
		becomes(`[...root.querySelectorAll('[part=podium] > *')].map(row => row.getAttribute('part')).join()`, "step,step,row me"),
		// The list is shorter than the result, which has room all the same.
		becomes(`String(root.querySelector('[part=finish]').getBoundingClientRect().bottom <= board.getBoundingClientRect().bottom)`, "true"),
		becomes(`getComputedStyle(root.querySelector('[part=podium] > [part~=me]')).position`, "static"),
		script(`now = Date.parse('2026-11-20T12:00:37Z'); watch({me: 'q'})`), becomes(`sockets.at(-1).sent.at(-1)?.board + text()`, "b"),
		script(`say(list(2, [['x', 1]], of('2', '2026-11-21T12:00:30Z',
			{info: {kind: 'member', period: {opens: first.ends, ends: '2026-11-21T12:00:30Z'}}})))`),
		becomes(`(({board, me, around}) => [board, me, around].join(' '))(sockets.at(-1).sent.at(-1))`, "b@-1 q 1"),
		script(`sockets.at(-1).say({type: 'ok', id: sockets.at(-1).sent.at(-1).id},
			{...list(9, [['b', 40], ['a', 30]], of('1', first.ends, {final: true})), board: 'b@-1'}, {...own(9, 8, 2), board: 'b@-1'})`),
		becomes(`places()`, "1 b 40 | 2 a 30 | 8 q 2"), becomes(`finished.splice(0).join()`, "1 ba"),
		// The name comes with the neighbours, which may come later.
		script(`sockets.at(-1).say({...own(9, 8, 2, {to_next: 3, around: [{rank: 8, member: 'q', score: 2, name: 'Quin'}]}), board: 'b@-1'})`),
		becomes(`places()`, "1 b 40 | 2 a 30 | 8 Quin 2"),
		becomes(`sockets.at(-1).sent.at(-1).type`, "unsubscribe"),
		// It is another member's place once another one is followed.
		script(`board.setAttribute('me', 'zed')`), shown(""),
		// One of the first three is marked, and one without a score has no place.
		script(`watch({me: 'a'})`), becomes(`sockets.at(-1).sent.at(-1)?.board + text()`, "b"),
		script(`say(list(1, [['a', 30], ['b', 20]], of('1', first.ends)));
			sockets.at(-1).say(list(2, [['a', 30], ['b', 20]], of('1', first.ends, {final: true})))`),
		becomes(`[...root.querySelectorAll('[part=podium] > *')].map(row => row.getAttribute('part')).join()`, "step me,step"),
		script(`finished = []; watch({me: 'q'})`), becomes(`sockets.at(-1).sent.at(-1)?.board + text()`, "b"),
		script(`say(list(1, [['a', 30]], of('1', first.ends)));
			sockets.at(-1).say(list(2, [['a', 30]], of('1', first.ends, {final: true})), own(2, null, null))`),
		becomes(`places()`, "1 a 30"), script(`finished = []`),

		// Sixteen seconds late is too late, and so is any time for a page that holds nothing.
		script(`now = Date.parse('2026-11-20T12:00:46Z'); watch()`), becomes(`sockets.at(-1).sent.at(-1)?.board`, "b"),
		script(`var late = list(2, [['x', 1]],
			of('2', '2026-11-21T12:00:30Z', {info: {kind: 'member', period: {opens: first.ends, ends: '2026-11-21T12:00:30Z'}}}));
				say(late)`), becomes(`text()`, "1 x 1"), becomes(`sockets.at(-1).sent.at(-1).board`, "b"),
		script(`now = Date.parse('2026-11-20T12:00:31Z'); watch({hold: 0})`), becomes(`sockets.at(-1).sent.at(-1)?.board + text()`, "b"),
		script(`say(late)`), becomes(`text()`, "1 x 1"), becomes(`sockets.at(-1).sent.at(-1).board`, "b"),

		// The next period ends before the first three have gone: those of the next one take their place.
		script(`now = Date.parse('2026-11-20T12:00:32Z'); watch()`), becomes(`sockets.at(-1).sent.at(-1)?.board + text()`, "b"),
		script(`say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z')));
			sockets.at(-1).say(list(1, [['a', 1]],
				of('3', '2026-11-20T12:00:31Z', {final: true})))`), becomes(`String(/a 1/.test(finish()))`, "true"),
		script(`sockets.at(-1).say(list(1, [['z', 7]], of('4', '2026-11-20T12:00:32Z')),
			list(1, [['z', 7]], of('4', '2026-11-20T12:00:32Z', {final: true})))`), becomes(`String(/z 7/.test(finish()))`, "true"),
		becomes(`getComputedStyle(root.querySelector('[part=list]')).visibility`, "hidden"), script(`pass(15000)`), shown(""),

		// An empty period has no first three, and a board that the page leaves takes its own along.
		script(`now = Date.parse('2026-11-20T12:00:31Z'); watch()`), becomes(`sockets.at(-1).sent.at(-1)?.board + text()`, "b"),
		script(`say(list(1, [], of('3', '2026-11-20T12:00:31Z')));
			sockets.at(-1).say(list(1, [], of('3', '2026-11-20T12:00:31Z',
				{final: true})))`), becomes(`String(board.hasAttribute('data-final'))`, "true"), shown(""),
		script(`now = Date.parse('2026-11-20T12:00:31Z'); watch()`), becomes(`sockets.at(-1).sent.at(-1)?.board + text()`, "b"),
		script(`say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z')));
			sockets.at(-1).say(list(1, [['a', 1]], of('3', '2026-11-20T12:00:31Z', {final: true})))`), becomes(`String(finish() !== '')`, "true"),
		script(`board.setAttribute('board', 'other')`), shown(""),
	)
}

// A row is picked by a click anywhere on it, and by keyboard.
func TestElementPicks(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{top: 3, me: 'u', pickable: ''}`)
	do(script(`var picks = []; board.addEventListener('pick', ({detail: {member, entry}}) => picks.push(member + ' ' + entry?.score))`),
		script(`say(list(1, [['a', 30], ['b', 20]]), own(1, null, null))`), becomes(`text()`, "1 a 30, 2 b 20, below u has no score yet"),
		script(`root.querySelector('[data-member=b] [part=score]').click()`), becomes(`picks.splice(0).join()`, "b 20"),
		script(`root.querySelector('[data-member=a] button').focus()`), chromedp.KeyEvent("\r"), becomes(`picks.splice(0).join()`, "a 30"),
		script(`root.querySelector('[data-member=u] button').click()`), becomes(`picks.splice(0).join()`, "u undefined"),
		script(`root.querySelector('[part=note]').click()`), becomes(`picks.length + ''`, "0"),
		script(`board.removeAttribute('pickable'); root.querySelector('[data-member=b]').click()`), becomes(`picks.length + ''`, "0"))
}

// A number that is too long for a row is abbreviated, alone: the others keep their size, and the exact one is at hand.
func TestElementAbbreviatesHugeScores(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{top: 3, me: 'b'}`)
	do(script(`say(list(1, [['a', 9007199254740991], ['b', 1234567890], ['c', 5]]))`),
		becomes(`text()`, "1 a 9007T, me 2 b 9007T to next 1,234,567,890, 3 c 5"),
		becomes(`[...root.querySelectorAll('[data-field=score]')].map(score => [score.title, getComputedStyle(score).fontSize]
			.join(' ')).join(', ')`, "9,007,199,254,740,991 16px,  16px,  16px"),
		// Its own new score may have the same abbreviation.
		script(`say(list(2, [['a', 9007199254740001], ['b', 1234567890], ['c', 5]]))`),
		becomes(`root.querySelector('[data-member=a] [data-field=score]').title`, "9,007,199,254,740,001"),
		becomes(`text().slice(0, 9)`, "1 a 9007T"),
		script(`board.setAttribute('format', 'time_ms')`), becomes(`root.querySelector('[data-member=c] [part=score]').textContent`, "0:00.005"),
		becomes(`String(parseFloat(getComputedStyle(root.querySelector('[data-member=a] [data-field=score]')).fontSize) < 16)`, "true"),
		becomes(`getComputedStyle(root.querySelector('[data-member=c] [data-field=score]')).fontSize`, "16px"))
}

// When one row passes others, or falls behind several, it alone moves in the document. The others keep their focus and their
// animations.
func TestRowMovesAlone(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{top: 40}`)
	show := func(members string) chromedp.Action[chromedp.Void] {
		return script(`moved = []; say(list(++seq, (` + members + `).map((member, i) => [member, 1000 - i])))`)
	}
	do(script(`
		var seq = 0, moved = [], all = Array.from({length: 40}, (_, i) => 'm' + i);
		new MutationObserver(records => moved.push(...records.flatMap(({addedNodes}) => [...addedNodes])
			.map(({dataset}) => dataset?.member).filter(Boolean))).observe(root.querySelector('[part=list]'), {childList: true});
		var shown = () => [...root.querySelectorAll('[data-member]')].map(row => row.dataset.member).join();`),
		show(`all`), becomes(`String(shown() === all.join())`, "true"),
		show(`all.with(4, 'm5').with(5, 'm4')`), becomes(`shown().slice(0, 20) + ' ' + moved`, "m0,m1,m2,m3,m5,m4,m6 m5"),
		show(`all`), becomes(`shown().slice(0, 20) + ' ' + moved`, "m0,m1,m2,m3,m4,m5,m6 m4"),
		show(`['m30', ...all.toSpliced(30, 1)]`), becomes(`shown().slice(0, 9) + ' ' + moved`, "m30,m0,m1 m30"),
		show(`all`), becomes(`String(shown() === all.join()) + ' ' + moved`, "true m30"),
	)
}
