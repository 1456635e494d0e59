package ranking

import (
	"context"
	"encoding/base64"
	"encoding/binary"
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

// Page is a run of entries and the state of the board that they belong to.
type Page struct {
	State
	Period  string // "" on a board without periods
	Total   int64  // members on the board
	Start   int64  // rank of the first entry, 1-based
	Entries []Entry
}

// Next is the cursor of the page after this one, or nil on the last page.
func (p Page) Next() *Cursor {
	n := len(p.Entries)
	if n == 0 || p.Entries[n-1].Rank >= p.Total {
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
	d, k, err := s.reading(board)
	if err != nil {
		return Page{}, err
	}
	r, err := s.call(ctx, board, pageScript, []string{k.members, k.meta}, append([]any{limit}, args...))
	if err != nil {
		return Page{}, err
	}
	p := Page{Period: forever.name, State: State{Epoch: r.text(), Seq: r.number()}, Total: r.number(), Start: r.number() + 1}
	rows := r.list()
	p.Entries = rows.entries(p.Start-1, d.Order)
	return p, rows.err
}

// Info is what is known of a board as a whole.
type Info struct {
	Definition
	State
	Total      int64     // members
	LastChange time.Time // zero when there was none
}

// Info reads a board's size and state.
func (s *Store) Info(ctx context.Context, board string) (Info, error) {
	d, k, err := s.reading(board)
	if err != nil {
		return Info{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	pipe := s.rdb.Pipeline()
	total := pipe.ZCard(ctx, k.members)
	meta := pipe.HMGet(ctx, k.meta, "epoch", "seq", "clock")
	if _, err := pipe.Exec(ctx); err != nil {
		return Info{}, fmt.Errorf("read board %q: %w: %w", board, ErrUnavailable, err)
	}
	info := Info{Definition: d, Total: total.Val()}
	r := &reply{rest: meta.Val()}
	if info.State, err = parseState(r); err == nil && info.Epoch != "" {
		info.LastChange = time.UnixMicro(r.number())
		err = r.err
	}
	return info, err
}

// BoardState is where a board is, or why that could not be read.
type BoardState struct {
	State
	Err error
}

// States reads where boards are, in one round trip to each Redis node that has
// some of them. The answer has the order of the question.
func (s *Store) States(ctx context.Context, boards []string) []BoardState {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	pipe := s.rdb.Pipeline()
	cmds := make([]*redis.SliceCmd, len(boards))
	for i, b := range boards {
		cmds[i] = pipe.HMGet(ctx, s.keys.board(b, forever).meta, "epoch", "seq")
	}
	pipe.Exec(ctx) // each command has its own error
	states := make([]BoardState, len(boards))
	for i, c := range cmds {
		values, err := c.Result()
		if err != nil {
			states[i].Err = fmt.Errorf("read board %q: %w: %w", boards[i], ErrUnavailable, err)
			continue
		}
		states[i].State, states[i].Err = parseState(&reply{rest: values})
	}
	return states
}

// parseState reads epoch and seq as HMGET gives them: nil for a board that was
// never written to.
func parseState(r *reply) (State, error) {
	if len(r.rest) > 0 && r.rest[0] == nil {
		return State{}, nil
	}
	return State{Epoch: r.text(), Seq: r.number()}, r.err
}

// reading gives what a read of a board needs.
func (s *Store) reading(board string) (Definition, boardKeys, error) {
	d, err := s.Definition(board)
	return d, s.keys.board(board, forever), err
}

// call runs a reading script within the call timeout.
func (s *Store) call(ctx context.Context, board string, sc script, keys []string, args []any) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	answer, err := sc.run(ctx, s.rdb, keys, args)
	if err != nil {
		return nil, fmt.Errorf("read board %q: %w", board, err)
	}
	return &reply{rest: answer}, nil
}
