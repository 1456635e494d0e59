package rankingtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// History makes the same calls to one board and to its model, and compares them.
type History struct {
	Board string
	Model *Model

	t       *rapid.T
	store   *ranking.Store
	rdb     redis.UniversalClient
	members *rapid.Generator[string]
	updates *rapid.Generator[definition.Update]
}

// NewHistory begins the history of a new instance of a family, with at most 32 members. The
// family is defined in store, and rdb is a client of the store's Redis.
func NewHistory(t *rapid.T, store *ranking.Store, rdb redis.UniversalClient, family definition.Board, instance int,
	members []string) *History {
	name, _, _ := strings.Cut(family.Name, ":")
	some := rapid.SampledFrom(members)
	return &History{
		Board: fmt.Sprint(name, ":", instance), Model: NewModel(family),
		t: t, store: store, rdb: rdb, members: some, updates: updatesOf(some),
	}
}

var someScore = rapid.OneOf(rapid.Int64Range(-3, 13), rapid.SampledFrom([]int64{1 << 40, 1<<40 - 1, 1 << 39, -1 << 39, 1}))

func updatesOf(members *rapid.Generator[string]) *rapid.Generator[definition.Update] {
	return rapid.Custom(func(t *rapid.T) definition.Update {
		u := definition.Update{
			Member: members.Draw(t, "member"),
			Score:  someScore.Draw(t, "score"),
			Op:     rapid.SampledFrom([]definition.Mode{"", "", "", "", definition.Sum, definition.Best, definition.Last}).Draw(t, "op"),
			If:     rapid.SampledFrom([]definition.Condition{"", "", "", definition.Exists, definition.Absent}).Draw(t, "if"),
			Data:   rapid.SampledFrom([]string{"", "", "null", `1`, `false`, `[1,null]`, `{"x":"y"}`, `"é | \" \u001e"`}).Draw(t, "data"),
		}
		if rapid.IntRange(0, 3).Draw(t, "with id") == 0 {
			u.ID = fmt.Sprint("i", rapid.IntRange(0, 4).Draw(t, "id"))
		}
		return u
	})
}

// Fill gives each of the members a random score, and every other one data, in one call.
func (h *History) Fill(members []string) {
	var updates []definition.Update
	for i, name := range members {
		data := []string{`{"x":"y"}`, ""}[i%2]
		updates = append(updates, definition.Update{Member: name, Score: rapid.Int64Range(-3, 11).Draw(h.t, "score"),
			Op: definition.Last, Data: data})
	}
	h.apply(updates)
}

// Call makes one random write. Before some updates it also hides or shows a member, or makes
// the members older.
func (h *History) Call() {
	if rapid.IntRange(0, 9).Draw(h.t, "remove") == 0 {
		member := h.members.Draw(h.t, "removed")
		h.Model.expire()
		h.store.Remove(context.Background(), h.Board, member)
		h.Model.Remove(member)
		return
	}
	if rapid.IntRange(0, 2).Draw(h.t, "moderate") == 0 {
		some := h.members
		if hidden := h.Model.areHidden(); len(hidden) > 0 && rapid.Bool().Draw(h.t, "show") {
			some = rapid.SampledFrom(hidden)
		}
		h.hide(some.Draw(h.t, "moderated"))
	}
	if h.Model.def.MemberTTL > 0 && rapid.Bool().Draw(h.t, "grow old") {
		h.grow(rapid.SampledFrom([]time.Duration{20 * time.Minute, 40 * time.Minute, time.Hour}).Draw(h.t, "by"))
	}
	h.apply(rapid.SliceOfN(h.updates, 1, 12).Draw(h.t, "updates"))
}

// apply sends updates and requires the outcomes of the model.
func (h *History) apply(updates []definition.Update) {
	got, err := h.store.Apply(context.Background(), h.Board, updates)
	require.NoError(h.t, err)
	h.Model.expire()
	for i, u := range updates {
		want := h.Model.Apply(u)
		if want.Err != nil {
			require.ErrorIs(h.t, got[i].Err, want.Err, "update %+v", u)
			continue
		}
		require.Equal(h.t, want, got[i], "update %+v", u)
	}
}

// hide hides a member, or shows it again.
func (h *History) hide(member string) {
	set := h.store.Hide
	if h.Model.hides[member] {
		set = h.store.Show
	}
	require.NoError(h.t, set(context.Background(), h.Board, member, ranking.Moderator{}))
	h.Model.hide(member, !h.Model.hides[member])
}

// grow makes the board and its members older: it moves the times at which they entered back.
func (h *History) grow(by time.Duration) {
	h.Model.age += by
	key := "rc:{" + h.Board + "}:" + h.Model.period + ":t"
	for _, e := range append(slices.Clone(h.Model.members), h.Model.hidden...) {
		require.NoError(h.t, h.rdb.ZIncrBy(context.Background(), key, -float64(by.Microseconds()), e.name).Err())
	}
}

// Unkeyed returns entries without their keys, which the model does not know.
func Unkeyed(entries []ranking.Entry) []ranking.Entry {
	list := slices.Clone(entries)
	for i := range list {
		list[i].Key = 0
	}
	return list
}

// Ordered returns entries of the model in the order that is right for the board. The shards of a board put equals in the order of their
// clocks, so there that is the order of got among equals.
func (h *History) Ordered(all, got []ranking.Entry) []ranking.Entry {
	if h.Model.def.Shards == 0 {
		return all
	}
	at := make(map[string]int)
	for i, e := range got {
		at[e.Member] = i
	}
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b ranking.Entry) int {
		switch {
		case h.Model.better(a.Score, b.Score):
			return -1
		case h.Model.better(b.Score, a.Score):
			return 1
		case h.Model.def.Ties == definition.ByMember:
			return cmp.Compare(a.Member, b.Member)
		}
		return cmp.Compare(at[a.Member], at[b.Member])
	})
	for i := range list {
		list[i].Rank = h.Model.rank(list[i].Score, i)
	}
	return list
}

// Read reads the board by all reads of the store, and requires the entries of the model.
func (h *History) Read() {
	t, ctx := h.t, context.Background()
	all := h.Model.At(h.Model.Seq())
	n := len(all)
	entries := func(from, to int) []ranking.Entry { return all[min(from, n):min(to, n)] }
	page, err := h.store.Page(ctx, h.Board, 1, 100)
	require.NoError(t, err)
	require.Equal(t, h.Model.Seq(), page.Seq)
	all = h.Ordered(all, page.Entries)
	require.Equal(t, all, Unkeyed(page.Entries))
	require.EqualValues(t, n, page.Total)
	require.Nil(t, page.Next())
	for i, e := range page.Entries {
		after, err := h.store.Read(ctx, h.Board, ranking.Query{After: &ranking.Cursor{Key: e.Key, Member: e.Member}, Limit: 2})
		require.NoError(t, err)
		require.Equal(t, entries(i+1, i+3), Unkeyed(after.Entries))
		require.Equal(t, i+3 < n, after.Next() != nil)
	}
	rank := rapid.IntRange(1, n+2).Draw(t, "from rank")
	from := slices.IndexFunc(page.Entries, func(e ranking.Entry) bool { return e.Rank >= int64(rank) })
	if from < 0 {
		from = n
	}
	jumped, err := h.store.Read(ctx, h.Board, ranking.Query{FromRank: int64(rank), Limit: 3})
	require.NoError(t, err)
	require.Equal(t, entries(from, from+3), Unkeyed(jumped.Entries), "from rank %d", rank)
	h.readScores(page.Entries)
	h.readMembers(page.Entries)
	h.readFriends(page.Entries)
}

// readScores reads the entries within bounds of the score, and the rank that a score would give.
func (h *History) readScores(all []ranking.Entry) {
	t, ctx := h.t, context.Background()
	low, high := someScore.Draw(t, "a score"), someScore.Draw(t, "another")
	low, high = min(low, high), max(low, high)
	within := []ranking.Entry{}
	before := int64(0)
	for _, e := range all {
		if low <= e.Score && e.Score <= high {
			within = append(within, e)
		} else if len(within) == 0 && (h.Model.better(e.Score, high) || h.Model.better(e.Score, low)) {
			before++
		}
	}
	p, err := h.store.Read(ctx, h.Board, ranking.Query{MinScore: &low, MaxScore: &high, Limit: 2})
	require.NoError(t, err)
	require.Equal(t, within[:min(2, len(within))], p.Entries, "scores %d to %d", low, high)
	require.Equal(t, [3]int64{int64(len(all)), before, int64(len(within))}, [3]int64{p.Total, p.Before, p.Count})
	require.Equal(t, len(within) > 2, p.Next() != nil)

	at, err := h.store.At(ctx, h.Board, low, nil, 100)
	require.NoError(t, err)
	holders, behind := []ranking.Entry{}, 0
	for i, e := range all {
		if e.Score == low {
			holders = append(holders, e)
		}
		if !h.Model.better(low, e.Score) && (h.Model.def.Ties == definition.First || e.Score != low) {
			behind = i + 1
		}
	}
	require.Equal(t, holders, at.Entries)
	require.Equal(t, h.Model.rank(low, behind), at.Rank, "of the score %d", low)
}

// readMembers looks up a member and its neighbours.
func (h *History) readMembers(all []ranking.Entry) {
	t, ctx := h.t, context.Background()
	around := rapid.IntRange(1, 3).Draw(t, "around")
	member := h.members.Draw(t, "looked up")
	n, err := h.store.Around(ctx, h.Board, member, around)
	i := slices.IndexFunc(all, func(e ranking.Entry) bool { return e.Member == member })
	if i < 0 {
		require.ErrorIs(t, err, definition.ErrUnknownMember)
		return
	}
	require.NoError(t, err)
	require.Equal(t, all[i], n.Entry)
	require.EqualValues(t, i+1, n.Position)
	require.Equal(t, all[max(i-around, 0):min(i+around+1, len(all))], n.Around)
	below := 0
	for j, e := range all {
		if e.Rank > all[i].Rank || !h.Model.def.Ties.Tied() && j > i {
			below++
		}
	}
	require.EqualValues(t, below, n.Below)
	if all[i].Rank == 1 {
		require.Nil(t, n.ToNext())
	} else {
		gap := all[i].Score - all[i-1].Score
		require.Equal(t, max(gap, -gap), *n.ToNext())
	}
}

// readFriends looks up several members at once. A member may occur twice or not be on the board.
func (h *History) readFriends(all []ranking.Entry) {
	t := h.t
	ids := rapid.SliceOfN(h.members, 1, 9).Draw(t, "friends")
	got, err := h.store.Members(context.Background(), h.Board, ids)
	require.NoError(t, err)
	require.EqualValues(t, len(all), got.Total)
	there := func(id string) int {
		return slices.IndexFunc(all, func(e ranking.Entry) bool { return e.Member == id })
	}
	want := make([]ranking.Member, len(ids))
	for i, id := range ids {
		want[i].Entry.Member = id
		at := there(id)
		if at < 0 {
			continue
		}
		above := make(map[any]bool)
		for _, other := range ids {
			j := there(other)
			switch {
			case j < 0 || j >= at:
			case !h.Model.def.Ties.Tied():
				above[other] = true
			case !h.Model.better(all[j].Score, all[at].Score):
			case h.Model.def.Ties == definition.Dense:
				above[all[j].Score] = true
			default:
				above[other] = true
			}
		}
		want[i] = ranking.Member{Entry: all[at], Among: int64(len(above)) + 1}
	}
	require.Equal(t, want, got.List)
	slices.SortStableFunc(want, func(a, b ranking.Member) int {
		place := func(m ranking.Member) int {
			if i := there(m.Member); i >= 0 {
				return i
			}
			return len(all)
		}
		return cmp.Compare(place(a), place(b))
	})
	require.Equal(t, want, got.ByRank())
}
