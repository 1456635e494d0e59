package hub

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// BenchmarkPublish measures one change in the top and the frame of it, for two members that
// swap places: of a kind without profiles, and of a kind with a profile for each member.
func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{10, 1000} {
		for _, kind := range []string{"", "user"} {
			b.Run(fmt.Sprintf("top=%d/kind=%s", n, kind), func(b *testing.B) { benchPublish(b, n, kind) })
		}
	}
}

func benchPublish(b *testing.B, n int, kind string) {
	f := newFakeBoard()
	f.kind = kind
	h := New(f, f, Config{Log: slog.New(slog.DiscardHandler), Shards: 2})
	board := newBoard(h, theBoard, feedLink{}, 1)
	board.kind = kind
	page := ranking.Page{State: ranking.State{Epoch: "e", Seq: 1}, Order: definition.Desc, Total: int64(2 * n), Start: 1}
	for i := range n + n/8 + 16 {
		m := fmt.Sprintf("member-%07d", i)
		f.setProfile(m, "Name of "+m)
		page.Entries = append(page.Entries, ranking.Entry{Rank: int64(i + 1), Member: m, Score: int64(-2 * i), Key: sortkey.Key(2 * i)})
	}
	var all []string
	for _, e := range page.Entries {
		all = append(all, e.Member)
	}
	f.Profiles(b.Context(), "user", all)
	v := board.view
	v.Resize(n)
	v.BeginPage()
	v.ApplyPage(page)
	board.shown = []*stream{board.topStream(n)}
	board.loadProfiles(&schedule{now: time.Now()}, nil)
	board.publish(time.Now())
	seq, at := int64(1), 0.0
	b.ReportAllocs()
	for b.Loop() {
		seq++
		old, now := sortkey.Key(at), sortkey.Key(3-at) // from the first place to the second, and back
		at = 3 - at
		rank := int64(1 + at/3)
		c := feed.Change{Member: "member-0000000", Old: &old, New: &now, Rank: rank, Position: rank}
		board.applyChanges([]*feed.Changes{{Board: "b", Epoch: "e", Seq: seq, List: []feed.Change{c}}})
		if !board.profilesReady(&board.profiles.waitingSince, &schedule{now: time.Now()}, board.eachTopMember) {
			b.Fatal("a profile is missing")
		}
		board.publish(time.Now())
		for _, s := range h.shards {
			s.takePending()
		}
	}
	if !v.Valid() || v.State().Seq != seq {
		b.Fatal("the view is invalid")
	}
}
