package ranking_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking"
	"rankcast/ranking/redistest"
)

// model is what a board is said to be, written down the plainest way.
type model struct {
	def     ranking.Definition
	members []modelMember // best first
	hidden  []modelMember
	hides   map[string]bool
	known   map[string]modelID
	period  string
	arrived int
	seq     int64
	age     time.Duration // of the board
}

type modelMember struct {
	name    string
	score   int64
	data    string
	arrived int
	entered time.Duration // the board's age then
}

type modelID struct {
	update ranking.Update
	result ranking.Result
}

func (m *model) find(member string) int {
	return slices.IndexFunc(m.members, func(e modelMember) bool { return e.name == member })
}

func (m *model) standing(member string) *ranking.Standing {
	if i := m.find(member); i >= 0 {
		return &ranking.Standing{Score: m.members[i].score, Rank: m.rank(m.members[i].score, i)}
	}
	for _, e := range m.hidden {
		if e.name == member {
			return &ranking.Standing{Score: e.score}
		}
	}
	return nil
}

// take takes a member out, and says whether it was there, or hidden.
func (m *model) take(member string) (e modelMember, there, hidden bool) {
	is := func(e modelMember) bool { return e.name == member }
	if i := slices.IndexFunc(m.hidden, is); i >= 0 {
		e = m.hidden[i]
		m.hidden = slices.Delete(m.hidden, i, i+1)
		return e, true, true
	}
	if i := m.find(member); i >= 0 {
		e = m.members[i]
		m.members = slices.Delete(m.members, i, i+1)
		return e, true, false
	}
	return modelMember{name: member, arrived: -1, entered: m.age}, false, false
}

// give puts a member where it belongs.
func (m *model) give(e modelMember) {
	if m.hides[e.name] {
		m.hidden = append(m.hidden, e)
		return
	}
	m.members = append(m.members, e)
	m.sort()
}

// hide has a member be hidden, or shown again.
func (m *model) hide(member string, hides bool) {
	m.hides[member] = hides
	e, there, hidden := m.take(member)
	if there {
		if m.give(e); hidden != hides {
			m.seq++
			m.trim()
		}
	}
}

// trim has the last one go who is one too many.
func (m *model) trim() {
	if n := int(m.def.Limit); n > 0 && len(m.members) > n {
		m.seq++
		m.members = m.members[:n]
	}
}

// rank is that of a score, and of who has it and stands at an index.
func (m *model) rank(score int64, i int) int64 {
	better := make(map[int64]bool)
	n := int64(0)
	for _, e := range m.members {
		if m.better(e.score, score) {
			better[e.score] = true
			n++
		}
	}
	switch m.def.Ties {
	case ranking.Shared:
		return n + 1
	case ranking.Dense:
		return int64(len(better)) + 1
	default:
		return int64(i) + 1
	}
}

// better reports whether a score ranks above another.
func (m *model) better(score, other int64) bool {
	if m.def.Order == ranking.Asc {
		return score < other
	}
	return score > other
}

func (m *model) sort() {
	slices.SortFunc(m.members, func(a, b modelMember) int {
		if m.def.Order == ranking.Desc {
			a.score, b.score = b.score, a.score
		}
		byTie := cmp.Compare(a.arrived, b.arrived)
		if m.def.Ties == ranking.ByMember {
			byTie = cmp.Compare(a.name, b.name)
		}
		return cmp.Or(cmp.Compare(a.score, b.score), byTie)
	})
}

// expire has those leave whose time is over.
func (m *model) expire() {
	was := len(m.members)
	over := func(e modelMember) bool { return m.def.MemberTTL > 0 && m.age-e.entered >= m.def.MemberTTL }
	m.members, m.hidden = slices.DeleteFunc(m.members, over), slices.DeleteFunc(m.hidden, over)
	m.seq += int64(was - len(m.members))
}

// apply says what must come of an update.
func (m *model) apply(u ranking.Update) ranking.Outcome {
	if known, ok := m.known[u.ID]; ok {
		if known.update != u {
			return ranking.Outcome{Err: ranking.ErrIDMismatch}
		}
		known.result.Duplicate = true
		return ranking.Outcome{Result: known.result}
	}
	r := ranking.Result{Period: m.period, Previous: m.standing(u.Member)}
	if (u.If != ranking.Exists || r.Previous != nil) && (u.If != ranking.Absent || r.Previous == nil) {
		if err := m.change(u); err != nil {
			return ranking.Outcome{Err: err}
		}
	}
	r.Current = m.standing(u.Member)
	if u.ID != "" {
		m.known[u.ID] = modelID{u, r}
	}
	return ranking.Outcome{Result: r}
}

// change carries an update out, or says why not.
func (m *model) change(u ranking.Update) error {
	u.Op = cmp.Or(u.Op, m.def.Mode)
	if u.Op == ranking.Sum && m.def.Limit > 0 {
		return ranking.ErrInvalid
	}
	e, there, hidden := m.take(u.Member)
	was := e
	told, by := u.Score, u.Score-e.score
	switch u.Op {
	case ranking.Sum:
		e.score += u.Score
		told, by = e.score, u.Score
	case ranking.Last:
		e.score = u.Score
	case ranking.Best:
		if !there || m.better(u.Score, e.score) {
			e.score = u.Score
		} else {
			u.Data, by = "", 0
		}
	}
	if !there && u.Op != ranking.Sum {
		by = 0
	}
	if told < *m.def.Min || told > *m.def.Max || by > m.def.MaxChange || by < -m.def.MaxChange {
		if there {
			m.give(was)
		}
		return ranking.ErrOutOfRange
	}
	switch u.Data {
	case "":
	case "null":
		e.data = ""
	default:
		e.data = u.Data
	}
	if there && e == was {
		m.give(was)
		return nil
	}
	if m.arrived++; !there || e.score != was.score {
		e.arrived = m.arrived
	}
	if m.give(e); hidden || m.hides[e.name] {
		return nil
	}
	m.seq++
	if n := int(m.def.Limit); n > 0 && len(m.members) > n && m.members[n].name == e.name {
		m.seq-- // it does not come in
		m.members = m.members[:n]
	}
	m.trim()
	return nil
}

func (m *model) remove(member string) {
	if _, there, hidden := m.take(member); there && !hidden {
		m.seq++
	}
}

// modelled are definitions of every mode, order, tie rule, limit and member_ttl or, unless
// all are wanted, so many of them that every two values of these meet.
func modelled(all bool) map[string]ranking.Definition {
	type product struct {
		mode  ranking.Mode
		order ranking.Order
		ties  ranking.Ties
		limit int64
		ttl   time.Duration
	}
	var products []product
	for _, mode := range []ranking.Mode{ranking.Sum, ranking.Best, ranking.Last} {
		for _, order := range []ranking.Order{ranking.Desc, ranking.Asc} {
			for _, ties := range []ranking.Ties{ranking.First, ranking.Shared, ranking.Dense, ranking.ByMember} {
				for _, limit := range []int64{0, 3} {
					for _, ttl := range []time.Duration{0, time.Hour} {
						if limit == 0 || mode != ranking.Sum {
							products = append(products, product{mode, order, ties, limit, ttl})
						}
					}
				}
			}
		}
	}
	pairs := func(p product) (pairs []string) {
		values := []string{string(p.mode), string(p.order), string(p.ties), fmt.Sprint("limit ", p.limit), fmt.Sprint("ttl ", p.ttl)}
		for i, v := range values {
			for _, w := range values[i+1:] {
				pairs = append(pairs, v+", "+w)
			}
		}
		return pairs
	}
	met := make(map[string]bool)
	news := func(p product) (n int) {
		for _, pair := range pairs(p) {
			if !met[pair] {
				n++
			}
		}
		return n
	}
	definitions := make(map[string]ranking.Definition)
	for i := 0; len(products) > 0; i++ {
		slices.SortStableFunc(products, func(p, q product) int { return cmp.Compare(news(q), news(p)) })
		p := products[0]
		if products = products[1:]; !all && news(p) == 0 {
			break
		}
		for _, pair := range pairs(p) {
			met[pair] = true
		}
		name := fmt.Sprintf("%s-%s-%s-%d-%v", p.mode, p.order, p.ties, p.limit, p.ttl)
		bound := []int64{12, 1 << 40}[i%2]
		def := ranking.Definition{
			Board: name + ":{n}", Mode: p.mode, Order: p.order, Ties: p.ties, Limit: p.limit, MemberTTL: p.ttl,
			Min: new(-bound / 2), Max: new(bound), MaxChange: bound,
		}
		if i%3 > 0 { // one that does not turn while this is tested
			def.Period, def.Base = "3660d", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		definitions[name] = def
	}
	return definitions
}

// whole has all kinds of boards tested, not so many alone that every two traits meet.
var whole = flag.Bool("whole", false, "test the whole product of mode, order, ties, limit and member_ttl")

// seeded has what rapid draws be the same each time, unless the command line has a seed.
func seeded(t *testing.T) {
	seed := flag.Lookup("rapid.seed")
	if seed.Value.String() == "0" && !*whole {
		require.NoError(t, flag.Set("rapid.seed", "20261121"))
		t.Cleanup(func() { flag.Set("rapid.seed", "0") })
	}
}

// Through any history a board does what the model says: each outcome, the order, the
// scores, the data, the count of changes, and whatever is read of it.
func TestBoardDoesWhatTheModelSays(t *testing.T) {
	seeded(t)
	redistest.Engines(t, func(t *testing.T, url string) {
		families := modelled(*whole)
		var defs []ranking.Definition
		for _, def := range families {
			defs = append(defs, def)
		}
		s := open(t, url, defs...)
		rdb := dial(t, url)
		runs := 0
		for _, name := range slices.Sorted(maps.Keys(families)) {
			t.Run(name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					runs++
					h := &history{t: t, s: s, rdb: rdb, board: fmt.Sprint(name, ":", runs)}
					h.m = &model{def: families[name], known: make(map[string]modelID), hides: make(map[string]bool)}
					if h.m.def.Period != "" {
						h.m.period = "0"
					}
					for range rapid.IntRange(1, 8).Draw(t, "calls") {
						h.call()
						page, err := s.Page(context.Background(), h.board, 1, 1)
						require.NoError(t, err)
						require.Equal(t, h.m.seq, page.Seq)
					}
					h.read()
				})
			})
		}
	})
}

// history is what happens to one board, and to its model.
type history struct {
	t     *rapid.T
	s     *ranking.Store
	rdb   redis.UniversalClient
	board string
	m     *model
}

var (
	someScore  = rapid.OneOf(rapid.Int64Range(-3, 13), rapid.SampledFrom([]int64{1 << 40, 1<<40 - 1, 1 << 39, -1 << 39, 1}))
	someMember = rapid.SampledFrom([]string{"a", "b", "B", "é", "a b", "c", "d"})
	someUpdate = rapid.Custom(func(t *rapid.T) ranking.Update {
		u := ranking.Update{
			Member: someMember.Draw(t, "member"),
			Score:  someScore.Draw(t, "score"),
			Op:     rapid.SampledFrom([]ranking.Mode{"", "", "", "", ranking.Sum, ranking.Best, ranking.Last}).Draw(t, "op"),
			If:     rapid.SampledFrom([]ranking.Condition{"", "", "", ranking.Exists, ranking.Absent}).Draw(t, "if"),
			Data:   rapid.SampledFrom([]string{"", "", "null", `1`, `{"x":"y"}`}).Draw(t, "data"),
		}
		if rapid.IntRange(0, 3).Draw(t, "with id") == 0 {
			u.ID = fmt.Sprint("i", rapid.IntRange(0, 4).Draw(t, "id"))
		}
		return u
	})
)

// call is one call of the store's that writes.
func (h *history) call() {
	if rapid.IntRange(0, 9).Draw(h.t, "remove") == 0 {
		member := someMember.Draw(h.t, "removed")
		h.m.expire()
		h.s.Remove(context.Background(), h.board, member)
		h.m.remove(member)
		return
	}
	if rapid.IntRange(0, 4).Draw(h.t, "moderate") == 0 {
		h.hide(someMember.Draw(h.t, "moderated"))
	}
	if h.m.def.MemberTTL > 0 && rapid.Bool().Draw(h.t, "grow old") {
		h.grow(rapid.SampledFrom([]time.Duration{20 * time.Minute, 40 * time.Minute, time.Hour}).Draw(h.t, "by"))
	}
	updates := rapid.SliceOfN(someUpdate, 1, 12).Draw(h.t, "updates")
	got, err := h.s.Apply(context.Background(), h.board, updates)
	require.NoError(h.t, err)
	h.m.expire()
	for i, u := range updates {
		want := h.m.apply(u)
		if want.Err != nil {
			require.ErrorIs(h.t, got[i].Err, want.Err, "update %+v", u)
			continue
		}
		require.Equal(h.t, want, got[i], "update %+v", u)
	}
}

// hide hides a member, or shows it again.
func (h *history) hide(member string) {
	set := h.s.Hide
	if h.m.hides[member] {
		set = h.s.Show
	}
	require.NoError(h.t, set(context.Background(), h.board, member, ranking.Moderator{}))
	h.m.hide(member, !h.m.hides[member])
}

// grow has all who are on the board have entered longer ago.
func (h *history) grow(by time.Duration) {
	h.m.age += by
	key := "rc:{" + h.board + "}:" + h.m.period + ":t"
	for _, e := range append(slices.Clone(h.m.members), h.m.hidden...) {
		require.NoError(h.t, h.rdb.ZIncrBy(context.Background(), key, -float64(by.Microseconds()), e.name).Err())
	}
}

// entries are those that the model has at some places.
func (h *history) entries(from, to int) []ranking.Entry {
	list := []ranking.Entry{}
	for i := max(from, 0); i < min(to, len(h.m.members)); i++ {
		e := h.m.members[i]
		list = append(list, ranking.Entry{Rank: h.m.rank(e.score, i), Member: e.name, Score: e.score, Data: e.data})
	}
	return list
}

// unkeyed are entries without their keys, which the model does not know.
func unkeyed(entries []ranking.Entry) []ranking.Entry {
	list := slices.Clone(entries)
	for i := range list {
		list[i].Key = 0
	}
	return list
}

// read reads the board in all ways there are.
func (h *history) read() {
	t, ctx := h.t, context.Background()
	n := len(h.m.members)
	page, err := h.s.Page(ctx, h.board, 1, 100)
	require.NoError(t, err)
	require.Equal(t, h.m.seq, page.Seq)
	require.Equal(t, h.entries(0, n), unkeyed(page.Entries))
	require.EqualValues(t, n, page.Total)
	require.Nil(t, page.Next())
	for i, e := range page.Entries {
		after, err := h.s.Read(ctx, h.board, ranking.Query{After: &ranking.Cursor{Key: e.Key, Member: e.Member}, Limit: 2})
		require.NoError(t, err)
		require.Equal(t, h.entries(i+1, i+3), unkeyed(after.Entries))
		require.Equal(t, i+3 < n, after.Next() != nil)
	}
	rank := rapid.IntRange(1, n+2).Draw(t, "from rank")
	from := slices.IndexFunc(page.Entries, func(e ranking.Entry) bool { return e.Rank >= int64(rank) })
	if from < 0 {
		from = n
	}
	jumped, err := h.s.Read(ctx, h.board, ranking.Query{FromRank: int64(rank), Limit: 3})
	require.NoError(t, err)
	require.Equal(t, h.entries(from, from+3), unkeyed(jumped.Entries), "from rank %d", rank)
	h.readScores(page.Entries)
	h.readMembers(page.Entries)
	h.readFriends(page.Entries)
}

// readScores reads who has some scores, and what rank one of them would give.
func (h *history) readScores(all []ranking.Entry) {
	t, ctx := h.t, context.Background()
	low, high := someScore.Draw(t, "a score"), someScore.Draw(t, "another")
	low, high = min(low, high), max(low, high)
	within := []ranking.Entry{}
	before := int64(0)
	for _, e := range all {
		if low <= e.Score && e.Score <= high {
			within = append(within, e)
		} else if len(within) == 0 && (h.m.better(e.Score, high) || h.m.better(e.Score, low)) {
			before++
		}
	}
	p, err := h.s.Read(ctx, h.board, ranking.Query{MinScore: &low, MaxScore: &high, Limit: 2})
	require.NoError(t, err)
	require.Equal(t, within[:min(2, len(within))], p.Entries, "scores %d to %d", low, high)
	require.Equal(t, [3]int64{int64(len(all)), before, int64(len(within))}, [3]int64{p.Total, p.Before, p.Count})
	require.Equal(t, len(within) > 2, p.Next() != nil)

	at, err := h.s.At(ctx, h.board, low, nil, 100)
	require.NoError(t, err)
	holders, behind := []ranking.Entry{}, 0
	for i, e := range all {
		if e.Score == low {
			holders = append(holders, e)
		}
		if !h.m.better(low, e.Score) && (h.m.def.Ties == ranking.First || e.Score != low) {
			behind = i + 1
		}
	}
	require.Equal(t, holders, at.Entries)
	require.Equal(t, h.m.rank(low, behind), at.Rank, "of the score %d", low)
}

// readMembers looks members up.
func (h *history) readMembers(all []ranking.Entry) {
	t, ctx := h.t, context.Background()
	around := rapid.IntRange(1, 3).Draw(t, "around")
	member := someMember.Draw(t, "looked up")
	n, err := h.s.Around(ctx, h.board, member, around)
	i := h.m.find(member)
	if i < 0 {
		require.ErrorIs(t, err, ranking.ErrUnknownMember)
		return
	}
	require.NoError(t, err)
	require.Equal(t, all[i], n.Entry)
	require.EqualValues(t, i+1, n.Position)
	require.Equal(t, all[max(i-around, 0):min(i+around+1, len(all))], n.Around)
	below := 0
	for j, e := range all {
		if e.Rank > all[i].Rank || !h.m.def.Ties.Tied() && j > i {
			below++
		}
	}
	require.EqualValues(t, below, n.Below)
	if i == 0 {
		require.Nil(t, n.ToNext())
	} else {
		gap := all[i].Score - all[i-1].Score
		require.Equal(t, max(gap, -gap), *n.ToNext())
	}
}

// readFriends looks some up at once, who may be there twice, or not at all.
func (h *history) readFriends(all []ranking.Entry) {
	t := h.t
	ids := rapid.SliceOfN(someMember, 1, 9).Draw(t, "friends")
	got, err := h.s.Members(context.Background(), h.board, ids)
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
			case !h.m.def.Ties.Tied():
				above[other] = true
			case !h.m.better(all[j].Score, all[at].Score):
			case h.m.def.Ties == ranking.Dense:
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
