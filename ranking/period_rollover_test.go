package ranking_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// What falls into which period is for Redis's clock alone to say, wherever it goes
// and whatever a node has thought that it shows: an estimate that lags or leads by
// hours or days costs a second call and nothing else.
func TestRedisClockDecidesThePeriod(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := moment(t, "2026-11-20T12:00:00Z")
	set(now)
	def := definition.Board{Name: "b", Period: "day", Keep: new(1000)}
	nodes := []*ranking.Store{open(t, url, def), open(t, url)}
	want := make(map[string]int64)
	for range 100 {
		now = now.Add(time.Duration(rand.Int64N(int64(6*24*time.Hour))) - 3*24*time.Hour).Truncate(time.Microsecond)
		set(now)
		day := now.Format(time.DateOnly)
		s := nodes[rand.IntN(2)]
		if rand.IntN(2) == 0 {
			require.Equal(t, day, countsIn(t, s, "b"), "at %v", now)
			want[day]++
		}
		closes := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
		bounds := ranking.Bounds{Ends: closes, Left: closes.Sub(now)}
		page := must(s.Page(t.Context(), "b", 1, 10))(t)
		require.Equal(t, day, page.Period, "at %v", now)
		require.Equal(t, bounds, page.Bounds, "at %v", now)
		if want[day] > 0 {
			require.Equal(t, want[day], page.Entries[0].Score)
		}
		places := must(s.Places(t.Context(), "b", []ranking.Lookup{{Member: "m"}}))(t)
		require.Equal(t, ranking.Places{Head: ranking.Head{State: page.State, Bounds: bounds, Period: day, Kind: "member",
			Total: page.Total, Shards: ranking.IfSharded(places.Shards)}, Ties: definition.First, List: places.List,
			ByShard: ranking.IfSharded(places.ByShard)}, places)
		info := must(s.Info(t.Context(), "b"))(t)
		require.Equal(t, day, info.Period)
		require.Equal(t, bounds, info.Bounds)
		require.Equal(t, page.State, info.State)

		before := closes.Add(-24 * time.Hour)
		last := must(s.Page(t.Context(), "b@-1", 1, 10))(t)
		require.Equal(t, before.Add(-1).Format(time.DateOnly), last.Period, "at %v", now)
		require.Equal(t, ranking.Bounds{Ends: before, Final: true, Left: closes.Sub(now)}, last.Bounds, "at %v", now)
	}
}

// A node whose own clock stands in the year 2000, and then runs an hour ahead while
// Redis's does not, counts and reads by Redis's.
func TestNodeWhoseClockIsOff(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		synctest.Test(t, func(t *testing.T) {
			require.Equal(t, 2000, time.Now().UTC().Year())
			s := open(t, url, definition.Board{Name: "b", Period: "10m", Base: moment(t, "2020-01-01T00:00:00Z")})
			rdb := redistest.Dial(t, url)
			period := func() string {
				now := must(rdb.Time(t.Context()).Result())(t)
				return fmt.Sprint(int64(now.Sub(moment(t, "2020-01-01T00:00:00Z")) / (10 * time.Minute)))
			}
			for range 3 {
				// Redis's clock may turn in between.
				low, got := period(), countsIn(t, s, "b")
				page := must(s.Page(t.Context(), "b", 1, 1))(t)
				info := must(s.Info(t.Context(), "b"))(t)
				high := period()
				for _, p := range []string{got, page.Period, info.Period} {
					require.Contains(t, []string{low, high}, p)
				}
				time.Sleep(time.Hour) // of the node's clock alone
			}
		})
	})
}

// Whoever sends an update again after the turn is told what it did before it.
func TestRetryAcrossTheTurn(t *testing.T) {
	t.Parallel()
	redistest.Both(t, func(t *testing.T) {
		url, set := redistest.Clocked(t)
		now := moment(t, "2026-11-20T12:00:01Z")
		set(now)
		retryAcrossTheTurn(t, url, func(*ranking.Store, string) { set(now.Add(time.Second)) })
	}, func(t *testing.T) {
		retryAcrossTheTurn(t, redistest.Start(t).URL(), func(s *ranking.Store, period string) {
			redistest.Eventually(t, "the turn", func() error {
				page, err := s.Page(t.Context(), "b", 1, 10)
				if err == nil && page.Period == period {
					err = errors.New("still in the first period")
				}
				return err
			})
		})
	})
}

func retryAcrossTheTurn(t *testing.T, url string, turn func(s *ranking.Store, period string)) {
	def := definition.Board{Name: "b", Period: "2s", Base: moment(t, "2026-01-01T00:00:00Z"), Keep: new(1000)}
	s, other := open(t, url, def), open(t, url)
	first := applyOne(t, s, "b", definition.Update{Member: "m", Score: 5, ID: "1"})
	require.NoError(t, first.Err)
	period := first.Result.Period
	require.NotEmpty(t, period)
	first.Result = ranking.Answered(first.Result)
	first.Result.Duplicate = true
	turn(s, period)

	// The retry is the first that the new period sees; then there is one beside it.
	require.Equal(t, first, applyOne(t, other, "b", definition.Update{Member: "m", Score: 5, ID: "1"}))
	o, err := s.Apply(t.Context(), "b", []definition.Update{{Member: "m", Score: 7, ID: "2"}, {Member: "m", Score: 5, ID: "1"}})
	require.NoError(t, err)
	require.NotEqual(t, period, o[0].Result.Period)
	require.Nil(t, o[0].Result.Previous, "each period counts from nothing")
	require.Equal(t, first, o[1])
	mismatch := applyOne(t, s, "b", definition.Update{Member: "m", Score: 6, ID: "1"})
	require.ErrorIs(t, mismatch.Err, definition.ErrIDMismatch)

	old := must(s.Page(t.Context(), "b@"+period, 1, 10))(t)
	require.True(t, old.Final)
	require.Len(t, old.Entries, 1)
	require.EqualValues(t, 5, old.Entries[0].Score)
}

// Periods are read by name and by how long ago they were, as long as they are kept.
func TestOldPeriods(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	set(moment(t, "2026-11-16T12:00:00Z"))
	s := open(t, url, definition.Board{Name: "b", Period: "day", Keep: new(3)}, definition.Board{Name: "plain"},
		definition.Board{Name: "none", Period: "day", Keep: new(0)},
		definition.Board{Name: "long", Period: "36h", Base: moment(t, "2026-11-16T00:00:00Z")})
	for day := 16; day <= 20; day++ {
		set(moment(t, fmt.Sprintf("2026-11-%dT12:00:00Z", day)))
		if day == 18 {
			continue // nothing happened that day
		}
		for _, b := range []string{"b", "plain", "none", "long"} {
			applyOne(t, s, b, definition.Update{Member: "m", Score: int64(day)})
		}
	}
	for name, want := range map[string]string{
		"b": "2026-11-20", "b@2026-11-20": "2026-11-20", "b@-1": "2026-11-19", "b@2026-11-19": "2026-11-19",
		"b@-3": "2026-11-17", "b@2026-11-17": "2026-11-17", "none": "2026-11-20", "plain": "", "long@0": "0", "long@-1": "2", "long": "3",
	} {
		page := must(s.Page(t.Context(), name, 1, 1))(t, name)
		require.Equal(t, want, page.Period, name)
		require.Len(t, page.Entries, 1, name)
		if want[:min(len(want), 8)] == "2026-11-" {
			require.Equal(t, want[8:], fmt.Sprint(page.Entries[0].Score), name)
		}
	}
	noon := moment(t, "2026-11-20T12:00:00Z")
	for name, want := range map[string]ranking.Bounds{
		"b":            {Ends: noon.Add(12 * time.Hour), Left: 12 * time.Hour},
		"b@2026-11-20": {Ends: noon.Add(12 * time.Hour), Left: 12 * time.Hour},
		"b@-1":         {Ends: noon.Add(-12 * time.Hour), Final: true, Left: 12 * time.Hour},
		"b@2026-11-19": {Ends: noon.Add(-12 * time.Hour), Final: true},
		"plain":        {},
	} {
		info := must(s.Info(t.Context(), name))(t, name)
		require.Equal(t, want, info.Bounds, name)
		require.Equal(t, name, info.About.Name)
	}
	empty := must(s.Page(t.Context(), "b@-2", 1, 1))(t)
	bounds := ranking.Bounds{Ends: moment(t, "2026-11-19T00:00:00Z"), Final: true, Left: 12 * time.Hour}
	require.Equal(t, ranking.Page{Head: ranking.Head{Bounds: bounds, Period: "2026-11-18", Kind: "member",
		Shards: ranking.IfSharded(empty.Shards)},
		Order: definition.Desc, Ties: definition.First, Start: 1, Entries: []ranking.Entry{}}, empty)

	for _, name := range []string{
		"b@-4", "b@2026-11-16", "b@-1000", "b@2026-11-21", "b@-0", "b@-01", "b@2026-11-31", "b@2026-1-1", "b@2026", "b@2026-W47", "b@0", "b@x",
		"none@-1", "none@2026-11-19", "plain@-1", "plain@2026-11-20", "long@4", "long@-4", "long@00", "long@99999999999999999999",
	} {
		ranking.Refuses(t, "board", definition.ErrUnknownPeriod, errorOf(s.Page(t.Context(), name, 1, 1)), name)
		require.ErrorIs(t, errorOf(s.Board(t.Context(), name)), definition.ErrUnknownPeriod, name)
		require.Equal(t, []ranking.BoardState{{}}, s.States(t.Context(), []string{name}), name)
	}
	for _, name := range []string{"b@", "b@+1", "b@-1@-2", "b@2026 11", "@-1"} {
		require.ErrorIs(t, errorOf(s.Page(t.Context(), name, 1, 1)), definition.ErrInvalid, name)
	}
	require.Equal(t, "b@2026-11-20", definition.Qualify("b", "2026-11-20"))
	require.Equal(t, "plain", definition.Qualify("plain", ""))
}

// Nothing is written to a period by its name, not even to the one that is open.
func TestNamedPeriodsTakeNoUpdates(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	set(moment(t, "2026-11-20T12:00:00Z"))
	s := open(t, url, definition.Board{Name: "b", Period: "day"}, definition.Board{Name: "plain"})
	for _, name := range []string{"b@2026-11-20", "b@-1", "b@2026-11-19", "b@2026-11-21", "b@nonsense", "plain@-1"} {
		_, err := s.Apply(t.Context(), name, []definition.Update{{Member: "m", Score: 1, ID: "1"}})
		require.ErrorIs(t, err, definition.ErrNotOpen, name)
		require.ErrorIs(t, errorOf(s.Remove(t.Context(), name, "m")), definition.ErrNotOpen, name)
	}
	require.Equal(t, []string{"rc:{/}:definitions"}, allKeys(t, url))
}

// The first thing that a node does may be to read an old period, and the first that it
// hears of a new one that a client names it.
func TestNamedPeriodsByRedisClock(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	set(moment(t, "2026-11-20T12:00:00Z"))
	s := open(t, url, definition.Board{Name: "b", Period: "day", Keep: new(2)})
	applyOne(t, s, "b", definition.Update{Member: "m", Score: 1})
	page := must(open(t, url).Page(t.Context(), "b@2026-11-19", 1, 1))(t)
	require.True(t, page.Final)
	b := must(open(t, url).Board(t.Context(), "b@2026-11-18"))(t)
	require.Equal(t, "b", b.Instance)
	require.Equal(t, "b@2026-11-18", b.Name)
	for _, day := range []string{"2026-11-25", "2026-11-20", "2026-11-18", "2026-11-22"} {
		set(moment(t, day+"T12:00:00Z"))
		page := must(s.Page(t.Context(), "b@"+day, 1, 1))(t, "the estimate is of another day")
		require.False(t, page.Final)
		require.Equal(t, 12*time.Hour, page.Left)
	}
}
