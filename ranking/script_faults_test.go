package ranking

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// A node that hangs after it has listed an instance lists it again before it creates
// anything: the listing may have gone.
func TestListingIsForATime(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := time.Now()
	set(now)
	s := newNode(t, url)
	define(t, s, definition.Board{Name: "b:{x}"})
	apply(t, s, "b:warm", definition.Update{Member: "m", Score: 1}) // the scripts are known from here on
	c := count(s)
	after(t, s, script.List, 0, func() {
		set(now.Add(listedFor))
		require.NoError(t, s.rdb.ZRem(t.Context(), s.keys.Instances("b/1"), "b:1").Err())
	})
	apply(t, s, "b:1", definition.Update{Member: "m", Score: 1})
	require.Equal(t, 2, c.times(script.List))
	require.NoError(t, s.rdb.ZScore(t.Context(), s.keys.Instances("b/1"), "b:1").Err())
}

// A board-period that holds what its board is not defined for, or that nobody knows to
// be there, is not mixed with, and taken into care.
func TestDataOfOtherOrigin(t *testing.T) {
	onNode(t, []definition.Board{{Name: "b"}}, func(t *testing.T, s *Store) {
		apply(t, s, "b", definition.Update{Member: "m", Score: 3, ID: "1"})
		k := keysOf(s, "b", "", "m")
		was := s.rdb.HGet(t.Context(), k.Meta, "shape").Val()
		require.NoError(t, s.rdb.HSet(t.Context(), k.Meta, "shape", "asc another").Err())
		_, err := s.Apply(t.Context(), "b", []definition.Update{{Member: "m", Score: 3}})
		require.ErrorIs(t, err, definition.ErrConflict)
		require.ErrorContains(t, err, "another order")

		// As a version wrote it that knew of no definitions.
		require.NoError(t, s.rdb.HDel(t.Context(), k.Meta, "shape").Err())
		require.NoError(t, s.rdb.Del(t.Context(), k.Periods, s.keys.Agenda(), s.keys.Instances("b/0")).Err())
		before := must(s.Page(t.Context(), "b", 1, 1))(t)
		require.EqualValues(t, 3, before.Entries[0].Score)
		require.EqualValues(t, 6, apply(t, s, "b", definition.Update{Member: "m", Score: 3}).Result.Current.Score)
		require.Equal(t, State{Epoch: before.Epoch, Seq: 2}, must(s.Page(t.Context(), "b", 1, 1))(t).State)
		require.Equal(t, was, s.rdb.HGet(t.Context(), k.Meta, "shape").Val())
		require.EqualValues(t, 3, s.rdb.Exists(t.Context(), k.Periods, s.keys.Agenda(), s.keys.Instances("b/0")).Val())
	})
}

// A board that goes some time after its last write is told of one that changes nothing. What is only refused, or answered
// again, keeps no board from going.
func TestWritesThatChangeNothingAreNoted(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := time.Now().Truncate(time.Microsecond)
	s := newNode(t, url)
	define(t, s, definition.Board{Name: "b:{x}", Mode: definition.Best, Retain: time.Hour, Max: new(int64(9))},
		definition.Board{Name: "kept", Mode: definition.Best, Max: new(int64(9))})
	for _, board := range []string{"b:1", "kept"} {
		meta := keysOf(s, board, "", "m").Meta
		set(now)
		apply(t, s, board, definition.Update{Member: "m", Score: 3, ID: "1"})
		set(now.Add(time.Minute))
		o := must(s.Apply(t.Context(), board, []definition.Update{{Member: "m", Score: 100}, {Member: "m", Score: 3, ID: "1"}}))(t)
		require.ErrorIs(t, o[0].Err, definition.ErrOutOfRange)
		require.True(t, o[1].Result.Duplicate)
		require.False(t, s.rdb.HExists(t.Context(), meta, "wrote").Val())
		apply(t, s, board, definition.Update{Member: "m", Score: 2})
		wrote, _ := s.rdb.HGet(t.Context(), meta, "wrote").Int64()
		if board == "kept" {
			require.Zero(t, wrote)
		} else {
			require.Equal(t, now.Add(time.Minute).UnixMicro(), wrote)
		}
	}
}

// Each script is given keys of one board, or of what belongs to none: on a cluster one
// call can touch no others.
func TestScriptsStayInOneSlot(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	s.useThreeTrips()
	var mu sync.Mutex
	of := make(map[string][]string) // script to the hash tags of its keys
	s.rdb.AddHook(redistest.Hook(func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
		mu.Lock()
		for _, cmd := range cmds {
			if args := cmd.Args(); args[0] == "evalsha" {
				for _, key := range args[3 : 3+args[2].(int)] {
					_, tag, _ := strings.Cut(key.(string), "{")
					tag, _, _ = strings.Cut(tag, "}")
					of[scriptOf(cmd)] = append(of[scriptOf(cmd)], tag)
				}
			}
		}
		mu.Unlock()
		return send(ctx, cmds)
	}))
	require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b:{x}", Period: "day"}, {Name: "c"}},
		Events: []definition.Event{{Name: "e", Updates: []definition.Target{{Board: "b:1", Member: "m", Score: "1",
			Data: jsontext.Value(`{}`)}}}}}))
	require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b:{x}", Period: "week"},
		{Name: "c", Order: definition.Asc}}}))
	must(s.ApplyEvents(t.Context(), "e", []EventCall{{ID: "1"}}))(t)
	must(s.Page(t.Context(), "b:1", 1, 1))(t)
	must(s.Around(t.Context(), "b:1", "m", 1))(t)
	must(s.Info(t.Context(), "b:1"))(t)
	s.Close() // the catalog is also read in the background
	for sc, want := range map[string]string{
		"apply": "b:1", "page": "b:1", "places": "b:1", "info": "b:1", "begin": "/e", "publish": "/e", "catalog": "/", "define": "/", "list": "/",
	} {
		require.Subset(t, []string{want}, of[sc], sc)
		require.NotEmpty(t, of[sc], sc)
	}
}

// A failover loses that a board is listed: it is again within an hour of writes.
func TestABoardThatIsListedNoMoreIsListedAgain(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := time.Now()
	set(now)
	s := newNode(t, url)
	define(t, s, definition.Board{Name: "b:{x}", Retain: time.Hour})
	apply(t, s, "b:1", definition.Update{Member: "m", Score: 1})
	require.NoError(t, s.rdb.Del(t.Context(), s.keys.Agenda(), s.keys.Listing(), s.keys.Instances("b/1")).Err())
	listed := func() bool {
		return s.rdb.ZScore(t.Context(), s.keys.Instances("b/1"), "b:1").Err() == nil && s.rdb.ZScore(t.Context(), s.keys.Agenda(),
			"b:1").Err() == nil
	}
	set(now.Add(59 * time.Minute))
	apply(t, s, "b:1", definition.Update{Member: "m", Score: 1})
	require.False(t, listed())
	set(now.Add(time.Hour + time.Second))
	c := count(s)
	for range 3 {
		apply(t, s, "b:1", definition.Update{Member: "m", Score: 1})
	}
	require.True(t, listed())
	require.Equal(t, 1, c.times(script.List), "and not with each write")
}

// An end is moved by a call that is late: others have announced the end that was.
func TestAnEndIsNotMovedWhenItHasPassed(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := time.Now().Truncate(time.Millisecond)
	set(now)
	s, other := newNode(t, url), newNode(t, url)
	cup := definition.Board{Name: "cup", Ends: now.Add(time.Hour)}
	define(t, s, cup)
	late := func(to time.Time) { before(s, script.Define, func() { set(to) }) }
	refused := func(err error) {
		t.Helper()
		var field *definition.FieldError
		require.ErrorAs(t, err, &field)
		require.ErrorIs(t, err, definition.ErrConflict)
		require.Regexp(t, `\.ends$`, field.Field)
	}
	late(cup.Ends.Add(-grace))
	longer := cup
	longer.Ends = cup.Ends.Add(time.Hour)
	refused(s.Define(t.Context(), definition.Set{Boards: []definition.Board{longer}}))
	require.Equal(t, cup.Ends.UTC(), must(other.Definition(t.Context(), "cup"))(t).Ends)

	set(now)
	define(t, s, definition.Board{Name: "open"})
	apply(t, other, "open", definition.Update{Member: "m", Score: 1})
	soon := now.Add(grace + time.Second)
	late(soon.Add(-grace))
	refused(s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "open", Ends: soon}}}))
}

// What has counted on all boards is answered so, though the feed could not be told.
func TestAnEventOfWhichTheFeedIsNotTold(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		s.useThreeTrips()
		define(t, s, definition.Board{Name: "b"})
		require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{{Name: "gift",
			Updates: []definition.Target{{Board: "b", Member: "{m}", Score: "1"}}}}}))
		s.rdb.AddHook(&cutter{fate: func(sc string) fate {
			if sc == script.Publish.Name {
				return isLost
			}
			return passes
		}})
		fields := map[string]jsontext.Value{"m": jsontext.Value(`"x"`)}
		h := must(s.ApplyEvents(t.Context(), "gift", []EventCall{{Fields: fields}}))(t)
		require.NoError(t, h[0].Err)
		require.EqualValues(t, 1, h[0].Outcomes[0].Result.Current.Score)
		_, err := s.ApplyEvents(t.Context(), "gift", []EventCall{{ID: "1", Fields: fields}})
		require.ErrorIs(t, err, definition.ErrUnavailable, "a retry tells the feed, and counts once")
	})
}

// The calls of a method that a request or a claim waits for end at the same time, however many they are.
func TestCallsShareOneTimeout(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Start(t).URL())
	define(t, s, definition.Board{Name: "a"}, definition.Board{Name: "b", History: shortStep}, definition.Board{Name: "c"})
	apply(t, s, "b", definition.Update{Member: "m", Score: 1})
	must(s.SetProfile(t.Context(), "member", "m", Profile{Name: "Ann"}))(t)
	hidden := s.keys.Board("b", "").Hidden
	for i := range 3 * moderationPage {
		require.NoError(t, s.rdb.ZAdd(t.Context(), hidden, redis.Z{Member: i}).Err())
	}
	var ends []time.Time
	s.rdb.AddHook(redistest.Hook(func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
		if !isAside(cmds[0]) {
			end, _ := ctx.Deadline()
			ends = append(ends, end)
		}
		return send(ctx, cmds)
	}))
	for name, call := range map[string]func() error{
		"CheckDefine": func() error {
			return s.CheckDefine(t.Context(), definition.Set{Boards: []definition.Board{{Name: "a", Order: definition.Asc},
				{Name: "c", Order: definition.Asc}}})
		},
		"scanMembers": func() error { return s.scanMembers(t.Context(), hidden, func(string, string) {}) },
		"reindex": func() error {
			at := reindexPosition{Part: keyspace.ProfilePart("m")}
			return s.reindex(t.Context(), "member", &at, new(Reindexed))
		},
		"record": func() error { return s.RecordHistory(t.Context(), "b") },
	} {
		ends = nil
		require.NoError(t, call(), name)
		require.Greater(t, len(ends), 1, name)
		require.Len(t, slices.Compact(ends), 1, name)
	}
}

// A scan that fails goes on later from where it was.
func TestScanThatFailsStaysInPlace(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	at := scanPosition{Server: "s", Cursor: "7"}
	_, err := s.scan(ended, scansSet, []string{"k"}, 1, &at)
	require.ErrorIs(t, err, definition.ErrUnavailable)
	require.Equal(t, scanPosition{Server: "s", Cursor: "7"}, at)
}

// A build that cannot read the events of its window sends nothing more.
func TestBuildEndsWhereItCannotRead(t *testing.T) {
	onNode(t, []definition.Board{{Name: "b", Window: time.Hour}}, func(t *testing.T, s *Store) {
		apply(t, s, "b", definition.Update{Member: "m", Score: 1})
		w := holds(t, s, "b", 0)
		w.kept = time.Time{} // it is time to keep the lock
		require.NoError(t, s.rdb.Set(t.Context(), w.keys.Window[0], "no set", 0).Err())
		sent := countCalls(s)
		_, err := w.windowScores(t.Context())
		require.ErrorIs(t, err, definition.ErrUnavailable)
		require.Zero(t, sent()[script.Keep.Name])
	})
}
