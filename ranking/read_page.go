package ranking

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/redisconn"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/sortkey"
)

// State names one exact state of a board-period. A board that was never written to has the
// epoch "" and seq 0.
type State struct {
	Epoch string // one life of the board
	Seq   int64  // number of changes in that life
}

// takeState takes the state of the board-period from the answer of a reading script.
func takeState(r *script.Reply) State { return State{Epoch: r.Text(), Seq: r.Number()} }

// Bounds describe the end of the period that was read, by Redis's clock at that time.
type Bounds struct {
	Ends  time.Time     // when it closes or closed; zero: never
	Final bool          // it has closed, and nothing changes any more; a frozen period is not final before all is public
	Left  time.Duration // time until it closes or freezes, or until the name means another period; 0: never

	Frozen *Frozen // nil: updates change the public board
}

func (m resolved) bounds(at readTimes) Bounds {
	now := at.now
	b := Bounds{Ends: m.compiled.PeriodEnd(m.period), Frozen: at.frozen.of(m, now)}
	b.Final = !b.Ends.IsZero() && b.Ends.UnixMicro() <= now && b.Frozen == nil
	for _, changes := range []int64{m.changesAt, at.frozen.changesAt(m, now)} {
		if left := time.Duration(changes-now) * time.Microsecond; left > 0 && (b.Left == 0 || left < b.Left) {
			b.Left = left
		}
	}
	return b
}

// Head is what each answer of a read says about the board-period.
type Head struct {
	State
	Bounds
	Period  string             // "" on a board without periods
	Kind    string             // kind of the members, as for their profiles
	Columns definition.Columns // of the scores; nil on a board without columns
	Total   int64              // number of members on the board
	Shards  States             // of a board with shards, the state of each; State is that of them all. nil: the board has none
}

// States returns the states of the shards; of a board without shards its own state alone.
func (h *Head) States() States {
	if h.Shards == nil {
		return States{h.State}
	}
	return h.Shards
}

// describe adds what the answer of a script lacks: the meaning of the name, at the time of the read.
func (h *Head) describe(m resolved, at readTimes) {
	h.Period, h.Kind, h.Columns, h.Bounds = m.period.Name, m.compiled.Kind, m.compiled.Columns, m.bounds(at)
}

// Page is a run of entries and the state of the board that they belong to.
type Page struct {
	Head
	Order   definition.Order // of the board
	Ties    definition.Ties  // of the board
	Before  int64            // number of members before those within the bounds of the score
	Count   int64            // number of members within those bounds: Total without bounds
	Start   int64            // 1-based position of the first entry: equal to its rank, except with ties Shared and Dense
	Entries []Entry

	tiers int64 // with ties Dense: number of distinct scores among the members before
}

// Next is the cursor of the next page, or nil on the last page.
func (p Page) Next() *Cursor {
	n := len(p.Entries)
	if n == 0 || p.Start+int64(n) > p.Before+p.Count {
		return nil
	}
	return &Cursor{Key: p.Entries[n-1].Key, Member: p.Entries[n-1].Member}
}

// Cursor is a position in a board's order: after this key and member, even if the member
// has left. Changes above the cursor do not shift the next page.
type Cursor struct {
	Key    sortkey.Key
	Member string
}

// cursorVersion is the first byte of an encoded cursor, so that the form can change.
const cursorVersion = 1

// errCursor is the error of a text that is no cursor.
var errCursor = definition.Invalid("cursor", "is not a cursor that this server gave")

// encodeCursor encodes a position, a number and a text, for a URL.
func encodeCursor(n uint64, text string) string {
	b := binary.BigEndian.AppendUint64([]byte{cursorVersion}, n)
	return base64.RawURLEncoding.EncodeToString(append(b, text...))
}

// decodeCursor decodes the result of encodeCursor.
func decodeCursor(s string) (n uint64, text string, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 9 || b[0] != cursorVersion {
		return 0, "", errCursor
	}
	return binary.BigEndian.Uint64(b[1:9]), string(b[9:]), nil
}

// String encodes c for a URL.
func (c Cursor) String() string { return encodeCursor(math.Float64bits(float64(c.Key)), c.Member) }

// ParseCursor decodes the result of Cursor.String, or returns a FieldError.
func ParseCursor(s string) (Cursor, error) {
	bits, member, err := decodeCursor(s)
	key := math.Float64frombits(bits)
	// This form of the condition refuses NaN too.
	if err != nil || !(math.Abs(key) <= definition.MaxScore+1) || definition.CheckMember(member) != nil {
		return Cursor{}, errCursor
	}
	return Cursor{Key: sortkey.Key(key), Member: member}, nil
}

// MaxPage is the most entries that one call of Read returns.
const MaxPage = 2048

// Query says which entries of a board to read. A page at any rank costs no more than the
// first.
type Query struct {
	// FromRank is the rank at which the page begins. Where no entry has it, the page begins
	// at the next rank that an entry has. 1 to definition.MaxScore; default 1.
	FromRank int64
	// After lets the page begin after a cursor, and FromRank has no effect then. Default
	// none.
	After *Cursor
	// MinScore and MaxScore limit the page to the scores between them, both included. Each
	// is within ±definition.MaxScore. Default no limit.
	MinScore, MaxScore *int64
	// MinColumns and MaxColumns take the place of MinScore and MaxScore on a board with columns: MinColumns ranks lower. Columns
	// that are left out are 0. Default nil: no limit.
	MinColumns, MaxColumns map[string]int64
	// Limit is the most entries of the page, 0 to MaxPage. With 0, the default, the page
	// only counts.
	Limit int

	atOnce bool // a large page does not wait for its turn
	exact  bool // MinScore or MinColumns is the score of At
}

// Page reads up to limit entries (1 to MaxPage) from a 1-based rank on. Where no entry has
// that rank, it begins at the next rank that an entry has. It returns a FieldError for an
// invalid rank or limit. Page never waits for its turn, as Read may: a view needs it at once.
func (s *Store) Page(ctx context.Context, board string, fromRank int64, limit int) (Page, error) {
	if fromRank < 1 {
		return Page{}, errFromRank
	}
	if limit < 1 {
		return Page{}, badLimit(1, limit)
	}
	return s.read(ctx, board, Query{FromRank: fromRank, Limit: limit, atOnce: true})
}

var errFromRank = definition.Invalid("from_rank", "want a rank of 1 or more")

func badLimit(least, limit int) error {
	return definition.Invalid("limit", fmt.Sprintf("is %d; want %d to %d", limit, least, MaxPage))
}

// Read reads a page of a board. It returns a FieldError for an invalid query. A page of more
// than PacedEntries entries waits for its turn, up to Config.CallTimeout: the callers of WithCaller and the
// exports read one such page at a time, with pauses.
func (s *Store) Read(ctx context.Context, board string, q Query) (Page, error) {
	if q.Limit > PacedEntries {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.cfg.CallTimeout)
		defer cancel()
	}
	return s.read(ctx, board, q)
}

// read is Read without a limit to the time for which it waits.
func (s *Store) read(ctx context.Context, board string, q Query) (Page, error) {
	if err := q.check(); err != nil {
		return Page{}, err
	}
	var p Page
	_, err := s.readResolved(ctx, board, &p.Head, func(m resolved) (at readTimes, err error) {
		within, err := q.packed(m.compiled.Columns)
		if err != nil {
			return at, err
		}
		p, at, err = s.readPage(ctx, m, within)
		return at, err
	})
	if err != nil {
		return Page{}, err
	}
	return p, nil
}

func (q *Query) check() error {
	q.FromRank = cmp.Or(q.FromRank, 1)
	switch {
	case q.Limit < 0 || q.Limit > MaxPage:
		return badLimit(0, q.Limit)
	case q.FromRank < 1 || q.FromRank > definition.MaxScore:
		return errFromRank
	}
	return definition.CheckBounds("min_score", q.MinScore, "max_score", q.MaxScore)
}

// packed is q with MinScore and MaxScore in the place of MinColumns and MaxColumns.
func (q Query) packed(columns definition.Columns) (Query, error) {
	for _, b := range []struct {
		score  **int64
		tuple  map[string]int64
		suffix string
	}{{&q.MinScore, q.MinColumns, "min_"}, {&q.MaxScore, q.MaxColumns, "max_"}} {
		if q.exact {
			b.suffix = ""
		}
		score, err := columns.Bound(b.suffix, *b.score, b.tuple)
		if err != nil {
			return q, err
		}
		*b.score = score
	}
	if q.exact {
		q.MaxScore = q.MinScore
	} else if columns != nil && q.MinScore != nil && q.MaxScore != nil && *q.MinScore > *q.MaxScore {
		return q, definition.Invalid("max_columns", "ranks lower than min_columns")
	}
	return q, nil
}

// args are the arguments of page.lua.
func (q Query) args(o definition.Order) []any {
	least, most := q.MinScore, q.MaxScore
	if o == definition.Desc {
		least, most = most, least
	}
	low, high := "-inf", "+inf"
	if least != nil {
		low = strconv.FormatInt(o.Sign()**least, 10)
	}
	if most != nil {
		high = strconv.FormatInt(o.Sign()**most+1, 10)
	}
	args := []any{q.Limit, low, high, q.FromRank}
	if q.After != nil {
		args = append(args, sortkey.Format(q.After.Key), q.After.Member)
	}
	return args
}

// readPage reads a page. The page has the order and ties of the data, if there are data: the definition
// may be from before a change.
func (s *Store) readPage(ctx context.Context, m resolved, q Query) (p Page, at readTimes, err error) {
	order := m.compiled.Order
	for {
		// A turn holds the call alone: others need not wait until the result of this board is built.
		err = s.inTurnIf(ctx, q.Limit > PacedEntries && !q.atOnce, func() (err error) {
			if m.shards != nil {
				p, at, err = s.readShardedPage(ctx, m, q, order)
			} else {
				p, at, err = takePage(s.callRead(ctx, script.Page, m.keys, m.compiled.Board, q.args(order)), m.compiled.Board)
			}
			return err
		})
		if err != nil || p.Order == order {
			return p, at, err
		}
		order = p.Order // the bounds of the score are on the other side
	}
}

// takePage takes the answer of page.lua.
func takePage(r *script.Reply, d definition.Board) (p Page, at readTimes, err error) {
	at = takeReadTimes(r)
	p = Page{Head: Head{State: takeState(r)}}
	p.Order, p.Ties = takeShape(r, d)
	p.Total, p.Before, p.tiers, p.Count = r.Number(), r.Number(), r.Number(), r.Number()
	p.Start = r.Number() + 1
	rank := r.Number()
	p.Entries, err = takeEntries(r.List(), r.List(), p.Start-1, rank, p.Order, p.Ties)
	return p, at, err
}

// ScorePosition describes a score: the rank that it would give now, and the members that
// have it.
type ScorePosition struct {
	Score int64 // that of the question
	Rank  int64 // with ties definition.ByMember the best possible rank: before all members with the score
	Page        // of the members with the score
}

// At reads the rank that a score would give now to a member that is not on the board yet.
// It also reads up to limit of the members with that score (0 to MaxPage), after a cursor;
// nil for the first. It returns a FieldError for an invalid score or limit.
func (s *Store) At(ctx context.Context, board string, score int64, after *Cursor, limit int) (ScorePosition, error) {
	if err := definition.CheckBound("score", &score); err != nil {
		return ScorePosition{}, err
	}
	return s.at(ctx, board, Query{MinScore: &score, After: after, Limit: limit})
}

// AtColumns is At for a score of a board with columns. Columns that are left out are 0.
func (s *Store) AtColumns(ctx context.Context, board string, columns map[string]int64, after *Cursor, limit int) (ScorePosition, error) {
	return s.at(ctx, board, Query{MinColumns: columns, After: after, Limit: limit})
}

func (s *Store) at(ctx context.Context, board string, q Query) (ScorePosition, error) {
	q.exact = true
	p, err := s.Read(ctx, board, q)
	if err != nil {
		return ScorePosition{}, err
	}
	at := ScorePosition{Page: p}
	score, err := p.Columns.Bound("", q.MinScore, q.MinColumns)
	if err != nil {
		return ScorePosition{}, err
	}
	at.Score = *score
	switch p.Ties {
	case definition.First:
		at.Rank = p.Before + p.Count + 1
	case definition.Dense:
		at.Rank = p.tiers + 1
	default:
		at.Rank = p.Before + 1
	}
	return at, nil
}

// BoardState is the state of a board, or the error of reading it. The state is zero for a
// board that does not exist, or no longer exists.
type BoardState struct {
	State
	Shards  States             // as in Head
	Kind    string             // kind of the members, as in Page; "" where it is not known
	Columns definition.Columns // as in Head; nil also where they are not known
	Err     error
}

// States reads the states of boards, in one round trip to each Redis node that has some of
// them. The answer has the order of the question. States also starts the builds of results
// that are due, and the sweeps of live boards with overdue events. So a node that calls it
// each second for its watched boards keeps them up to date.
func (s *Store) States(ctx context.Context, boards []string) []BoardState {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	states := make([]BoardState, len(boards))
	pipe := s.rdb.Pipeline()
	cmds := make([]*redis.SliceCmd, 0, len(boards)) // of each board that exists, and each shard of it
	meanings := make([]resolved, len(boards))
	oldest := make([]*redis.ZSliceCmd, len(boards))
	d, err := s.catalog.get(ctx)
	now := s.catalog.clock.now()
	for i, b := range boards {
		if states[i].Err = err; err != nil {
			continue
		}
		m, err := s.stateOf(d, b, now)
		if states[i].Err = err; m.compiled != nil {
			meanings[i], states[i].Kind, states[i].Columns = m, m.compiled.Kind, m.compiled.Columns
			for _, k := range m.eachShard() {
				cmds = append(cmds, pipe.HMGet(ctx, k.Meta, "epoch", "seq", builtField))
			}
			if m.compiled.IsLive() {
				oldest[i] = pipe.ZRangeWithScores(ctx, m.keys.Window[0], 0, 0)
			}
		}
	}
	redisconn.ExecEach(ctx, pipe)
	for i := range states {
		m := &meanings[i]
		if m.compiled == nil {
			continue
		}
		n := max(1, len(m.shards))
		var at State
		var built int64
		shards := make(States, 0, len(m.shards))
		for _, c := range cmds[:n] {
			r := replyOf(c)
			at, built = State{Epoch: r.Optional(), Seq: r.OptionalNumber()}, r.OptionalNumber()
			if m.shards != nil {
				shards = append(shards, at)
			}
			if r.Err != nil {
				states[i].Err = fmt.Errorf("read board %q: %w", boards[i], r.Err)
				break
			}
		}
		if cmds = cmds[n:]; states[i].Err != nil {
			continue
		}
		if states[i].State = at; m.shards != nil {
			states[i].State, states[i].Shards = shards.State(), shards
		}
		if m.compiled.IsBuilt() {
			s.refreshWatched(*m, built)
		}
		if oldest[i] == nil {
			continue
		}
		if first := oldest[i].Val(); len(first) > 0 && isOverdue(m.compiled, int64(first[0].Score), s.catalog.clock.now()) {
			s.startSweep(m.Instance)
		}
	}
	return states
}

// stateOf resolves a board for States. The result has no definition for a board that does
// not exist.
func (s *Store) stateOf(d *definitions, board string, now int64) (resolved, error) {
	n, err := definition.ParseName(board)
	if err != nil {
		return resolved{}, err
	}
	m, err := d.resolve(n, now)
	switch {
	case err == nil:
		s.setKeys(&m)
		return m, nil
	case errors.Is(err, definition.ErrUnknownBoard), errors.Is(err, definition.ErrUnknownPeriod):
		return resolved{}, nil
	default:
		return resolved{}, err
	}
}

// callRead runs a reading script.
func (s *Store) callRead(ctx context.Context, sc script.Script, k keyspace.BoardKeys, d definition.Board, args []any) *script.Reply {
	return sc.Run(ctx, s.rdb, readKeys(k, d), args)
}

// readKeys returns the KEYS of a reading script.
func readKeys(k keyspace.BoardKeys, d definition.Board) []string {
	keys := []string{k.Members, k.Meta, k.Data, k.Distinct}
	if d.IsLive() {
		keys = append(keys, k.Window[0])
	}
	return keys
}

// Entry is one member of a board, with its rank and score.
type Entry struct {
	Rank   int64 // 1-based, by the ties rule of the board
	Member string
	Score  int64       // within ±definition.MaxScore
	Key    sortkey.Key // position in the sorted set; see Cursor
	Data   string      // JSON from an update; "" for none
}
