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
)

// Erasure tells how far it has come that a member is erased.
type Erasure struct {
	Boards  int64     // boards and instances gone through
	Removed int64     // periods of boards that the member was on, or hidden on
	Began   time.Time // by Redis's clock
	Ended   time.Time // likewise; zero: it goes on
}

// erasing is an Erasure in Redis.
type erasing struct {
	Boards  int64  `json:"boards"`
	Removed int64  `json:"removed"`
	Began   int64  `json:"began"`          // µs since 1970
	Ended   int64  `json:"ended,omitzero"` // likewise
	Slot    string `json:"slot,omitzero"`  // of the definition that it has come to
	After   string `json:"after,omitzero"` // and the last of its instances gone through
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
	if err := cmp.Or(CheckKind(kind), CheckMember(member), by.check()); err != nil {
		return Erasure{}, err
	}
	d, _, err := s.leased(ctx) // so that there is a clock
	if err != nil {
		return Erasure{}, err
	}
	e := erasing{Began: max(s.catalog.clock.now(), d.looked)}
	if err := s.noteErasing(ctx, kind, member, e); err != nil {
		return Erasure{}, err
	}
	if err := s.soon(ctx, erasePrefix+kind+" "+member); err != nil {
		return Erasure{}, err
	}
	return e.told(), s.audit(ctx, Action{Action: "erase", Kind: kind, Member: member, Moderator: by})
}

// Erasure tells of an Erase that was asked for, for a day after it has ended. It returns
// ErrUnknownMember where there is none.
func (s *Store) Erasure(ctx context.Context, kind, member string) (Erasure, error) {
	if err := cmp.Or(CheckKind(kind), CheckMember(member)); err != nil {
		return Erasure{}, err
	}
	e, err := s.readErasing(ctx, kind, member)
	if err != nil {
		return Erasure{}, err
	}
	if e == nil {
		return Erasure{}, &FieldError{Field: "member", Reason: fmt.Sprintf("%q of kind %s is not being erased", member, kind), Kind: ErrUnknownMember}
	}
	return e.told(), nil
}

func (e erasing) told() Erasure {
	told := Erasure{Boards: e.Boards, Removed: e.Removed, Began: time.UnixMicro(e.Began).UTC()}
	if e.Ended > 0 {
		told.Ended = time.UnixMicro(e.Ended).UTC()
	}
	return told
}

func (s *Store) noteErasing(ctx context.Context, kind, member string, e erasing) error {
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an erasure: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	if err := s.rdb.HSet(ctx, s.keys.erasures(), kind+fieldSep+member, text).Err(); err != nil {
		return fmt.Errorf("%w: note an erasure: %w", ErrUnavailable, err)
	}
	return nil
}

// readErasing returns nil where there is none.
func (s *Store) readErasing(ctx context.Context, kind, member string) (*erasing, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	text, err := s.rdb.HGet(ctx, s.keys.erasures(), kind+fieldSep+member).Result()
	if err == redis.Nil {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: read an erasure: %w", ErrUnavailable, err)
	}
	e := new(erasing)
	if err := json.Unmarshal([]byte(text), e); err != nil {
		return nil, fmt.Errorf("%w: an erasure is noted as %q", ErrUnavailable, clip(text))
	}
	return e, nil
}

// tendErasing goes on with an erasure for a while, and says when to go on, in µs since
// 1970; 0: there is nothing more to do, or to tell.
func (s *Store) tendErasing(ctx context.Context, d *definitions, c claimed) (next int64, err error) {
	kind, member, _ := strings.Cut(strings.TrimPrefix(c.member, erasePrefix), " ")
	e, err := s.readErasing(ctx, kind, member)
	if err != nil || e == nil {
		return 0, err
	}
	if e.Ended > 0 {
		if goes := e.Ended + erasureKept.Microseconds(); goes > c.since {
			return goes, nil
		}
		ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
		defer cancel()
		if err := s.rdb.HDel(ctx, s.keys.erasures(), kind+fieldSep+member).Err(); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return 0, nil
	}
	stop := time.Now().Add(sweepSlice)
	for _, slot := range slices.Sorted(maps.Keys(d.rules)) {
		r, _ := d.ruleOf(slot)
		if r == nil || r.Kind != kind || slot < e.Slot {
			continue
		}
		if slot > e.Slot {
			e.Slot, e.After = slot, ""
		}
		for more := true; more; {
			page, err := s.listed(ctx, slot, e.After, sweepPage)
			if err != nil {
				return 0, err
			}
			if err := s.eraseFrom(ctx, e, r, member, page.Names); err != nil {
				return 0, err
			}
			if more = page.Next != ""; more {
				e.After = page.Next
			} else {
				e.Slot += " " // past it, and before any other
			}
			if err := s.noteErasing(ctx, kind, member, *e); err != nil {
				return 0, err
			}
			if time.Now().After(stop) {
				return c.since, nil
			}
		}
	}
	e.Ended = s.catalog.clock.now()
	return e.Ended + erasureKept.Microseconds(), s.noteErasing(ctx, kind, member, *e)
}

// eraseFrom takes a member from some instances.
func (s *Store) eraseFrom(ctx context.Context, e *erasing, r *rule, member string, instances []string) error {
	var removed atomic.Int64
	for some := range slices.Chunk(instances, sweepAtOnce) {
		err := atOnce(some, func(instance string) error {
			periods, err := s.noted(ctx, instance)
			for _, p := range periods {
				k := s.keys.board(instance, p.name)
				reply, err := s.callKeys(ctx, eraseScript, k.all(), []any{k.channel, instance, p.name, string(r.Ties), r.Order.sign(), r.shape, member})
				if err != nil {
					return err
				}
				if reply.text() == "shape" {
					return conflict("board", "%q holds data of another order, or of other periods, than it is defined with", instance)
				}
				removed.Add(reply.number())
				if reply.err != nil {
					return reply.err
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
	return nil
}
