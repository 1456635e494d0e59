package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"rankcast/cmd/rankcast/internal/term"
	"rankcast/server/client"
)

// Fanout is rankcast bench fanout: updates of the first ten members of a board that many sockets watch.
type Fanout struct {
	// Up to 250,000: each takes an open file.
	Watchers int `default:"5000" range:"1..250000" placeholder:"N" help:"Sockets that watch the first ten entries (default ${default})."`
	// Up to 5,000,000: the digits of a name hold them.
	Members int       `default:"1000" range:"10..5000000" placeholder:"N" help:"Members of the board, 10 or more (default ${default})."`
	Open    openFlags `embed:""`
}

func (f *Fanout) about() about {
	return about{
		Name: "fanout", What: "updates of the first ten members of a board that sockets watch", Unit: "update",
		Settings: term.Counted(f.Watchers, "watcher") + ", " + term.Counted(f.Members, "member") + ", " + f.Open.settings("update"),
	}
}

const (
	// shownTop is the number of entries that a watcher watches. All updates go to the members at these ranks.
	shownTop = 10
	// sampledWatchers is how many watchers measure latencies, each of all updates.
	sampledWatchers = 100
	// topLead is the distance in score of the first ten from all others, so that they stay the first ten.
	topLead = 1_000_000_000
)

func (f *Fanout) prepare(ctx context.Context, t *target) (rounds, error) {
	rows := spreadScores(f.Members, 1)
	members := make([]string, shownTop) // the first ten, the last of them first
	for i := range members {
		rows[i].score += topLead
		members[shownTop-1-i] = rows[i].member
	}
	measure := func(ctx context.Context) (*figures, error) { return f.measure(ctx, t, members) }
	return rounds{measure: measure}, t.fillOne(ctx, rows)
}

// shownPoints are the points of an update of the first ten: the member overtakes two or three of them.
const shownPoints = 3

func (f *Fanout) measure(ctx context.Context, t *target, members []string) (*figures, error) {
	o, err := f.Open.newRound(ctx, t, onOneBoard, members, shownPoints)
	if err != nil {
		return nil, err
	}
	states := make([]atomic.Pointer[boardState], f.Watchers)
	folds := &folder{shows: func(before, after *boardState) (updates []int) {
		had := make(map[string]int, len(before.top))
		for _, e := range before.top {
			had[e.Member] = o.count(e.Member, e.Score)
		}
		for _, e := range after.top {
			if place, ok := o.places[e.Member]; ok {
				updates = o.schedule.appendShown(updates, place, had[e.Member], o.count(e.Member, e.Score))
			}
		}
		return updates
	}}
	sampleStep := (f.Watchers + sampledWatchers - 1) / sampledWatchers
	watch := func(number int, frame []byte, at time.Time) {
		taken, err := folds.fold(states[number].Load(), frame)
		if err != nil {
			o.latencies.fail("frame that does not fit")
			return
		}
		states[number].Store(taken.after)
		if number%sampleStep == 0 {
			o.latencies.countShown(taken.shown, o.schedule, at)
		}
	}
	subscribe := []string{fmt.Sprintf(`{"type":"subscribe","board":"%s","top":%d}`, t.board(oneBoard), shownTop)}
	return o.run(ctx, f.Watchers, func(int) []string { return subscribe }, watch, func(ctx context.Context) (int, error) {
		page, err := t.client.Top(ctx, t.board(oneBoard), client.Query{Limit: shownTop})
		if err != nil {
			return 0, t.remote.Explain(err)
		}
		right := 0
		for i := range states {
			if shows(states[i].Load(), page) {
				right++
			}
		}
		return right, nil
	})
}

// shows reports whether a state is what the server answers to top.
func shows(state *boardState, page client.Page) bool {
	if state == nil || state.total != page.Total || len(state.top) != len(page.Top) {
		return false
	}
	for i, e := range page.Top {
		if state.top[i] != (entry{e.Rank, e.Member, e.Score}) {
			return false
		}
	}
	return true
}
