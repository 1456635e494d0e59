package ranking

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// boardsHistory is what happens to the boards of a store, while pages of a member's boards are read.
type boardsHistory struct {
	t       *rapid.T
	s       *Store
	names   []string        // that an update may go to
	changed map[string]bool // since it was emptied
}

var (
	lawBoards  = []string{"a", "b", "b:{x}", "b:{x}:{y}", "b-x", "c.d:{x}"}
	lawParts   = []string{"1", "2", "10", "é", "~"}
	lawMembers = []string{"m", "n", "é"}
)

// define draws the definitions.
func (h *boardsHistory) define() {
	var defined []definition.Board
	for _, name := range lawBoards {
		if !rapid.Bool().Draw(h.t, "has "+name) {
			continue
		}
		defined = append(defined, definition.Board{
			Name: name, Kind: rapid.SampledFrom([]string{"k", "k", "l"}).Draw(h.t, "kind"), Mode: definition.Last,
			Order:  anyOrder.Draw(h.t, "order"),
			Ties:   anyTies.Draw(h.t, "ties"),
			Period: rapid.SampledFrom([]string{"", "year"}).Draw(h.t, "period"),
		})
		base, _, _ := strings.Cut(name, ":")
		switch strings.Count(name, "{") {
		case 0:
			h.names = append(h.names, name)
		case 1:
			for _, x := range lawParts {
				h.names = append(h.names, base+":"+x)
			}
		case 2:
			for _, x := range lawParts[:2] {
				h.names = append(h.names, base+":"+x+":"+x)
			}
		}
	}
	require.NoError(h.t, h.s.Define(context.Background(), definition.Set{Boards: defined}))
}

// act does something to a board.
func (h *boardsHistory) act() {
	if len(h.names) == 0 {
		return
	}
	ctx, board := context.Background(), rapid.SampledFrom(h.names).Draw(h.t, "board")
	member := rapid.SampledFrom(lawMembers).Draw(h.t, "member")
	h.changed[board] = true
	var err error
	switch rapid.IntRange(0, 11).Draw(h.t, "act") {
	case 0:
		_, err = h.s.Remove(ctx, board, member)
	case 1:
		err = h.s.Hide(ctx, board, member, Moderator{})
	case 2:
		err = h.s.Show(ctx, board, member, Moderator{})
	case 3:
		if strings.Contains(board, ":") { // a plain board would lose its definition
			err = h.s.Delete(ctx, board, Moderator{})
		}
	default:
		_, err = h.s.Apply(ctx, board, []definition.Update{{Member: member, Score: rapid.Int64Range(-2, 2).Draw(h.t, "score")}})
	}
	if err != nil {
		require.NotErrorIs(h.t, err, definition.ErrUnavailable)
	}
}

// filter draws what a caller may read: all boards, those that end in 1, or some names and prefixes. Some prefixes leave
// out the boards that end in 1.
func (h *boardsHistory) filter() *BoardFilter {
	if rapid.Bool().Draw(h.t, "may read all") {
		return nil
	}
	if rapid.Bool().Draw(h.t, "may read a suffix") {
		return &BoardFilter{Spans: []definition.NameSpan{definition.SpanOfPrefix("")},
			Has: func(board string) bool { return strings.HasSuffix(board, "1") }}
	}
	var names, prefixes []string
	var spans []definition.NameSpan
	for range rapid.IntRange(0, 4).Draw(h.t, "grants") {
		name := rapid.SampledFrom([]string{"a", "b", "b:1", "b:10", "b:2:2", "b-x", "c.d:é", "nothing:1"}).Draw(h.t, "name")
		if rapid.Bool().Draw(h.t, "exact") {
			names, spans = append(names, name), append(spans, definition.SpanOfName(name))
		} else {
			name = name[:rapid.IntRange(0, len(name)).Draw(h.t, "length")]
			prefixes, spans = append(prefixes, name), append(spans, definition.SpanOfPrefix(name))
		}
	}
	without := rapid.Bool().Draw(h.t, "without 1")
	return &BoardFilter{Spans: definition.JoinSpans(spans), Has: func(board string) bool {
		return slices.Contains(names, board) || !(without && strings.HasSuffix(board, "1")) &&
			slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(board, prefix) })
	}}
}

// recount asks each board of a kind for a member, one after another.
func (h *boardsHistory) recount(kind, member string, only *BoardFilter) (list []MemberBoard) {
	ctx := context.Background()
	defined := must(h.s.Boards(ctx))(h.t)
	slices.SortFunc(defined, func(a, b definition.Board) int { return strings.Compare(a.Slot(), b.Slot()) })
	for _, d := range defined {
		instances := must(h.s.Instances(ctx, d.Name, "", MaxInstancesPage))(h.t)
		for _, board := range instances.Names {
			if d.Kind != kind || only != nil && !only.Has(board) {
				continue
			}
			n, err := h.s.Around(ctx, board, member, 1)
			if err != nil {
				require.ErrorIs(h.t, err, definition.ErrUnknownMember)
				continue
			}
			n.Left = 0 // it passes
			list = append(list, MemberBoard{board, n})
		}
	}
	return list
}

// Through any history, and whatever a caller may read, all pages together have each board of the kind on which the
// member stands, once, in order, with the place that the board itself tells. Boards that change between two pages move
// no others. A cursor names only boards that the caller may read, and ends of the caller's spans.
func TestMemberBoardsAreARecount(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		rdb := redistest.Dial(t, url)
		runs := 0
		proptest.CheckSeeded(t, redistest.Volume(url, 200), func(t *rapid.T) {
			runs++
			s := New(rdb, Config{Prefix: fmt.Sprint("p", runs), CallTimeout: redistest.CallTimeout})
			defer s.Close()
			h := &boardsHistory{t: t, s: s, changed: make(map[string]bool)}
			h.define()
			for range rapid.IntRange(0, 40).Draw(t, "acts") {
				h.act()
			}
			kind, member := rapid.SampledFrom([]string{"k", "k", "l", "none"}).Draw(t, "kind"), rapid.SampledFrom(lawMembers).Draw(t, "member")
			sizes := walkSizes{
				pipeline: rapid.IntRange(1, 4).Draw(t, "pipeline"), lookups: rapid.IntRange(1, 8).Draw(t, "lookups"),
				names: rapid.IntRange(1, 6).Draw(t, "names"), nameReads: rapid.IntRange(3, 9).Draw(t, "name reads"),
			}
			q := MemberBoardsQuery{Limit: rapid.IntRange(1, 5).Draw(t, "limit"), Only: h.filter()}
			clear(h.changed)
			want := h.recount(kind, member, q.Only)
			moves := rapid.Bool().Draw(t, "moves")
			var got []MemberBoard
			for more := true; more; more = q.After != "" {
				page, err := s.memberBoards(context.Background(), kind, member, q, sizes)
				if q.Only != nil && err != nil { // the other names may be too many
					require.ErrorIs(t, err, definition.ErrTooLarge)
					return
				}
				require.NoError(t, err)
				require.Zero(t, page.Unavailable+page.NotBuilt)
				require.LessOrEqual(t, len(page.Boards), min(q.Limit, sizes.lookups))
				require.NotEqual(t, q.After, cmpAfter(page.Next), "the next page goes on")
				for _, b := range page.Boards {
					b.Left = 0
					got = append(got, b)
				}
				q.After = page.Next
				if _, name, _ := strings.Cut(q.After, " "); q.Only != nil && q.After != "" {
					isEnd := slices.ContainsFunc(q.Only.Spans, func(s definition.NameSpan) bool { return s.Before == name })
					require.True(t, q.Only.Has(name) || isEnd, "the cursor names %q", name)
				}
				if moves {
					h.act()
				}
			}
			stays := func(list []MemberBoard) (rest []MemberBoard) {
				for _, b := range list {
					if !h.changed[b.Board] {
						rest = append(rest, b)
					}
				}
				return rest
			}
			require.Equal(t, stays(want), stays(got))
			seen := make(map[string]bool)
			for _, b := range got {
				require.False(t, seen[b.Board], "%s is there twice", b.Board)
				require.True(t, q.Only == nil || q.Only.Has(b.Board), b.Board)
				seen[b.Board] = true
			}
		})
	})
}

// cmpAfter keeps the empty cursor of a last page apart from that of a first one.
func cmpAfter(next string) string {
	if next == "" {
		return "the end"
	}
	return next
}
