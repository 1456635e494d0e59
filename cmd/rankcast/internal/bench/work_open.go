package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rankcast/cmd/rankcast/internal/term"
)

// openFlags are the flags of works whose updates have scheduled times.
type openFlags struct {
	Rate  int `default:"1000" range:"1..1000000" placeholder:"N" help:"Updates a second (default ${default})."`
	Batch int `default:"1" range:"1..1000" placeholder:"N" help:"Updates in a request, 1 to 1000 (default ${default})."`
	// Up to five minutes: request ids stay unique, and no period ends unseen.
	Duration time.Duration `default:"10s" range:"10ms..5m" placeholder:"TIME" help:"Time to measure in a round (default ${default})."`
	Callers  int           `default:"32" range:"1..10000" placeholder:"N" help:"Most requests under way (default ${default})."`
}

func (o *openFlags) settings(unit string) string {
	return fmt.Sprintf("%s a second in requests of %s, %v", term.Counted(o.Rate, unit), term.Thousands(int64(o.Batch)), o.Duration)
}

// openRound is one round of a work whose updates have scheduled times and go to members in turn.
type openRound struct {
	*openFlags
	t         *target
	members   []string
	places    map[string]int // of the members, in the schedule
	base      []int64        // score of each member before the round
	points    int64          // of an update
	schedule  schedule
	latencies *tally // from the scheduled time of an update to the frame that shows it

	newCall func(context.Context) call  // makes a call that sends a request of the schedule
	joined  func(context.Context) error // is called once all sockets have joined; nil for nothing
}

// boardOf names the board of the command on which the member at a place counts.
type boardOf func(place int) string

// onOneBoard is the boardOf of works with one board.
func onOneBoard(int) string { return oneBoard }

// newRound starts the node of a target again, and reads what the members have on their boards. The schedule begins with
// run, and its updates go to the one board of the command.
func (o *openFlags) newRound(ctx context.Context, t *target, at boardOf, members []string, points int64) (*openRound, error) {
	if err := t.restart(ctx); err != nil {
		return nil, err
	}
	r := &openRound{openFlags: o, t: t, members: members, places: make(map[string]int), points: points, latencies: newTally()}
	r.newCall = r.newUpdates
	for i, m := range members {
		r.places[m] = i
	}
	entries, err := t.entries(ctx, at, members)
	for _, e := range entries {
		r.base = append(r.base, e.Score)
	}
	r.schedule = newSchedule(time.Now(), o.Rate, o.Batch, len(members), o.Duration)
	return r, err
}

// maxAsked is the most members that one read may name.
const maxAsked = 100

// entries reads members, all of which are on their boards.
func (t *target) entries(ctx context.Context, at boardOf, members []string) ([]entry, error) {
	all := make([]entry, len(members))
	places := make(map[string][]int) // of the members of a board
	for i := range members {
		places[at(i)] = append(places[at(i)], i)
	}
	for board, these := range places {
		for part := range slices.Chunk(these, maxAsked) {
			names := make([]string, len(part))
			for i, place := range part {
				names[i] = members[place]
			}
			answer, err := t.client.Members(ctx, t.board(board), names...)
			if err != nil {
				return nil, t.remote.Explain(err)
			}
			for i, m := range answer {
				if m.Rank == nil || m.Score == nil {
					return nil, fmt.Errorf("%s: member %s is not on the board", t.name, m.Member)
				}
				all[part[i]] = entry{*m.Rank, m.Member, *m.Score}
			}
		}
	}
	return all, nil
}

// count is the number of updates that the score of a member shows. The n-th change of a member counts as its n-th
// scheduled update, although two requests may have overtaken each other.
func (o *openRound) count(member string, score int64) int {
	return int((score - o.base[o.places[member]]) / o.points)
}

// run gathers the sockets, sends the updates, and waits until all sockets show the end, which right counts.
func (o *openRound) run(ctx context.Context, n int, subscribe func(number int) []string, handle handler,
	right func(context.Context) (int, error)) (*figures, error) {
	f := newFigures()
	measureMemory := o.t.measureMemory(ctx, f)
	c, err := o.t.gather(ctx, n, gatherRate, subscribe, handle)
	if err != nil {
		return nil, err
	}
	defer c.leave()
	if err := measureMemory(c.joined.done); err != nil {
		return nil, err
	}
	if o.joined != nil {
		if err := o.joined(ctx); err != nil {
			return nil, err
		}
	}

	calls := make([]call, o.Callers)
	sending, cancel := context.WithCancel(ctx)
	defer cancel()
	defer time.AfterFunc(o.Duration+patience+o.behind(), cancel).Stop() // a server may never answer
	for i := range calls {
		calls[i] = o.newCall(sending)
	}
	sent := newTally()
	o.t.show("measuring")
	endLateness := measureLateness(ctx)
	from, frames := o.t.read(), c.frames.Load()
	o.schedule.begin()
	all := runOpen(sending, calls, o.schedule, sent)
	to, frames := o.t.read(), c.frames.Load()-frames
	endLateness(f)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	showRight, err := untilRight(ctx, n, right)
	if err != nil {
		return nil, err
	}

	c.leave() // nobody counts any more
	span := to.at.Sub(from.at).Seconds()
	f.addTally(all, span)
	f.addUsage(from, to, all.done)
	f.addLateness(sentLateP99, sentLateMax, sent)
	f.set(frameRate, float64(frames)/span)
	if from.known && to.known && frames > 0 {
		f.set(nodeFrameCPU, float64((to.node-from.node).Nanoseconds())/1e3/float64(frames))
	}
	f.set(figureSockets, float64(n))
	f.set(socketsRight, float64(showRight))
	f.addLatencies(o.latencies)
	f.addErrors(o.latencies.errors, c.joined.errors, c.lost.errors)
	return f, nil
}

// behind is the longest time that the updates may come to lag behind their schedule.
func (o *openRound) behind() time.Duration { return 5 * o.Duration }

// newUpdates makes a call that sends updates of the one board of the command.
func (o *openRound) newUpdates(ctx context.Context) call {
	id := callerID(0)
	path := "/v1/boards/" + o.t.board(oneBoard) + "/scores"
	return o.t.newBatches(ctx, path, "updates", o.Batch, func(to []byte, update int) []byte {
		return fmt.Appendf(to, `{"member":"%s","score":%d,"id":"%s-%d"}`, o.members[o.schedule.place(update)], o.points, id, update)
	})
}
