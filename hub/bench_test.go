package hub

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

func followedName(m int) string { return fmt.Sprintf("member-%07d", m) }

// BenchmarkNotify measures how long it takes to notify 100,000 followers after a new first
// member has moved them all: to encode their frames and pass them to the shards. That
// happens at most once a MeInterval. The median of the longest step is how long the board's
// goroutine is away from the changes.
func BenchmarkNotify(b *testing.B) {
	const followed = 100_000
	f := newFakeBoard()
	h := New(f, f, Config{Log: slog.New(slog.DiscardHandler), Shards: 2})
	board := newBoard(h, theBoard, time.Now(), 1)
	v := board.view
	for i := range followed {
		st := board.memberStream(followedName(i), 0)
		st.shards.Store(h.shards[i%2].bit)
		board.followStream(st)
	}
	place := func(m int) ranking.Entry { // behind the first member, which has no follower
		return ranking.Entry{Rank: int64(m) + 2, Member: followedName(m), Score: int64(m), Key: sortkey.Key(m)}
	}
	page := ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "e", Seq: 1}, Total: 10 * followed}, Order: definition.Asc, Start: 1}
	page.Entries = []ranking.Entry{{Rank: 1, Member: "first", Score: -1, Key: -1}}
	for m := range v.PageSize() - 1 {
		page.Entries = append(page.Entries, place(m))
	}
	v.BeginPage()
	v.ApplyPage(page)
	byName := make(map[string]int, followed)
	for m := range followed {
		byName[followedName(m)] = m
	}
	for l := v.BeginLookups(); l != nil; l = v.BeginLookups() {
		p := ranking.Places{Head: ranking.Head{State: v.State(), Total: v.Total()}}
		for _, one := range l {
			e := place(byName[one.Member])
			p.List = append(p.List, ranking.Place{Entry: e, Position: e.Rank})
		}
		v.ApplyLookups(p)
	}
	board.notifyFound()
	board.updated = nil
	for _, s := range h.shards {
		s.takePending() // the status stream
	}
	// Another member becomes the first, and leaves again.
	key := sortkey.Key(-2)
	above := feed.Change{Member: "x", New: &key, Rank: 1, Position: 1}
	gone := feed.Change{Member: "x", Old: &key}
	batch := &feed.Changes{Board: "b", Epoch: "e", Seq: 1, List: make([]feed.Change, 1)}
	var steps []time.Duration
	for b.Loop() {
		batch.Seq++
		batch.List[0], above, gone = above, gone, above
		if !v.Apply(batch) {
			b.Fatal("the view does not follow")
		}
		var longest time.Duration
		for first := true; first || board.ranks.cursor != nil; first = false {
			start := time.Now()
			board.notifyRanks(start)
			h.announce(board.updated...)
			board.updated = board.updated[:0]
			longest = max(longest, time.Since(start))
		}
		steps = append(steps, longest)
		for _, s := range h.shards {
			if updated, _ := s.takePending(); len(updated) != followed/2 {
				b.Fatal("not all members were notified")
			}
		}
	}
	slices.Sort(steps)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/followed, "ns/follower")
	b.ReportMetric(float64(steps[len(steps)/2].Microseconds())/1e3, "ms/longest-step")
	b.ReportMetric(0, "ns/op")
}

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
	board := newBoard(h, theBoard, time.Now(), 1)
	board.kind = kind
	page := ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "e", Seq: 1}, Total: int64(2 * n)}, Order: definition.Desc, Start: 1}
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
		if !board.profilesReady(&board.profiles.waitingSince, &schedule{now: time.Now()}, board.view.EachTopMember) {
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
