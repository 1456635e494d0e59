package ranking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// freezeHistory is what happens to two boards alike, of which one freezes now and then.
type freezeHistory struct {
	t            *rapid.T
	w            *world
	frozen, open string // the boards
	event        string // updates both
	hasFrozen    bool
	hidden       bool // a member is or was hidden
}

func (h *freezeHistory) node() *Store {
	return h.w.stores[rapid.IntRange(0, len(h.w.stores)-1).Draw(h.t, "node")]
}

func (h *freezeHistory) member() string {
	return rapid.SampledFrom([]string{"a", "b", "c", "d", "é"}).Draw(h.t, "member")
}

// public is all that readers see of the board that freezes.
func (h *freezeHistory) public() []any {
	ctx, s := h.w.t.Context(), h.w.stores[0]
	family := strings.Split(h.frozen, ":")[0]
	page := must(s.Page(ctx, h.frozen, 1, 100))(h.t)
	boards := must(s.MemberBoards(ctx, "member", "a", MemberBoardsQuery{Limit: 10, Only: &BoardFilter{
		Spans: []definition.NameSpan{definition.SpanOfPrefix(h.frozen)}, Has: func(b string) bool { return b == h.frozen }}}))(h.t)
	around, err := s.Around(ctx, h.frozen, "b", 2)
	info := must(s.Info(ctx, h.frozen))(h.t)
	info.About = About{} // it has the definition alone
	return []any{page, info, must(s.Periods(ctx, h.frozen))(h.t), around, fmt.Sprint(err), boards,
		must(s.FindInstances(ctx, family+":{x}", InstancesQuery{Prefix: h.frozen, Limit: 10}))(h.t)}
}

// write does something to both boards. While one is frozen, its public state stays.
func (h *freezeHistory) write(do func(board string) (Outcome, error)) {
	var before []any
	if h.hasFrozen {
		before = h.public()
	}
	got, err := do(h.frozen)
	want, wantErr := do(h.open)
	if h.hasFrozen {
		require.Equal(h.t, before, h.public())
	}
	require.Equal(h.t, fmt.Sprint(kindOf(wantErr)), fmt.Sprint(kindOf(err)))
	require.Equal(h.t, fmt.Sprint(kindOf(want.Err)), fmt.Sprint(kindOf(got.Err)))
	require.Equal(h.t, want.Result.Duplicate, got.Result.Duplicate)
	if h.hasFrozen {
		if err == nil {
			require.True(h.t, got.Result.Frozen || got.Err != nil)
		}
		require.Nil(h.t, got.Result.Current)
		require.Nil(h.t, got.Result.Previous)
	} else if !want.Result.Duplicate {
		require.Equal(h.t, want, got)
	}
}

// kindOf is the kind of an error.
func kindOf(err error) error {
	for _, kind := range []error{definition.ErrOutOfRange, definition.ErrInvalid, definition.ErrIDMismatch, definition.ErrUnknownMember,
		definition.ErrConflict, definition.ErrNotOpen} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

func (h *freezeHistory) update() {
	u := definition.Update{Member: h.member(), Score: rapid.Int64Range(-3, 4).Draw(h.t, "score"),
		Op:   rapid.SampledFrom([]definition.Mode{"", "", definition.Sum, definition.Best, definition.Last}).Draw(h.t, "op"),
		If:   rapid.SampledFrom([]definition.Condition{"", "", "", definition.Exists, definition.Absent}).Draw(h.t, "if"),
		Data: rapid.SampledFrom([]string{"", "", `{"n":1}`, `2`, "null"}).Draw(h.t, "data"),
	}
	if rapid.Bool().Draw(h.t, "has an id") {
		u.ID = fmt.Sprint("id", rapid.IntRange(0, 5).Draw(h.t, "id"))
	}
	s := h.node()
	h.write(func(board string) (Outcome, error) {
		o, err := s.Apply(h.w.t.Context(), board, []definition.Update{u})
		if err != nil {
			return Outcome{}, err
		}
		return o[0], nil
	})
}

func (h *freezeHistory) act() {
	ctx, s, member := h.w.t.Context(), h.node(), ""
	switch act := rapid.IntRange(0, 18).Draw(h.t, "act"); act {
	case 0, 1, 2, 3, 4:
		h.update()
	case 5:
		member = h.member()
		h.write(func(board string) (Outcome, error) {
			r, err := s.Remove(ctx, board, member)
			return Outcome{Result: r}, err
		})
	case 6:
		member = h.member()
		score := rapid.Int64Range(-3, 4).Draw(h.t, "score")
		h.write(func(board string) (Outcome, error) {
			r, err := s.SetScore(ctx, board, member, score, Moderator{Reason: "r"})
			return Outcome{Result: r}, err
		})
	case 7:
		member = h.member()
		score := rapid.Int64Range(-3, 4).Draw(h.t, "score")
		h.write(func(board string) (Outcome, error) {
			rows := []Row{{Line: 1, Member: member, Score: score}, {Line: 2, Member: "b", Score: 1}}
			_, err := s.Import(ctx, board, func() (Row, error) {
				if len(rows) == 0 {
					return Row{}, io.EOF
				}
				row := rows[0]
				rows = rows[1:]
				return row, nil
			})
			return Outcome{Result: Result{Frozen: h.hasFrozen && board == h.frozen}}, err
		})
	case 8, 9:
		var before []any
		if h.hasFrozen {
			before = h.public()
		}
		x := strings.Split(h.open, ":")[1]
		id := fmt.Sprint("e", rapid.IntRange(0, 3).Draw(h.t, "event"), x)
		_, err := s.ApplyEvents(ctx, h.event, []EventCall{occurs(id, "x", x, "m", h.member(), "n", 2)})
		require.NoError(h.t, err)
		if rapid.Bool().Draw(h.t, "take back") {
			s.TakeBack(ctx, h.event, id, nil, Moderator{}) // it may be another one
		}
		if h.hasFrozen {
			require.Equal(h.t, before, h.public())
		}
	case 10:
		member, h.hidden = h.member(), true
		require.NoError(h.t, s.Hide(ctx, h.frozen, member, Moderator{}))
		require.NoError(h.t, s.Hide(ctx, h.open, member, Moderator{}))
	case 11:
		member = h.member()
		require.NoError(h.t, s.Show(ctx, h.frozen, member, Moderator{}))
		require.NoError(h.t, s.Show(ctx, h.open, member, Moderator{}))
	case 12:
		if rapid.IntRange(0, 2).Draw(h.t, "erase") > 0 {
			return
		}
		member = h.member()
		must(s.Erase(ctx, "member", member, Moderator{}))(h.t)
		for err := fmt.Errorf("it has begun"); err != nil; err = h.w.erased("member", member) {
			h.w.pass(time.Second)
			require.NoError(h.t, h.w.tryTend())
		}
	case 13, 14:
		head := must(s.Freeze(ctx, h.frozen, Moderator{Reason: "r"}))(h.t)
		require.NotNil(h.t, head.Frozen)
		h.hasFrozen = true
	case 15:
		if !h.hasFrozen {
			return
		}
		page := must(s.Pending(ctx, h.frozen, PendingQuery{Limit: 3}))(h.t)
		var members []string
		for _, e := range page.Entries {
			members = append(members, e.Member)
		}
		if len(members) == 0 {
			return
		}
		r := must(s.Reveal(ctx, h.frozen, members, Moderator{}))(h.t)
		require.EqualValues(h.t, len(members), r.Count)
		last := int64(0)
		for i, e := range page.Entries { // those that are new come first, the last of them first; then the last public place
			if i > 0 && page.Entries[i-1].Public == nil && e.Public == nil && e.Pending != nil && page.Entries[i-1].Pending != nil {
				require.LessOrEqual(h.t, e.Pending.Rank, page.Entries[i-1].Pending.Rank)
			} else if e.Public != nil {
				require.True(h.t, last == 0 || e.Public.Rank <= last)
				last = e.Public.Rank
			} else {
				require.Zero(h.t, last)
			}
		}
		h.hasFrozen = r.Frozen != nil
	case 16:
		if h.hasFrozen {
			require.Nil(h.t, must(s.Unfreeze(ctx, h.frozen, Moderator{Reason: "r"}))(h.t).Frozen)
			h.hasFrozen = false
		}
	case 17:
		h.w.pass(time.Duration(rapid.IntRange(1, 100).Draw(h.t, "ms")) * time.Millisecond)
	case 18:
		require.NoError(h.t, h.w.tryTend())
	}
	h.check()
}

// check compares what is pending with the board that never freezes, and what is public once nothing is pending.
func (h *freezeHistory) check() {
	ctx, s := h.w.t.Context(), h.w.stores[0]
	open := must(s.Page(ctx, h.open, 1, 100))(h.t)
	if !h.hasFrozen {
		require.Equal(h.t, shown(open), shown(must(s.Page(ctx, h.frozen, 1, 100))(h.t)))
		require.Equal(h.t, must(s.Hidden(ctx, h.open, "", 100))(h.t).Members, must(s.Hidden(ctx, h.frozen, "", 100))(h.t).Members)
		return
	}
	var exported []string
	for page, err := range s.ExportPending(ctx, h.frozen) {
		require.NoError(h.t, err)
		for _, e := range page.Entries {
			exported = append(exported, fmt.Sprint(e.Member, " ", e.Score, " ", e.Data))
		}
	}
	var all []string
	entries := make(map[string]Entry)
	for _, e := range open.Entries {
		all = append(all, fmt.Sprint(e.Member, " ", e.Score, " ", e.Data))
		entries[e.Member] = e
	}
	require.Equal(h.t, all, exported)
	for _, e := range must(s.Pending(ctx, h.frozen, PendingQuery{Order: RankOrder, Limit: 100}))(h.t).Entries {
		will, there := entries[e.Member]
		require.Equal(h.t, there, e.Pending != nil, e.Member)
		if there {
			require.Equal(h.t, will.Score, e.Pending.Score)
			if open.Ties != definition.Dense {
				require.Equal(h.t, will.Rank, e.Pending.Rank)
			}
		}
	}
}

// shown is what a page shows.
func shown(p Page) (lines []string) {
	for _, e := range p.Entries {
		lines = append(lines, fmt.Sprint(e.Rank, " ", e.Member, " ", e.Score, " ", e.Data))
	}
	return lines
}

// The law of freezes: no write shows on a frozen board, and once all is revealed the board is as one that was never frozen.
func TestFrozenBoardLaw(t *testing.T) {
	t.Parallel()
	var all definition.Set
	for _, mode := range []definition.Mode{definition.Sum, definition.Best, definition.Last} {
		for _, order := range []definition.Order{definition.Desc, definition.Asc} {
			for _, ties := range []definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember} {
				kind := fmt.Sprintf("%s-%s-%s", mode, order, ties)
				d := definition.Board{Name: "f-" + kind + ":{x}", Mode: mode, Order: order, Ties: ties, Reveal: definition.RevealHost,
					FreezeOthers: definition.OthersOpen, Min: new(int64(-9)), Max: new(int64(9))}
				other := d
				other.Name = "o-" + kind + ":{x}"
				all.Boards = append(all.Boards, d, other)
				all.Events = append(all.Events, definition.Event{Name: "e-" + kind, Updates: []definition.Target{
					{Board: "f-" + kind + ":{x}", Member: "{m}", Score: "{n}"}, {Board: "o-" + kind + ":{x}", Member: "{m}", Score: "{n}"}}})
			}
		}
	}
	simulatedWorlds(t, 2, Config{}, all.Boards, func(t *testing.T, w *world) {
		require.NoError(t, w.stores[0].Define(t.Context(), definition.Set{Events: all.Events}))
		runs := 0
		proptest.CheckSeeded(t, redistest.Volume(w.url, 60), func(t *rapid.T) {
			runs++
			kind := strings.TrimSuffix(strings.TrimPrefix(rapid.SampledFrom(all.Boards).Draw(t, "family").Name[2:], "-"), ":{x}")
			h := &freezeHistory{t: t, w: w, frozen: fmt.Sprintf("f-%s:%d", kind, runs), open: fmt.Sprintf("o-%s:%d", kind, runs), event: "e-" + kind}
			for range rapid.IntRange(1, 25).Draw(t, "acts") {
				h.act()
			}
			if h.hasFrozen {
				require.Nil(t, must(w.stores[0].RevealAll(context.Background(), h.frozen, Moderator{}))(t).Frozen)
				h.hasFrozen = false
			}
			h.check()
		})
	})
}
