//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// liveFlowers has the fans of three hours change with each gift, not with each build.
var liveFlowers = strings.Replace(starFlowers, "window: 3h", "window: 3h, refresh: live", 1)

// However fast gifts come, each board of a star's page changes once in a frame, and what
// they leave behind does not grow.
func TestShowBearsACrowd(t *testing.T) {
	t.Parallel()
	showBearsACrowd(t, 120)
}

// showBearsACrowd has three rounds of so many gifts come, and compares what the page keeps after the
// first and after the last.
func showBearsACrowd(t *testing.T, gifts int) {
	p := e2etest.LaunchBoards(t, liveFlowers)
	ctx := ownWindow(t, 1280, 900)
	do(t, ctx,
		visit(p, "/show/gift/s0?me=mochi&lang=en"), watching,
		step(t, "count-updates"))

	rounds, sent := 0, 0
	round := func() {
		t.Helper()
		rounds++
		do(t, ctx, script(`frames = 0; updates = {}`))
		for i := range gifts {
			// Fans come and go in the first ten, and stars in the first twenty.
			give(p, fmt.Sprint("s", i%2*(i%29)), fmt.Sprint("u", (i*7+rounds)%40), 1+(i+rounds)%40)
		}
		last := fmt.Sprint("last", rounds)
		give(p, "s0", last, 1)
		give(p, "s0", "mochi", 1)
		sent++
		do(t, ctx,
			becomes(`document.querySelector('#star-score').textContent.replace(/\D/g, '')`, fmt.Sprint(scoreOf(p, "stars", "s0"))),
			becomes(`page.root('fans').querySelector('[aria-current] [data-field=score]')?.textContent`, fmt.Sprint(sent)),
			becomes(`page.root('recent').querySelector('[aria-current] [data-field=score]')?.textContent`, fmt.Sprint(sent)),
			becomes(`['star-board', 'fans', 'recent'].map(id => updates[id] > 1 && updates[id] <= frames + 1 || updates[id] + ' in '
				+ frames).join()`, "true,true,true"),
			becomes(`twice + ''`, "0"),
			// The feed shows the last of them, and nothing waits.
			becomes(`String(page.all('.feed-fan').some(user => user.textContent === 'last`+fmt.Sprint(rounds)+`'))`, "true"),
			holds(`page.count('.feed-line') <= 14`),
			script(`for (const animation of document.getAnimations())
				if (animation.effect.getComputedTiming().endTime < Infinity) animation.finish()`),
		)
	}
	round()
	round() // by then the feed is full
	before := keeps(t, ctx)
	round()
	later := keeps(t, ctx)
	t.Logf("%+v; after a round more %+v", before, later)
	require.LessOrEqual(t, later.nodes, before.nodes+50, "nodes") // a text that is empty has none
	require.LessOrEqual(t, later.listeners, before.listeners, "listeners")
	// The page needs about 0.1 MB more by then, for code that is compiled and names that are known.
	require.LessOrEqual(t, later.heap, before.heap+1<<19, "heap")
}

// The server goes and comes back under a star's page: its board, its fans and the feed go on.
func TestShowComesBack(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	args := []string{"--redis", r.URL(), "--boards", e2etest.Write(t, "stars.yaml", liveFlowers)}
	p := e2etest.Launch(t, args...)
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/show/gift/s17?me=mochi&lang=en"), watching)
	give(p, "s17", "mochi", 3)
	shows := func(flowers, feed string) {
		t.Helper()
		do(t, ctx,
			becomes(textOf(".star-head"), "S s17 No. 1 "+flowers+" In the lead"),
			becomes(`page.fields('star-board')`, "1 s17 "+flowers),
			becomes(`page.fields('fans')`, "1 mochi "+flowers), becomes(`page.fields('recent')`, "1 mochi "+flowers),
			becomes(`page.feedOf()`, feed),
		)
	}
	shows("3", "mochi s17 3")
	p.Kill()
	do(t, ctx, becomes(`page.state('star-board')`, "away"))
	shows("3", "mochi s17 3")

	// Flowers that came meanwhile are on the boards; the feed goes on once it is asked for again.
	p = e2etest.Launch(t, append(args, "--addr", p.Addr)...)
	give(p, "s17", "mochi", 4)
	do(t, ctx,
		becomes(`page.state('star-board')`, "live"),
		becomes(`page.fields('star-board')`, "1 s17 7"), becomes(`page.fields('fans')`, "1 mochi 7"),
		becomes(`page.fields('recent')`, "1 mochi 7"),
		script(`ponged = ''; import('/kit/rankcast.js').then(kit => kit.connect().ping()).then(() => ponged = 'yes')`), becomes(`ponged`, "yes"),
	)
	give(p, "s18", "taro", 5)
	do(t, ctx,
		becomes(`page.fields('star-board')`, "1 s17 7 | 2 s18 2 to next 5"),
		becomes(textOf(".star-head"), "S s17 No. 1 7 2 ahead of s18"),
		becomes(`document.querySelector('.feed-line .feed-fan').textContent`, "taro"),
		becomes(`stays`, "yes"),
	)
	give(p, "s17", "yuki", 9)
	do(t, ctx, becomes(`page.fields('fans')`, "1 yuki 9 | 2 mochi 2 to next 7"),
		becomes(`page.fields('recent')`, "1 yuki 9 | 2 mochi 2 to next 7"))
}
