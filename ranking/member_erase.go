package ranking

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// Erasure is the progress of the erasure of a member.
type Erasure struct {
	Boards  int64     // boards and instances that it has gone through
	Removed int64     // board-periods that the member was on, or hidden on
	Left    int64     // board-periods that it cannot go through: their data have another order, ties or calendar than the definition
	Began   time.Time // by Redis's clock
	Ended   time.Time // likewise; zero: it is under way
}

// erasureState is an Erasure as Redis holds it.
type erasureState struct {
	Boards  int64  `json:"boards"`
	Removed int64  `json:"removed"`
	Left    int64  `json:"left,omitzero"`
	Began   int64  `json:"began"`          // µs since 1970; no other erasure of the member has the same
	Ended   int64  `json:"ended,omitzero"` // likewise; 0: it is under way
	Slot    string `json:"slot,omitzero"`  // of the definition that it has reached
	After   string `json:"after,omitzero"` // the last instance of that definition that it has gone through

	text string // the JSON that it was read from
}

const (
	// erasureKept is how long Redis keeps the state of an erasure after its end.
	erasureKept = 24 * time.Hour
	// erasePrefix begins the item of an erasure on the agenda.
	erasePrefix = "//"
)

// Erase removes a member from all boards of a kind and all their periods, also the closed
// ones. It removes the score, the data and the state of being hidden. Housekeeping on all
// nodes shares the work, in small steps; Erasure returns the progress. Updates of the
// member that come during the erasure or later count anew. The audit and the lists of
// hidden members keep its id. DeleteProfile deletes its profile.
func (s *Store) Erase(ctx context.Context, kind, member string, by Moderator) (Erasure, error) {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member), by.check()); err != nil {
		return Erasure{}, err
	}
	line, err := Action{Action: "erase", Kind: kind, Member: member, Moderator: by}.line()
	if err != nil {
		return Erasure{}, err
	}
	r, err := s.callScript(ctx, script.Erasing, []string{s.keys.Erasures(), s.keys.Agenda(), s.keys.Audit()},
		[]any{erasureField(kind, member), erasePrefix + kind + " " + member, line, auditKept})
	if err != nil {
		return Erasure{}, fmt.Errorf("erase %q: %w", member, err)
	}
	e, err := parseErasure(r.Text())
	if err := cmp.Or(r.Err, err); err != nil {
		return Erasure{}, fmt.Errorf("erase %q: %w", member, err)
	}
	return e.public(), nil
}

// Erasure returns the progress of an erasure, until a day after its end. It returns
// ErrUnknownMember where there is none.
func (s *Store) Erasure(ctx context.Context, kind, member string) (Erasure, error) {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member)); err != nil {
		return Erasure{}, err
	}
	e, err := s.readErasure(ctx, kind, member)
	if err != nil {
		return Erasure{}, err
	}
	if e == nil {
		return Erasure{}, &FieldError{Field: "member", Reason: fmt.Sprintf("%q of kind %s is not being erased, and no erasure of it ended within the last day", member, kind), Kind: ErrUnknownMember}
	}
	return e.public(), nil
}

func (e erasureState) public() Erasure {
	told := Erasure{Boards: e.Boards, Removed: e.Removed, Left: e.Left, Began: time.UnixMicro(e.Began).UTC()}
	if e.Ended > 0 {
		told.Ended = time.UnixMicro(e.Ended).UTC()
	}
	return told
}

// erasureField is the field of an erasure in the hash of erasures.
func erasureField(kind, member string) string { return kind + keyspace.FieldSep + member }

func parseErasure(text string) (*erasureState, error) {
	e := &erasureState{text: text}
	if err := json.Unmarshal([]byte(text), e); err != nil {
		return nil, fmt.Errorf("%w: the stored state of an erasure is not valid: %q", ErrUnavailable, definition.Clip(text))
	}
	return e, nil
}

// readErasure returns nil where there is no erasure.
func (s *Store) readErasure(ctx context.Context, kind, member string) (*erasureState, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	text, err := s.rdb.HGet(ctx, s.keys.Erasures(), erasureField(kind, member)).Result()
	if err == redis.Nil {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: read an erasure: %w", ErrUnavailable, err)
	}
	return parseErasure(text)
}

// recordErasure writes the progress of an erasure from was to next. It returns false when
// the stored state is no longer was: a new request has restarted the erasure, or another
// node has come farther. In the second case it adds the removed board-periods to the stored
// state.
func (s *Store) recordErasure(ctx context.Context, kind, member string, was, next *erasureState) (bool, error) {
	removed := next.Removed - was.Removed
	ours := true
	for range maxErasureAttempts {
		text, err := json.Marshal(next)
		if err != nil {
			return false, fmt.Errorf("encode an erasure: %w", err)
		}
		noted, done, err := s.replaceErasure(ctx, kind, member, was.text, string(text))
		if err != nil {
			return false, err
		}
		if done {
			next.text = string(text)
			return ours, nil
		}
		if ours = false; noted == "" || removed == 0 {
			return false, nil
		}
		began := was.Began
		if was, err = parseErasure(noted); err != nil || was.Began != began {
			return false, err
		}
		other := *was
		next = &other
		next.Removed += removed
	}
	return false, nil
}

// maxErasureAttempts bounds how often a node tries to add what it has removed to the stored
// state.
const maxErasureAttempts = 5

// replaceErasure replaces one stored text by another; "" deletes it. done is false when the
// stored text is not was, and noted is the stored text.
func (s *Store) replaceErasure(ctx context.Context, kind, member, was, next string) (noted string, done bool, err error) {
	r, err := s.callScript(ctx, script.Erased, []string{s.keys.Erasures()}, []any{erasureField(kind, member), was, next})
	if err != nil {
		return "", false, err
	}
	if r.Text() == "other" {
		return r.Text(), false, r.Err
	}
	return next, r.Err == nil, r.Err
}

// housekeepErasure continues an erasure for a while, and returns when to continue, in µs
// since 1970; 0: the erasure has ended and its state has expired.
func (s *Store) housekeepErasure(ctx context.Context, d *definitions, c claim) (next int64, err error) {
	kind, member, _ := strings.Cut(strings.TrimPrefix(c.member, erasePrefix), " ")
	e, err := s.readErasure(ctx, kind, member)
	if err != nil || e == nil {
		return 0, err
	}
	if e.Ended > 0 {
		if goes := e.Ended + erasureKept.Microseconds(); goes > c.since {
			return goes, nil
		}
		_, _, err := s.replaceErasure(ctx, kind, member, e.text, "")
		return 0, err
	}
	if d.readAt <= e.Began { // d may lack a board that was defined before the erasure began
		if d, err = s.catalog.readFresh(ctx); err != nil {
			return 0, err
		}
	}
	stop := time.Now().Add(familySlice)
	for _, slot := range slices.Sorted(maps.Keys(d.boards)) {
		r, _ := d.compiledIn(slot)
		if r == nil || r.Kind != kind || slot < e.Slot {
			continue
		}
		after := ""
		if slot == e.Slot {
			after = e.After
		}
		for more := true; more; {
			page, err := s.listedInstances(ctx, slot, after, familyPage)
			if err != nil {
				return 0, err
			}
			done := *e
			if err := s.eraseFrom(ctx, &done, r, member, page.Names); err != nil {
				return 0, err
			}
			after = page.Next
			if more = after != ""; more {
				done.Slot, done.After = slot, after
			} else {
				done.Slot, done.After = slot+" ", "" // after this slot, and before the next
			}
			if ours, err := s.recordErasure(ctx, kind, member, e, &done); err != nil || !ours {
				return c.since, err
			}
			e = &done
			if time.Now().After(stop) {
				return c.since, nil
			}
		}
	}
	done := *e
	done.Ended = max(s.catalog.clock.now(), e.Began)
	if ours, err := s.recordErasure(ctx, kind, member, e, &done); err != nil || !ours {
		return c.since, err
	}
	return done.Ended + erasureKept.Microseconds(), nil
}

// eraseFrom removes a member from the given instances, and counts them in e.
func (s *Store) eraseFrom(ctx context.Context, e *erasureState, r *definition.Compiled, member string, instances []string) error {
	var removed, left atomic.Int64
	for some := range slices.Chunk(instances, familyAtOnce) {
		err := atOnce(some, func(instance string) error {
			periods, err := s.periodRecords(ctx, instance)
			for _, p := range periods {
				k := s.keys.Board(instance, p.Name)
				keys := k.Head()
				if r.IsWindowed() {
					keys = append(append(keys, k.Window[:]...), s.keys.Build(instance).Lock)
				}
				reply, err := s.callScript(ctx, script.Erase, keys, append(scriptHead(r, k, instance, p.Name), r.Shape, member))
				if err != nil {
					return err
				}
				if reply.Text() == "shape" {
					left.Add(1)
					continue
				}
				removed.Add(reply.Number())
				if until := reply.Number(); until > 0 {
					err = s.purge(ctx, k, member, until)
				}
				if err := cmp.Or(reply.Err, err); err != nil {
					return err
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	e.Boards += int64(len(instances))
	e.Removed += removed.Load()
	e.Left += left.Load()
	return nil
}

// purgePage is the number of events of a window that one call of purge.lua goes through.
const purgePage = 512

// purge deletes a member's events in a window up to one. These events no longer count.
func (s *Store) purge(ctx context.Context, k keyspace.BoardKeys, member string, until int64) error {
	args := []any{member, until, purgePage}
	for {
		began := time.Now()
		r, err := s.callScript(ctx, script.Purge, []string{k.Window[0], k.Window[2]}, args)
		if err != nil {
			return err
		}
		ms, event := r.Text(), r.Text()
		if event == "" || r.Err != nil {
			return r.Err
		}
		args = append(args[:3], ms, event)
		if err := pauseAfter(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}
