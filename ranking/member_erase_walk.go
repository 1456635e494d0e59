package ranking

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// erasureWalk is one way through all boards of a kind, and then through the request ids of all events, as Redis holds
// it. It removes all members whose erasures began before it. Those of later erasures wait for the next walk. So a board
// costs the same few reads however many erasures are pending.
type erasureWalk struct {
	Began  int64        `json:"began"` // µs since 1970; no other walk of the kind has the same
	Boards int64        `json:"boards"`
	Left   int64        `json:"left,omitzero"`
	Slot   string       `json:"slot,omitzero"`  // of the definition that it has reached
	After  string       `json:"after,omitzero"` // the last instance of that definition that it has gone through
	Event  string       `json:"event,omitzero"` // whose request ids it has reached
	Hash   int          `json:"hash,omitzero"`  // of the event's ids
	At     scanPosition `json:"at,omitzero"`    // in that hash

	text string // the JSON that it was read from
}

const (
	// walkStep is the number of instances in which a walk looks for members at one time.
	walkStep = 16
	// erasedAtOnce is the number of erasures that one call of a script changes.
	erasedAtOnce = 500
	// erasureReports is the item on the agenda of erasures for the deletion of their reports. No kind has
	// this name.
	erasureReports = "/"
)

func parseWalk(text string) (*erasureWalk, error) {
	w, err := parseStored[erasureWalk](text, "progress of erasures")
	w.text = text
	return w, err
}

// eraseDue goes on with the erasures of one kind for a while. more reports that there was such a kind.
// Kinds take turns.
func (s *Store) eraseDue(ctx context.Context) (more bool, err error) {
	if s.rights.RefusesAll() != nil {
		return false, nil // each write would fail for the reason that RunRightsChecks logs
	}
	due, err := s.claimDue(ctx, s.keys.ErasureAgenda(), 1, housekeepingLease)
	if err != nil || len(due) == 0 {
		return false, err
	}
	c := due[0]
	if c.member == erasureReports {
		err := script.Reports.Run(ctx, s.rdb, []string{s.keys.Erasures(), s.keys.ErasureReports(), s.keys.ErasureAgenda()}, nil).Err
		return err == nil, err
	}
	if err := s.eraseKind(ctx, c.member); err != nil {
		return false, fmt.Errorf("erase members of kind %q: %w", c.member, err)
	}
	// The kind goes behind those that were due when it was claimed. It has left the agenda if no erasure
	// is pending.
	return true, s.rescheduleOn(ctx, []string{s.keys.ErasureAgenda()}, c, c.since)
}

// eraseKind goes on with the walk of a kind for a while.
func (s *Store) eraseKind(ctx context.Context, kind string) error {
	r := script.Walk.Run(ctx, s.rdb, []string{s.keys.Erasures(), s.keys.PendingErasures(kind), s.keys.ErasureAgenda()}, []any{kind})
	text := r.Text()
	if r.Err != nil || text == "" {
		return r.Err
	}
	w, err := parseWalk(text)
	if err != nil {
		return err
	}
	members, err := s.membersOfWalk(ctx, kind, w)
	if err != nil {
		return err
	}
	if len(members) > 0 {
		wanted, stop := newWantedMembers(members), time.Now().Add(familySlice)
		if ended, err := s.walk(ctx, kind, w, wanted, stop); err != nil || !ended {
			return err
		}
		if ended, err := s.walkIDs(ctx, kind, w, wanted, stop); err != nil || !ended {
			return err
		}
	}
	_, err = s.recordWalk(ctx, kind, w, "", members, nil, walkEnds)
	return err
}

// membersOfWalk returns the members that a walk removes.
func (s *Store) membersOfWalk(ctx context.Context, kind string, w *erasureWalk) ([]string, error) {
	// One read: between two, a member might move to another place.
	members, err := s.rdb.ZRangeArgs(ctx, redis.ZRangeArgs{Key: s.keys.PendingErasures(kind), Start: "-inf",
		Stop: fmt.Sprintf("(%d", w.Began), ByScore: true}).Result()
	if err != nil {
		return nil, fmt.Errorf("%w: read the pending erasures: %w", definition.ErrUnavailable, err)
	}
	return members, nil
}

// walk goes on through the boards of a kind until stop. It returns true at the end of the last board.
// It changes w as it records its progress.
func (s *Store) walk(ctx context.Context, kind string, w *erasureWalk, wanted wantedMembers, stop time.Time) (ended bool, err error) {
	d, err := s.definitionsOfWalk(ctx, w)
	if err != nil {
		return false, err
	}
	for slot, r := range d.ofKind(kind, w.Slot) {
		for more := true; more; {
			next, removed := *w, make(map[string]int64)
			if slot != next.Slot {
				next.Slot, next.After = slot, ""
			}
			page, err := s.listedInstances(ctx, slot, InstancesQuery{After: next.After, Limit: walkStep, Pending: true})
			if err != nil {
				return false, err
			}
			failed := s.eraseFrom(ctx, &next, r, page.Names, wanted, removed, stop)
			if end := len(page.Names); failed == nil && page.Next == "" && (end == 0 || next.After == page.Names[end-1]) {
				next.Slot, next.After = slot+" ", "" // after this slot, and before the next: instances that come now stay
			}
			ours, err := s.recordProgress(ctx, kind, w, next, removed)
			if err := errors.Join(failed, err); err != nil || !ours || time.Now().After(stop) {
				return false, err
			}
			more = page.Next != ""
		}
	}
	return true, nil
}

// definitionsOfWalk returns definitions with all that were defined before the walk began.
func (s *Store) definitionsOfWalk(ctx context.Context, w *erasureWalk) (*definitions, error) {
	d, _, err := s.leasedDefinitions(ctx)
	if err == nil && d.readAt <= w.Began {
		d, err = s.catalog.readFresh(ctx)
	}
	return d, err
}

// recordProgress is recordWalk for a walk that goes on. It changes w to next.
func (s *Store) recordProgress(ctx context.Context, kind string, w *erasureWalk, next erasureWalk,
	removed map[string]int64) (ours bool, err error) {
	text, err := json.Marshal(next)
	if err != nil {
		return false, fmt.Errorf("encode the progress of erasures: %w", err)
	}
	ours, err = s.recordWalk(ctx, kind, w, string(text), slices.Collect(maps.Keys(removed)), removed, walkGoesOn)
	if ours && err == nil {
		*w = next
		w.text = string(text)
	}
	return ours, err
}

// What recordWalk does to the erasures of the given members: '1' ends them, see erased.lua.
const walkGoesOn, walkEnds = "0", "1"

// recordWalk records how many board-periods each of some members was removed from, and changes the walk to next;
// "" stands for its end. It returns false if the stored walk is no longer w: another node has come
// farther. What was removed counts also then.
func (s *Store) recordWalk(ctx context.Context, kind string, w *erasureWalk, next string, members []string,
	removed map[string]int64, ends string) (ours bool, err error) {
	keys := []string{s.keys.Erasures(), s.keys.PendingErasures(kind), s.keys.ErasureReports(), s.keys.ErasureAgenda()}
	send := func(members []string, next string) (bool, error) {
		args := []any{kind, keyspace.FieldSep, w.Began, w.text, next, ends, w.Boards, w.Left}
		for _, member := range members {
			args = append(args, member, removed[member])
		}
		r := script.Erased.Run(ctx, s.rdb, keys, args)
		return r.Text() == "ok", r.Err
	}
	for len(members) > erasedAtOnce {
		if _, err := send(members[:erasedAtOnce], w.text); err != nil {
			return false, err
		}
		members = members[erasedAtOnce:]
	}
	return send(members, next)
}

// eraseFrom removes members from the given instances, counts the board-periods of each member in removed, and
// moves w behind each instance that it has gone through. It ends after an instance when the time is past stop.
func (s *Store) eraseFrom(ctx context.Context, w *erasureWalk, r *definition.Compiled, instances []string, wanted wantedMembers,
	removed map[string]int64, stop time.Time) error {
	found, err := s.findMembers(ctx, r, instances, wanted)
	if err != nil {
		return err
	}
	for _, instance := range instances {
		left := int64(0)
		for ; len(found) > 0 && found[0].instance == instance; found = found[1:] {
			isLeft, err := s.eraseFromPeriod(ctx, r, found[0], removed)
			if err != nil {
				return err
			}
			if isLeft {
				left++
			}
		}
		w.After = instance
		w.Boards++
		w.Left += left
		if time.Now().After(stop) {
			return nil
		}
	}
	return nil
}

// eraseFromPeriod removes the members that were found in a board-period. isLeft reports that the data have another shape than
// the definition; then it removes nothing more.
func (s *Store) eraseFromPeriod(ctx context.Context, r *definition.Compiled, p *foundMembers, removed map[string]int64) (
	isLeft bool, err error) {
	k := s.keys.Board(p.shard, p.period)
	keys := append(k.Head(), k.History().Names, k.History().Numbers)
	if r.IsWindowed() {
		keys = append(append(keys, k.Window[:]...), s.keys.Build(p.instance).Lock)
	} else {
		keys = append(keys, k.Pending().All()...)
	}
	until := make(map[string]int64) // the n up to which there may be events of a member
	for _, member := range p.members {
		began := time.Now()
		reply := script.Erase.Run(ctx, s.rdb, keys, append(scriptHead(r, k, p.shard, p.period), r.Shape, member, boolArg(r.IsWindowed())))
		if reply.Text() == "shape" {
			return true, nil
		}
		there := reply.Number()
		if n := reply.Number(); n > 0 {
			until[member] = n
		}
		if reply.Err != nil {
			return false, reply.Err
		}
		if there > 0 {
			removed[member]++
		}
		if err := restAfter(ctx, began); err != nil {
			return false, err
		}
	}
	return p.left, s.purge(ctx, k, until)
}

// restAfter leaves Redis to other callers for as long as a call took that began at a time.
func restAfter(ctx context.Context, began time.Time) error {
	return pauseAfter(ctx, 2*time.Since(began))
}

const (
	// purgePage is the number of events of a window that one call of purge.lua goes through, and
	// purgeMembers the number of members whose events it deletes.
	purgePage    = 512
	purgeMembers = 256
)

// purge deletes members' events in a window, each up to one. These events no longer count.
func (s *Store) purge(ctx context.Context, k keyspace.BoardKeys, until map[string]int64) error {
	for members := range slices.Chunk(slices.Collect(maps.Keys(until)), purgeMembers) {
		args := []any{purgePage, "", ""}
		for _, member := range members {
			args = append(args, member, until[member])
		}
		for {
			began := time.Now()
			r := script.Purge.Run(ctx, s.rdb, []string{k.Window[0], k.Window[2]}, args)
			ms, event := r.Text(), r.Text()
			if r.Err != nil {
				return r.Err
			}
			if event == "" {
				break
			}
			args[1], args[2] = ms, event
			if err := restAfter(ctx, began); err != nil {
				return err
			}
		}
	}
	return nil
}
