package ranking

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
	"rankcast/ranking/sortkey"
)

// forever is the span of a board that has neither periods nor bounds.
var forever = definition.Span{From: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(),
	Length: (36525 * 24 * time.Hour).Microseconds()}

// applyTo is one call of apply.lua, of a caller who may write and create.
func applyTo(t require.TestingT, s *Store, d definition.Board, sp definition.Span, updates ...definition.Update) (
	why string, now int64, outcomes []Outcome) {
	r := must(definition.Compile(d))(t)
	outcomes = make([]Outcome, len(updates))
	batch := make([]updateItem, len(updates))
	for i, u := range updates {
		batch[i] = updateItem{write{Update: u}, nil, &outcomes[i]}
	}
	reply := applyOnce(t, s, applyArgs{rule: r, ids: definition.LeastIDSpan, span: sp, hidden: &moderation{},
		leased: definition.Never, listed: definition.Never}, d.Name, batch)
	return reply.why, reply.now, outcomes
}

// applyOnce makes one call of apply.lua with the given knowledge of a board.
func applyOnce(t require.TestingT, s *Store, a applyArgs, board string, batch []updateItem) applyReply {
	call := s.applyCall(&boardBatch{instance: board, shard: board, args: a, waiting: batch, sent: len(batch)})
	reply, err := s.takeApplyReply(board, a.rule, script.Send(context.Background(), s.rdb, nil, call)[0], batch)
	require.NoError(t, err)
	return reply
}

// packed applies updates to a fresh board whose span is given, and returns what
// Redis then holds, by member.
func packed(t require.TestingT, s *Store, d definition.Board, sp definition.Span, updates []definition.Update) map[string]redis.Z {
	why, _, outcomes := applyTo(t, s, d, sp, updates...)
	require.Equal(t, "ok", why)
	for _, o := range outcomes {
		require.NoError(t, o.Err)
	}
	zs := must(s.rdb.ZRangeWithScores(context.Background(), s.keys.Board(d.Name, sp.Name).Members, 0, -1).Result())(t)
	held := make(map[string]redis.Z)
	for _, z := range zs {
		held[z.Member.(string)] = z
	}
	return held
}

// aScore draws scores of every size, powers of two and their neighbours among them.
func aScore() *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		size := int64(1) << rapid.IntRange(0, 53).Draw(t, "bits")
		score := size + rapid.Int64Range(-2, 2).Draw(t, "near")
		if rapid.Bool().Draw(t, "between") {
			score = rapid.Int64Range(0, size).Draw(t, "score")
		}
		score = min(score, definition.MaxScore)
		if rapid.Bool().Draw(t, "negative") {
			score = -score
		}
		return score
	})
}

// newTestStore is a Store on a real Redis: numbers are only trusted there.
func newTestStore(t *testing.T) *Store {
	return newNode(t, redistest.Start(t).URL())
}

// roomFor is how many equal scores can be told apart: keys between s and s + 1.
func roomFor(score int64) float64 {
	_, e := math.Frexp(math.Max(math.Abs(float64(score)), 1))
	return math.Ldexp(1, 53-e)
}

// The floor of a key gives back the score, and the fraction stays below one,
// over the whole range of scores and at any time of a span.
func TestKeyGivesBackEveryScore(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	n := 0
	proptest.Check(t, 100, func(t *rapid.T) {
		order := anyOrder.Draw(t, "order")
		ties := rapid.SampledFrom([]definition.Ties{definition.First, definition.ByMember}).Draw(t, "ties")
		sp := aSpan().Draw(t, "span")
		scores := rapid.SliceOfN(aScore(), 1, 50).Draw(t, "scores")
		n++
		d := definition.Board{Name: fmt.Sprint("b", n), Mode: definition.Last, Order: order, Ties: ties}
		updates := make([]definition.Update, len(scores))
		for i, score := range scores {
			updates[i] = definition.Update{Member: fmt.Sprint(i), Score: score}
		}
		for member, z := range packed(t, s, d, sp, updates) {
			var i int
			fmt.Sscan(member, &i)
			if got := sortkey.Key(z.Score).Score(order); got != scores[i] {
				t.Fatalf("score %d came back as %d from the key %.17g", scores[i], got, z.Score)
			}
			if whole := float64(order.Sign() * scores[i]); z.Score < whole || z.Score >= whole+1 || ties == definition.ByMember && z.Score != whole {
				t.Fatalf("key %.17g is no key of score %d", z.Score, scores[i])
			}
		}
	})
}

// aSpan draws spans of an hour to a century, now at their start, at their end,
// anywhere between, or beyond either.
func aSpan() *rapid.Generator[definition.Span] {
	return rapid.Custom(func(t *rapid.T) definition.Span {
		lengths := []time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 36525 * 24 * time.Hour}
		length := rapid.SampledFrom(lengths).Draw(t, "length").Microseconds()
		// Among them starts that come while a batch is being written.
		elapsed := rapid.OneOf(rapid.Int64Range(-length/10, length+length/10), rapid.Int64Range(-2000, 2000)).Draw(t, "elapsed")
		return definition.Span{From: time.Now().UnixMicro() - elapsed, Length: length}
	})
}

// Of two equal scores the one reached first ranks higher, at any size of score
// that leaves room for as many equals as there are: to the resolution of a
// single microsecond and below it.
func TestEarlierOfEqualsRanksHigher(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	n := 0
	proptest.Check(t, 100, func(t *rapid.T) {
		order := anyOrder.Draw(t, "order")
		sp := aSpan().Draw(t, "span")
		// Half of the room may be behind already when the first equal comes.
		const equals = 40
		score := rapid.Custom(func(t *rapid.T) int64 { return aScore().Draw(t, "any") }).
			Filter(func(s int64) bool { return roomFor(s) > 1<<12 }).Draw(t, "score")
		n++
		d := definition.Board{Name: fmt.Sprint("e", n), Mode: definition.Last, Order: order, Ties: definition.First}
		if float64(time.Now().UnixMicro()-sp.From)/float64(sp.Length) > 0.95 {
			sp.From = time.Now().UnixMicro() - sp.Length/2 // leave room for the equals
		}
		var updates []definition.Update
		var want []string
		for _, i := range rand.Perm(equals) {
			want = append(want, fmt.Sprint("m", i))
			updates = append(updates, definition.Update{Member: want[len(want)-1], Score: score})
		}
		// One of them leaves the score and comes back: it is the last then.
		updates = append(updates, definition.Update{Member: want[3], Score: score / 2}, definition.Update{Member: want[3], Score: score})
		if score/2 != score {
			want = append(append(want[:3:3], want[4:]...), want[3])
		}
		held := packed(t, s, d, sp, updates)
		got := must(s.rdb.ZRange(context.Background(), s.keys.Board(d.Name, sp.Name).Members, 0, -1).Result())(t)
		require.Equal(t, want, got, "score %d: %v", score, held)
	})
}

// Where room for equals runs out, what is left is shared: the order there is by
// member, and every score still comes back.
func TestEqualsBeyondTheRoomFallToTheMember(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	for score, keys := range map[int64]int{1<<52 + 1: 1, 1<<51 + 1: 2, 1<<50 + 1: 4} {
		d := definition.Board{Name: fmt.Sprint("b", score), Mode: definition.Last, Order: definition.Asc, Ties: definition.First}
		var updates []definition.Update
		for i := range 8 {
			updates = append(updates, definition.Update{Member: fmt.Sprint("m", 7-i), Score: score})
		}
		// At the very start of a span all of the room is still there.
		sp := definition.Span{From: time.Now().UnixMicro(), Length: forever.Length}
		distinct := make(map[float64]bool)
		for _, z := range packed(t, s, d, sp, updates) {
			distinct[z.Score] = true
			require.Equal(t, score, sortkey.Key(z.Score).Score(definition.Asc))
		}
		require.Len(t, distinct, keys, "score %d", score)
		got := must(s.rdb.ZRange(t.Context(), s.keys.Board(d.Name, sp.Name).Members, 0, -1).Result())(t)
		var want []string // the first came as m7, m6, …; the rest share the last key
		for i := range keys - 1 {
			want = append(want, fmt.Sprint("m", 7-i))
		}
		for i := range 8 - (keys - 1) {
			want = append(want, fmt.Sprint("m", i))
		}
		require.Equal(t, want, got, "score %d", score)
	}
}

// Equals that come in the last seconds of a period rank in the order of their arrival.
func TestEqualsInTheLastSecondsOfAPeriod(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := newNode(t, url)
		ends := time.Now().Add(15 * time.Second).Truncate(time.Second)
		// The embedded store sorts a set on every read.
		equals := redistest.Volume(url, 3000)
		for name, score := range map[string]int64{"20": 1 << 20, "33": 1 << 33, "36": 1 << 36, "40": 1<<40 - 1} {
			compiled, err := definition.Compile(definition.Board{Name: name, Starts: ends.Add(-24 * time.Hour), Ends: ends})
			require.NoError(t, err)
			sp := compiled.Span(ends.Add(-time.Second).UnixMicro())
			sp.Ends = 0 // a slow machine may need longer than the 15 s
			updates := make([]definition.Update, equals)
			want := make([]string, equals)
			for i := range updates {
				want[i] = fmt.Sprintf("m%04d", equals-i) // the order by member is the opposite one
				updates[i] = definition.Update{Member: want[i], Score: score}
			}
			for batch := range slices.Chunk(updates, 500) {
				packed(t, s, compiled.Board, sp, batch)
			}
			got := must(s.rdb.ZRange(t.Context(), s.keys.Board(name, "").Members, 0, -1).Result())(t)
			require.Equal(t, want, got, name)
		}
	})
}

// Up to 2^40 the order of arrival is exact, through random histories on few scores: Redis ranks as a naive list.
func TestArrivalOrderThroughHistories(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	n := 0
	proptest.Check(t, 100, func(t *rapid.T) {
		order := anyOrder.Draw(t, "order")
		base := int64(1) << rapid.IntRange(0, 40).Draw(t, "bits")
		n++
		d := definition.Board{Name: fmt.Sprint("h", n), Mode: definition.Last, Order: order, Ties: definition.First}
		var list, updates []definition.Update // the list has the best first, and the earlier of equals
		for range rapid.IntRange(1, 120).Draw(t, "updates") {
			u := definition.Update{
				Member: fmt.Sprint("m", rapid.IntRange(0, 20).Draw(t, "member")),
				Score:  base - rapid.Int64Range(0, 3).Draw(t, "below"),
			}
			updates = append(updates, u)
			if slices.ContainsFunc(list, func(h definition.Update) bool { return h.Member == u.Member && h.Score == u.Score }) {
				continue // a member that has this score stays where it is
			}
			list = append(slices.DeleteFunc(list, func(h definition.Update) bool { return h.Member == u.Member }), u)
			slices.SortStableFunc(list, func(a, b definition.Update) int { return int(order.Sign()) * cmp.Compare(a.Score, b.Score) })
		}
		packed(t, s, d, forever, updates)
		got := must(s.rdb.ZRange(context.Background(), s.keys.Board(d.Name, "").Members, 0, -1).Result())(t)
		want := make([]string, len(list))
		for i, h := range list {
			want[i] = h.Member
		}
		require.Equal(t, want, got)
	})
}

// By time alone, with no equal there to step past, a board resolves arrivals as
// promised: 70 µs at a score of a million on a week and 72 ms at a billion, 0.4 s
// and 6 min without a period.
func TestResolutionByTime(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	week := (7 * 24 * time.Hour).Microseconds()
	for i, c := range []struct {
		length     int64
		score      int64
		resolution float64 // µs
	}{{week, 1e6, 70}, {week, 1e9, 72e3}, {forever.Length, 1e6, 0.37e6}, {forever.Length, 1e9, 377e6}} {
		step := float64(c.length) / roomFor(c.score)
		require.InEpsilon(t, c.resolution, step, 0.03)
		d := definition.Board{Name: fmt.Sprint("r", i), Mode: definition.Last, Order: definition.Desc, Ties: definition.First}
		sp := definition.Span{From: time.Now().UnixMicro(), Length: c.length}
		k := s.keys.Board(d.Name, sp.Name)
		// The stored clock stands for Redis's. The only member leaves each time.
		keyAt := func(micros float64) float64 {
			s.rdb.Del(t.Context(), k.Members)
			require.NoError(t, s.rdb.HSet(t.Context(), k.Meta, "clock", int64(micros)-1).Err())
			return packed(t, s, d, sp, []definition.Update{{Member: "m", Score: c.score}})["m"].Score
		}
		packed(t, s, d, sp, []definition.Update{{Member: "m", Score: 1}})
		start := must(s.rdb.HGet(t.Context(), k.Meta, "from").Float64())(t)
		base := start + 1000*math.Ceil(step) + float64(time.Hour.Microseconds())
		n := math.Ceil((base - start) / step) // the next place there is
		first := keyAt(start + math.Ceil(n*step))
		require.Equal(t, first, keyAt(start+math.Floor((n+1)*step)-1), "within one step the key is the same")
		require.Greater(t, keyAt(start+math.Ceil((n+1)*step)+1), first, "a step later it is another")
	}
}

// Request ids live for 10 minutes at least and 21 at most, and a bucket that has passed is dropped whole.
func TestRequestIDsAreForgotten(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "b"}}, func(t *testing.T, w *world) {
		s := w.stores[0]
		const bucket = 610 * 1_000_000
		at := func(micros int64) { w.pass(time.UnixMicro(micros).Sub(w.now)) }
		start := (w.now.UnixMicro()/bucket + 10) * bucket

		require.True(t, countsAs(t, s, "b", "create"))
		at(start + bucket - 1e6) // the last second of a bucket
		require.True(t, countsAs(t, s, "b", "late"))
		at(start + bucket + 600e6)
		require.False(t, countsAs(t, s, "b", "late"), "ten minutes later, in the next bucket")
		require.True(t, countsAs(t, s, "b", "next"))
		at(start + 2*bucket)
		require.True(t, countsAs(t, s, "b", "late"), "two buckets later it is forgotten")
		require.False(t, countsAs(t, s, "b", "next"))
		at(start + 5*bucket)
		require.True(t, countsAs(t, s, "b", "next"), "after a jump both hashes are old")
		ids := s.keys.Ids(NameOf("b", "m", Shards))
		held := w.rdb.HLen(t.Context(), ids[0]).Val() + w.rdb.HLen(t.Context(), ids[1]).Val()
		require.EqualValues(t, 2, held, "what is left is the one id and its bucket")
	})
}
