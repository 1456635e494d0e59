package ranking

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"
)

// State names one exact state of a board-period. A board that was never written
// to has the epoch "" and is at seq 0.
type State struct {
	Epoch string // one life of the board
	Seq   int64  // changes in that life so far
}

// Bounds tell of the period that was read, by Redis's clock at that time.
type Bounds struct {
	Ends  time.Time     // when it closes, or closed; zero: never
	Final bool          // it has closed: nothing changes any more
	Left  time.Duration // until it closes, or the name that was read means another; 0: never
}

func (m meaning) bounds(now int64) Bounds {
	b := Bounds{Ends: m.rule.end(m.period)}
	b.Final = !b.Ends.IsZero() && b.Ends.UnixMicro() <= now
	if m.moves > now {
		b.Left = time.Duration(m.moves-now) * time.Microsecond
	}
	return b
}

// Page is a run of entries and the state of the board that they belong to.
type Page struct {
	State
	Bounds
	Period  string // "" on a board without periods
	Order   Order  // of the board
	Ties    Ties   // likewise
	Total   int64  // members on the board
	Start   int64  // position of the first entry, 1-based: its rank, but for ties Shared and Dense
	Entries []Entry
}

// Next is the cursor of the page after this one, or nil on the last page.
func (p Page) Next() *Cursor {
	n := len(p.Entries)
	if n == 0 || p.Start+int64(n) > p.Total {
		return nil
	}
	return &Cursor{Key: p.Entries[n-1].Key, Member: p.Entries[n-1].Member}
}

// Cursor is a position in a board's order: after this key and member, whether
// or not the member is still there. What moves above it shifts no page.
type Cursor struct {
	Key    Key
	Member string
}

// cursorVersion leads an encoded cursor, so that its form can change.
const cursorVersion = 1

// String encodes c for a URL.
func (c Cursor) String() string {
	b := make([]byte, 9, 9+len(c.Member))
	b[0] = cursorVersion
	binary.BigEndian.PutUint64(b[1:], math.Float64bits(float64(c.Key)))
	return base64.RawURLEncoding.EncodeToString(append(b, c.Member...))
}

// ParseCursor reads what Cursor.String wrote, or returns a FieldError.
func ParseCursor(s string) (Cursor, error) {
	bad := Invalid("cursor", "is not a cursor that this server gave")
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 10 || b[0] != cursorVersion {
		return Cursor{}, bad
	}
	key := math.Float64frombits(binary.BigEndian.Uint64(b[1:9]))
	c := Cursor{Key: Key(key), Member: string(b[9:])}
	// Written so that NaN is refused too.
	if !(math.Abs(key) <= MaxScore+1) || CheckMember(c.Member) != nil {
		return Cursor{}, bad
	}
	return c, nil
}

// MaxPage is the most entries that one call of Page or After returns.
const MaxPage = 2048

// Page reads up to limit entries (1 to MaxPage) from a 1-based rank on.
func (s *Store) Page(ctx context.Context, board string, fromRank int64, limit int) (Page, error) {
	if fromRank < 1 || fromRank > MaxScore {
		return Page{}, Invalid("from_rank", "want a rank from 1")
	}
	return s.page(ctx, board, limit, fromRank-1)
}

// After reads up to limit entries (1 to MaxPage) after a cursor.
func (s *Store) After(ctx context.Context, board string, after Cursor, limit int) (Page, error) {
	return s.page(ctx, board, limit, 0, formatKey(after.Key), after.Member)
}

// formatKey prints a key so that Redis reads the same number.
func formatKey(k Key) string { return fmt.Sprintf("%.17g", float64(k)) }

func (s *Store) page(ctx context.Context, board string, limit int, args ...any) (Page, error) {
	if limit < 1 || limit > MaxPage {
		return Page{}, Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", limit, MaxPage))
	}
	var p Page
	m, now, err := s.reading(ctx, board, func(m meaning) (now int64, err error) {
		p, now, err = s.readPage(ctx, m.keys, m.rule.Order, append([]any{limit}, args...))
		return now, err
	})
	if err != nil {
		return Page{}, err
	}
	p.Period, p.Bounds = m.period.name, m.bounds(now)
	return p, nil
}

// readPage is one call of page.lua; now is Redis's clock, in µs since 1970. The order
// is that of the data where there are any: o may be from before a change.
func (s *Store) readPage(ctx context.Context, k boardKeys, o Order, args []any) (p Page, now int64, err error) {
	r, err := s.call(ctx, pageScript, k, args)
	if err != nil {
		return p, 0, err
	}
	now = r.number()
	p = Page{State: State{Epoch: r.text(), Seq: r.number()}, Order: r.order(o), Total: r.number(), Start: r.number() + 1}
	p.Entries = r.entries(p.Start-1, p.Order)
	return p, now, r.err
}

// Info is what is known of a board as a whole.
type Info struct {
	Board
	State
	Bounds
	Period     string
	Total      int64     // members
	LastChange time.Time // zero when there was none
}

// Info reads a board's size and state.
func (s *Store) Info(ctx context.Context, board string) (Info, error) {
	var info Info
	m, now, err := s.reading(ctx, board, func(m meaning) (int64, error) {
		r, err := s.call(ctx, infoScript, m.keys, nil)
		if err != nil {
			return 0, err
		}
		now := r.number()
		info = Info{State: State{Epoch: r.text(), Seq: r.number()}, Total: r.number()}
		if changed := r.number(); changed > 0 {
			info.LastChange = time.UnixMicro(changed)
		}
		return now, r.err
	})
	if err != nil {
		return Info{}, err
	}
	info.Board, info.Period, info.Bounds = m.Board, m.period.name, m.bounds(now)
	return info, nil
}

// BoardState is where a board is, or why that could not be read. A board that there
// is not, or not any more, is at no state.
type BoardState struct {
	State
	Err error
}

// States reads where boards are, in one round trip to each Redis node that has
// some of them. The answer has the order of the question. Those that are built are
// built anew beside that where it is time: who watches a board asks each second.
func (s *Store) States(ctx context.Context, boards []string) []BoardState {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	states := make([]BoardState, len(boards))
	pipe := s.rdb.Pipeline()
	cmds := make([]*redis.SliceCmd, len(boards))
	meanings := make([]meaning, len(boards))
	d, err := s.catalog.get(ctx)
	now := s.catalog.clock.now()
	for i, b := range boards {
		if states[i].Err = err; err != nil {
			continue
		}
		m, err := s.stateOf(d, b, now)
		if states[i].Err = err; m.rule != nil {
			meanings[i] = m
			cmds[i] = pipe.HMGet(ctx, m.keys.meta, "epoch", "seq", builtField)
		}
	}
	pipe.Exec(ctx) // each command has its own error
	for i, c := range cmds {
		if c == nil {
			continue
		}
		values, err := c.Result()
		if err != nil {
			states[i].Err = fmt.Errorf("read board %q: %w: %w", boards[i], ErrUnavailable, err)
			continue
		}
		states[i].State, states[i].Err = parseState(&reply{rest: values})
		if m := meanings[i]; m.rule.isBuilt() && len(values) == 3 {
			if built, err := parseBuilt(&reply{rest: values[2:]}); err == nil {
				s.refreshWatched(m, built)
			}
		}
	}
	return states
}

// stateOf finds the board whose state is asked for; without a rule where there is none.
func (s *Store) stateOf(d *definitions, board string, now int64) (meaning, error) {
	n, err := parseName(board)
	if err != nil {
		return meaning{}, err
	}
	m, err := d.meaning(n, now)
	switch {
	case err == nil:
		m.keys = s.keys.board(m.Instance, m.period.name)
		return m, nil
	case errors.Is(err, ErrUnknownBoard), errors.Is(err, ErrUnknownPeriod):
		return meaning{}, nil
	default:
		return meaning{}, err
	}
}

// parseState reads epoch and seq as HMGET gives them: nil for a board that was
// never written to.
func parseState(r *reply) (State, error) {
	if len(r.rest) > 0 && r.rest[0] == nil {
		return State{}, nil
	}
	return State{Epoch: r.text(), Seq: r.number()}, r.err
}

// call runs a reading script within the call timeout.
func (s *Store) call(ctx context.Context, sc script, k boardKeys, args []any) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	answer, err := sc.run(ctx, s.rdb, []string{k.members, k.meta, k.data}, args)
	return &reply{rest: answer}, err
}
