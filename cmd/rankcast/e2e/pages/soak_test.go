//go:build soak && !race

package pages

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// wallTime is how long the wall of TestWallStandsForLong stands, in minutes.
var wallTime = flag.Int("wall", 10, "minutes that a wall stands")

func TestElementLeavesNothingBehindForLong(t *testing.T) {
	t.Parallel()
	elementLeavesNothingBehind(t, 40, 20, 150) // 4,200 rows: left behind, they would be 70,000 nodes and over 4 MB
}

func TestOverlayLeavesNothingBehindForLong(t *testing.T) {
	t.Parallel()
	overlayLeavesNothingBehind(t, 300) // 600 snapshots left behind, of some twenty entries each, would be over 1 MB
}

func TestShowBearALargeCrowd(t *testing.T) {
	t.Parallel()
	showBearsACrowd(t, 300) // the margin of the heap is below 1 KB for each of the 600 gifts that are compared
}

func TestShowGiftSenderCountsEachTapOnceForLong(t *testing.T) {
	t.Parallel()
	giftSenderCountsEachTapOnce(t, 60)
}

// A wall stands for long while its boards change, periods end, and its server is killed and started again each minute. It shows what
// its boards hold, and keeps no more and more.
func TestWallStandsForLong(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.LaunchBoards(t, `boards:
  show: {kind: player, history: 10s, display: {unit: pts}}
  round: {kind: player, period: 90s, base: "2026-01-01T00:00:00Z", keep: 5, history: 10s}
  contest: {kind: player, columns: [{name: solved, max: 99999}, {name: penalty, order: asc, max: 99999}]}
`, "--redis", r.URL())
	addr := p.Addr
	ctx := withPage(t, e2etest.WindowFor(t, time.Duration(*wallTime+5)*time.Minute, 1920, 1080))
	do(t, ctx, visit(p, "/tv?boards=show,round,contest&seconds=5&me=p3"), holds(`page.state() === 'live'`), script(`var stays = 'stays'`))
	var before, now kept
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for i := range *wallTime * 60 {
		<-second.C
		switch i % 60 {
		case 0: // what the page keeps, once each scene was seen
			now = keeps(t, ctx)
			t.Logf("minute %d: %.0f nodes, %.0f listeners, %.0f KB", i/60, now.nodes, now.listeners, now.heap/1024)
			if i == 180 {
				before = now
			}
		case 20:
			p.Kill()
		case 25:
			p = e2etest.Launch(t, "--redis", r.URL(), "--addr", addr)
		}
		if i%60 < 20 || i%60 > 25 {
			member := i * 7 % 40
			for _, board := range []string{"show", "round"} {
				p.Update(board, e2etest.Scores(fmt.Sprint("p", member), 10+i%90, fmt.Sprint("p", i%5), i%40))
			}
			p.Update("contest", fmt.Sprintf(`{"member":"p%d","columns":{"solved":1,"penalty":%d}}`, member, i%30))
		}
	}
	p.Update("show", `{"member":"end","score":100000000}`)
	do(t, ctx, holds(`page.root().querySelector('[data-member]')?.dataset.member === 'end'`), becomes(`stays`, "stays"))
	require.NotZero(t, before.heap, "the wall stands for more than 3 minutes")
	now.atMost(t, before, 1<<20)
}
