//go:build !race

package pages

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// openBoard opens a page that has nothing but that board, once the server was asked for it.
func openBoard(t *testing.T, attributes string) (do func(actions ...chromedp.Action[chromedp.Void]), ctx context.Context) {
	p := e2etest.Launch(t)
	ctx = ownWindow(t, 800, 600)
	do = func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(ctx, actions...))
	}
	do(chromedp.Navigate("http://"+p.Addr+"/healthz"), standIn(t), script(`make(`+attributes+`)`),
		becomes(`sockets.at(-1)?.sent.at(-1)?.type`, "subscribe"))
	return do, ctx
}

// A page that shows a busy board for hours keeps what it needs, and no more.
func TestElementLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	elementLeavesNothingBehind(t, 10, 5, 30) // 860 rows go meanwhile: left behind, they would be 14,000 nodes
}

// elementLeavesNothingBehind compares what a page keeps after so many rounds to begin with and
// some more, and after later ones.
func elementLeavesNothingBehind(t *testing.T, first, second, later int) {
	do, ctx := openBoard(t, `{top: 200, me: 'm3'}`)
	// Members come and go, all that stay change places and scores, and one is followed.
	do(script(`
		var seq = 0, round = 0, done = 0, busy = rounds => {
			round++;
			const names = Array.from({length: 200}, (_, i) => i % 7 === round % 7 ? 'new' + round + '.' + i : 'm' + (i * 7 + round * 3) % 200);
			const entries = names.map((name, i) => [name, 1000 - i + round]);
			say(list(++seq, entries), own(seq, 300 + round % 5, round, {to_next: 1}));
			if (rounds > 1) requestAnimationFrame(() => busy(rounds - 1));
			else requestAnimationFrame(() => setTimeout(() => { for (const animation of root.getAnimations()) animation.finish(); done = round; }));
		}`))
	sum := 0
	run := func(rounds int) kept {
		sum += rounds
		do(script(fmt.Sprintf(`busy(%d)`, rounds)), becomes(`done + ''`, fmt.Sprint(sum)))
		return keeps(t, ctx)
	}
	run(first)
	before := run(second)
	run(later).atMost(t, before, 1<<20)
}

// For a reader who prefers reduced motion, or on a calm element, nothing rolls, glides or shines. The marks stay.
func TestCalmRows(t *testing.T) {
	t.Parallel()
	for _, attributes := range []string{`{top: 3, calm: ''}`, `{top: 3}`} {
		do, ctx := openBoard(t, attributes)
		if attributes == `{top: 3}` {
			require.NoError(t, chromedp.Do(ctx, media("prefers-reduced-motion", "reduce")))
		}
		do(script(`watchMarks(); say(list(1, [['a', 30], ['b', 20]]))`), becomes(`text()`, "1 a 30, 2 b 20"),
			script(`say(list(2, [['b', 40], ['a', 30]]))`), becomes(`text()`, "1 b 40, 2 a 30"), becomes(`moves()`, "b▲1 a▼1"),
			becomes(`gains() + rolls() + root.querySelectorAll('[data-leads]').length + root.getAnimations()
				.filter(animation => animation.constructor === Animation).length`, "b a00"))
	}
}

// A row is picked by a click anywhere on it, and by keyboard.
func TestElementPicks(t *testing.T) {
	t.Parallel()
	do, _ := openBoard(t, `{top: 3, me: 'u', pickable: ''}`)
	do(script(`var picks = []; board.addEventListener('pick', ({detail: {member, entry}}) => picks.push(member + ' ' + entry?.score))`),
		script(`say(list(1, [['a', 30], ['b', 20]]), own(1, null, null))`), becomes(`text()`, "1 a 30, 2 b 20, below u has no score yet"),
		script(`root.querySelector('[data-member=b] [part=score]').click()`), becomes(`picks.splice(0).join()`, "b 20"),
		script(`root.querySelector('[data-member=a] button').focus()`), chromedp.KeyEvent("\r"), becomes(`picks.splice(0).join()`, "a 30"),
		script(`root.querySelector('[data-member=u] button').click()`), becomes(`picks.splice(0).join()`, "u undefined"),
		script(`root.querySelector('[part=note]').click()`), becomes(`picks.length + ''`, "0"),
		script(`board.removeAttribute('pickable'); root.querySelector('[data-member=b]').click()`), becomes(`picks.length + ''`, "0"))
}
