package ranking

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// A node that does not know yet that a board's order has changed, as it might while
// there was nothing on it, writes and reads by the new one once there is.
func TestWriteByAnOlderOrder(t *testing.T) {
	onTwoNodes(t, nil, func(t *testing.T, a, b *Store) {
		for _, c := range []struct{ was, is definition.Board }{
			{definition.Board{Name: "order"}, definition.Board{Name: "order", Order: definition.Asc}},
			{definition.Board{Name: "ties"}, definition.Board{Name: "ties", Ties: definition.ByMember}},
			{definition.Board{Name: "day", Period: "day"}, definition.Board{Name: "day", Period: "day", Timezone: "Asia/Shanghai"}},
			{definition.Board{Name: "plain"}, definition.Board{Name: "plain", Period: "day"}},
		} {
			board := c.was.Name
			define(t, a, c.was)
			must(b.Page(t.Context(), board, 1, 1))(t)
			define(t, a, c.is)
			stall(b)
			apply(t, a, board, definition.Update{Member: "m", Score: 3})
			if c.is.Period == "" { // else b reads by other names until it looks again
				page := must(b.Page(t.Context(), board, 1, 1))(t)
				require.EqualValues(t, 3, page.Entries[0].Score, board)
				require.Equal(t, a.catalog.latest.Load().boards[board+"/0"].Order, page.Order)
				require.EqualValues(t, 3, score(t, b, board, "m"), board)
			}
			o := apply(t, b, board, definition.Update{Member: "m", Score: 4})
			want := Answered(Result{Previous: &Standing{Score: 3, Rank: 1}})
			require.Equal(t, want.Previous, Answered(o.Result).Previous, board)
			require.EqualValues(t, 7, score(t, a, board, "m"), board)
			require.EqualValues(t, 7, score(t, b, board, "m"), board)
		}
	})
}

// The refusal of a change names the request that deletes the board, with the braces of a family as a URL takes them.
func TestRefusalNamesTheDeletion(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	for _, c := range []struct{ name, board, want string }{
		{"points", "points", "(DELETE /v1/boards/points)"},
		{"fans:{star}", "fans:s17", "(DELETE /v1/boards/fans:%7Bstar%7D)"},
	} {
		define(t, s, definition.Board{Name: c.name})
		apply(t, s, c.board, definition.Update{Member: "m", Score: 3})
		err := s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: c.name, Order: definition.Asc}}})
		require.ErrorIs(t, err, definition.ErrConflict)
		require.ErrorContains(t, err, c.want)
	}
}

// reordering is a board whose order two nodes change and which both write to, at any
// time and however stalled.
type reordering struct {
	t      *rapid.T
	nodes  []*Store
	set    func(time.Time)
	now    time.Time
	listed time.Time // when last somebody may have listed the board
	held   []func()  // writes that hang in the middle
}

// known is what a node would write by now.
func (r *reordering) known(s *Store) (*definitions, *definition.Compiled) {
	d := must(s.catalog.get(context.Background()))(r.t)
	return d, d.boards["b/0"]
}

func (r *reordering) write(s *Store, d *definitions, rule *definition.Compiled, listed int64) {
	batch := []updateItem{{write{Update: definition.Update{Member: "m", Score: 1}}, nil, new(Outcome)}}
	applyOnce(r.t, s, applyArgs{rule: rule, ids: definition.LeastIDSpan, hidden: d.hidden, span: rule.Span(r.now.UnixMicro()),
		leased: d.readAt + lease.Microseconds(), listed: listed}, NameOf("b", "m", rule.Shards), batch)
}

func (r *reordering) step(s *Store) {
	ctx := context.Background()
	switch rapid.SampledFrom([]string{"write", "write", "flip", "flip", "hold", "hold new", "go on", "go on", "stall", "look",
		"time", "drop", "unlist"}).Draw(r.t, "step") {
	case "write":
		r.listed = r.now
		must(s.Apply(ctx, "b", []definition.Update{{Member: "m", Score: 1}}))(r.t)
	case "flip":
		d := must(s.catalog.readFresh(ctx))(r.t)
		def := definition.Board{Name: "b", Order: definition.Asc}
		if d.boards["b/0"].Order == definition.Asc {
			def.Order = definition.Desc
		}
		if err := s.Define(ctx, definition.Set{Boards: []definition.Board{def}}); !errors.Is(err, definition.ErrConflict) {
			require.NoError(r.t, err)
		}
	case "hold": // before the call that writes
		d, rule := r.known(s)
		r.held = append(r.held, func() { r.write(s, d, rule, 0) })
	case "hold new": // after the board was listed
		d, rule := r.known(s)
		r.listed = r.now
		listed := must(s.registerInstance(ctx, d, "b", rule, 0, listedPublic))(r.t)
		r.held = append(r.held, func() {
			if rapid.Bool().Draw(r.t, "looks again") {
				d, rule = r.known(s)
			}
			r.write(s, d, rule, listed)
		})
	case "go on":
		if len(r.held) > 0 {
			i := rapid.IntRange(0, len(r.held)-1).Draw(r.t, "held")
			r.held[i]()
		}
	case "stall":
		stall(s)
	case "look":
		must(s.catalog.readFresh(ctx))(r.t)
	case "time":
		steps := []time.Duration{time.Microsecond, time.Second, lease, listedFor, 2 * time.Minute}
		r.now = r.now.Add(rapid.SampledFrom(steps).Draw(r.t, "by"))
		r.set(r.now)
	case "drop":
		k := keysOf(s, "b", "", "m")
		require.NoError(r.t, s.rdb.Del(ctx, k.Members, k.Meta, k.Data, k.Periods).Err())
	case "unlist": // as is promised: where there is nothing, and nobody may create anything
		there := must(s.rdb.Exists(ctx, keysOf(s, "b", "", "m").Meta).Result())(r.t)
		if there == 0 && r.now.After(r.listed.Add(listedFor)) {
			require.NoError(r.t, s.rdb.ZRem(ctx, s.keys.Instances("b/0"), "b").Err())
		}
	}
}

// holds checks that the board has keys of the one order that it is defined with, and is
// listed if it has any.
func (r *reordering) holds() {
	ctx := context.Background()
	d := must(r.nodes[0].catalog.readFresh(ctx))(r.t)
	zs := must(r.nodes[0].rdb.ZRangeWithScores(ctx, keysOf(r.nodes[0], "b", "", "m").Members, 0, -1).Result())(r.t)
	if len(zs) > 0 {
		_, err := r.nodes[0].rdb.ZScore(ctx, r.nodes[0].keys.Instances("b/0"), "b").Result()
		require.NoError(r.t, err, "there is something of a board that is not listed")
	}
	for _, z := range zs {
		require.Equal(r.t, d.boards["b/0"].Order == definition.Asc, z.Score > 0, "the key %v on a board of order %s", z.Score,
			d.boards["b/0"].Order)
	}
	for _, s := range r.nodes {
		latest := s.catalog.latest.Load()
		page := must(s.Page(ctx, "b", 1, 1))(r.t)
		if len(zs) > 0 {
			require.Positive(r.t, page.Entries[0].Score)
			require.Equal(r.t, d.boards["b/0"].Order, page.Order)
		}
		s.catalog.latest.Store(latest) // as it was: this must not wake a node
	}
}

// No board-period ever holds keys of the order that the board had before, whoever
// writes by a copy of whatever age, and wherever it hangs meanwhile.
func TestOrdersNeverMix(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	a, b := newNode(t, url), newNode(t, url)
	proptest.Check(t, 40, func(rt *rapid.T) {
		require.NoError(rt, a.rdb.FlushAll(t.Context()).Err())
		r := &reordering{t: rt, nodes: []*Store{New(a.rdb, patient), New(b.rdb, patient)}, set: set, now: time.Now().Truncate(time.Microsecond)}
		set(r.now)
		require.NoError(rt, r.nodes[0].Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b"}}}))
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			must(r.nodes[1].catalog.get(t.Context()))(rt)
			r.step(r.nodes[rapid.IntRange(0, 1).Draw(rt, "node")])
			r.holds()
		}
	})
}
