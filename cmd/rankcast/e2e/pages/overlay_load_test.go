//go:build !race

package pages

import (
	"fmt"
	"testing"
)

// An overlay that stays open over a busy board renders at most once in a frame, and keeps no more memory than it needs.
func TestOverlayLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	overlayLeavesNothingBehind(t, 60)
}

// overlayLeavesNothingBehind compares what an overlay keeps after two rounds of so many updates
// and after two more.
func overlayLeavesNothingBehind(t *testing.T, updates int) {
	for _, mode := range []string{"list", "compact", "me"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := withMembers(t, 20)
			ctx := ownWindow(t, 480, 270)
			do(t, ctx,
				overlay(p, "stars", "me=m15&mode="+mode),
				isLive,
				script(`
					var board = page.board(), renders = 0, frames = 0, last = null;
					board.addEventListener('update', ({detail}) => {
						renders++;
						last = detail;
					});
					(function count() {
						frames++;
						requestAnimationFrame(count);
					})()`),
			)
			round := 0
			run := func() kept {
				t.Helper()
				do(t, ctx, script(`renders = frames = 0`))
				for i := range updates {
					// Members come and go, change places, and one of them is followed.
					member := fmt.Sprintf("m%02d", 1+i*7%20)
					if i%3 == 0 {
						member = fmt.Sprintf("new%d.%d", round, i)
					}
					p.Update("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, member, 100*round+i))
				}
				round++
				// The last of them is seen: the highest there is, and whom the overlay follows with all that it was given.
				p.Update("stars", fmt.Sprintf(`{"updates":[{"member":"end","score":%d,"op":"last"},{"member":"m15","score":%d,"op":"last"}]}`,
					10_000_000+round, 5_000_000+round))
				do(t, ctx,
					becomes(`last?.snapshot?.top[0].score + ' ' + (last?.snapshot?.top.find(({member}) => member === 'm15') ?? last?.me)?.score`,
						fmt.Sprintf("%d %d", 10_000_000+round, 5_000_000+round)),
					// A frame may be begun that is not counted yet.
					holds(`renders > 0 && renders <= frames + 1`),
					script(`for (const animation of document.getAnimations()) animation.finish()`),
				)
				return keeps(t, ctx)
			}
			run()
			before := run()
			run()
			run().atMost(t, before, 1<<19)
		})
	}
}
