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

// Erasure tells how far it has come that a member is erased. What is left cannot be looked
// at: it holds data of another order, ties or calendar than its board is defined with.
type Erasure struct {
	Boards  int64     // boards and instances gone through
	Removed int64     // periods of boards that the member was on, or hidden on
	Left    int64     // periods of boards that are left
	Began   time.Time // by Redis's clock
	Ended   time.Time // likewise; zero: it goes on
}

// erasureState is an Erasure in Redis.
type erasureState struct {
	Boards  int64  `json:"boards"`
	Removed int64  `json:"removed"`
	Left    int64  `json:"left,omitzero"`
	Began   int64  `json:"began"`          // µs since 1970, which no other of that member has
	Ended   int64  `json:"ended,omitzero"` // likewise
	Slot    string `json:"slot,omitzero"`  // of the definition that it has come to
	After   string `json:"after,omitzero"` // and the last of its instances gone through

	text string // that it was read as
}

const (
	// erasureKept is for how long it is told what came of one.
	erasureKept = 24 * time.Hour
	// erasePrefix leads what is on the agenda for one.
	erasePrefix = "//"
)

// Erase takes a member from every board of a kind and all their periods, those that have
// closed too, whatever there is of it: score, data, and that it is hidden. All nodes
// share that work, in small steps; Erasure tells how far it has come. What is sent of the
// member meanwhile or later counts anew. The audit, and the lists of who is hidden, keep
// its id; its profile is DeleteProfile's.
func (s *Store) Erase(ctx context.Context, kind, member string, by Moderator) (Erasure, error) {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member), by.check()); err != nil {
		return Erasure{}, err
	}
	field := erasureField(kind, member)
	r, err := s.callScript(ctx, script.Erasing, []string{s.keys.Erasures(), s.keys.Agenda()}, []any{field, erasePrefix + kind + " " + member})
	if err != nil {
		return Erasure{}, fmt.Errorf("erase %q: %w", member, err)
	}
	e, err := parseErasure(r.Text())
	if err := cmp.Or(r.Err, err); err != nil {
		return Erasure{}, fmt.Errorf("erase %q: %w", member, err)
	}
	return e.public(), s.audit(ctx, Action{Action: "erase", Kind: kind, Member: member, Moderator: by})
}

// Erasure tells of an Erase that was asked for, for a day after it has ended. It returns
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
		return Erasure{}, &FieldError{Field: "member", Reason: fmt.Sprintf("%q of kind %s is not being erased", member, kind), Kind: ErrUnknownMember}
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

// erasureField is that of the hash of erasures.
func erasureField(kind, member string) string { return kind + keyspace.FieldSep + member }

func parseErasure(text string) (*erasureState, error) {
	e := &erasureState{text: text}
	if err := json.Unmarshal([]byte(text), e); err != nil {
		return nil, fmt.Errorf("%w: an erasure is noted as %q", ErrUnavailable, definition.Clip(text))
	}
	return e, nil
}

// readErasure returns nil where there is none.
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

// recordErasure notes how far an erasure has come that was as it was read. It reports false
// where it is not that any more: it was asked for anew, which begins from the start, or
// another node has come farther, which is told of what was removed all the same.
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

// maxErasureAttempts is how often a node tries to tell others what it has removed.
const maxErasureAttempts = 5

// replaceErasure puts one text in the place of another, "" for none, or tells which
// there is instead.
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

// housekeepErasure goes on with an erasure for a while, and says when to go on, in µs since
// 1970; 0: there is nothing more to do, or to tell.
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
	if d.readAt <= e.Began { // a board may have been defined before that
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
				done.Slot, done.After = slot+" ", "" // past it, and before any other
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

// eraseFrom takes a member from some instances.
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

// purgePage is how many events of a window one call of purge.lua goes through.
const purgePage = 512

// purge takes away a member's events in a window up to one, which do not count any more.
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
