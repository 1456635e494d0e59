package ranking

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// claimTurns claims items that are due, and returns them sorted. more reports that others wait.
func claimTurns(t *testing.T, s *Store, most int) (items []string, more bool) {
	t.Helper()
	due, more, err := s.claimTurns(t.Context(), most)
	require.NoError(t, err)
	for _, c := range due {
		items = append(items, c.member)
	}
	slices.Sort(items)
	return items, more
}

// However many instances of a family are due, and for however long, another definition's item is claimed
// with the next claim. Each item is claimed once.
func TestDefinitionsTakeTurnsInHousekeeping(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		const many = 2*housekeepingJoin + 10
		all := []redis.Z{{Score: 1e15, Member: "quiet"}, {Score: 1e15, Member: "fans/1"}, {Score: 1e15, Member: "/gift"}}
		for i := range many {
			all = append(all, redis.Z{Score: float64(1 + i), Member: fmt.Sprintf("fans:s%d", i)})
		}
		require.NoError(t, s.rdb.ZAdd(t.Context(), s.keys.Agenda(), all...).Err())
		due, more := claimTurns(t, s, 4)
		require.True(t, more)
		require.Equal(t, []string{"/gift", "fans:s0", "fans:s1", "quiet"}, due)

		// An item that falls due later does not wait for the family either.
		require.NoError(t, s.scheduleNow(t.Context(), "late"))
		// Items that leave the agenda while they wait are not claimed.
		require.NoError(t, s.rdb.ZRem(t.Context(), s.keys.Agenda(), "fans:s5").Err())
		// Items that fall due again while they wait are claimed once.
		require.NoError(t, s.scheduleNow(t.Context(), "fans:s6"))
		next, more := claimTurns(t, s, 2)
		require.True(t, more)
		require.Contains(t, next, "late")
		due = append(due, next...)
		for more {
			next, more = claimTurns(t, s, housekeepingWorkers)
			require.LessOrEqual(t, len(next), housekeepingWorkers)
			due = append(due, next...)
		}
		want := []string{"/gift", "fans/1", "late", "quiet"}
		for i := range many {
			if i != 5 {
				want = append(want, fmt.Sprintf("fans:s%d", i))
			}
		}
		require.ElementsMatch(t, want, due)
		require.Zero(t, s.rdb.Exists(t.Context(), s.keys.Waiting(), s.keys.WaitingTurns()).Val(), "nothing waits")
		next, more = claimTurns(t, s, housekeepingWorkers)
		require.Empty(t, next)
		require.False(t, more)
	})
}

// assign.lua takes an item for one of the definition that has it.
func TestTheLineOfAnItemIsItsDefinition(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		lines := map[string]string{
			"/gift":  "/",
			"fans/1": "fans/1", familyCursor("fans/1", "fans:a:b/c"): "fans/1", familyCursor("plain/0", ""): "plain/0",
		}
		for _, instance := range []string{"b", "fans:s1", "fans:s1:x", "fans:s 1", "a-b.c:d"} {
			n := must(definition.ParseName(instance))(t)
			lines[instance] = n.Slot()
		}
		for item, line := range lines {
			const first = "!" // its turn comes before that of all names
			require.NoError(t, s.rdb.ZAdd(t.Context(), s.keys.Agenda(), redis.Z{Score: 1, Member: first}, redis.Z{Score: 1, Member: item}).Err())
			due, more := claimTurns(t, s, 1)
			require.Equal(t, []string{first}, due)
			require.True(t, more)
			require.Equal(t, map[string]string{"": "1", line: "1"}, s.rdb.HGetAll(t.Context(), s.keys.WaitingTurns()).Val(), item)
			require.NoError(t, s.rdb.Del(t.Context(), s.keys.Agenda(), s.keys.Waiting(), s.keys.WaitingTurns()).Err())
		}
	})
}

// While a node is busy with one item, it does what else falls due.
func TestASlowItemDelaysNoOther(t *testing.T) {
	t.Parallel()
	worlds(t, 1, patient, seconds, func(t *testing.T, w *world) {
		s := w.stores[0]
		w.write(s, "fans:s1", "a", 1) // by which it hears what time it is
		held, release := make(chan struct{}), make(chan struct{})
		var first sync.Once
		cut(s, script.Forget, func() fate {
			first.Do(func() {
				close(held)
				<-release
			})
			return passes
		})
		require.NoError(t, s.scheduleNow(t.Context(), "fans:gone")) // it has no data
		w.skip(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		var role sync.WaitGroup
		role.Go(func() { s.RunHousekeeping(ctx, slog.New(slog.DiscardHandler)) })
		defer func() { close(release); cancel(); redistest.Wait(t, "the end of role", role.Wait) }()
		redistest.Receive(t, "a value from held", held)
		for range 2 {
			period := w.write(s, "stars", "a", 1).Period
			w.skip(2 * time.Second)
			redistest.Eventually(t, "the period", func() error {
				return missing([]string{definition.Qualify("stars", period)}, w.announced())
			})
		}
	})
}

// Where very many items are due, those that wait already are claimed before all the others have joined.
func TestItemsAreClaimedBeforeAllHaveJoined(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		for i, item := range []string{"a", "b", "c"} {
			require.NoError(t, s.rdb.ZAdd(t.Context(), s.keys.Agenda(), redis.Z{Score: float64(i), Member: item}).Err())
		}
		assign := func(anyway int) (state string, claimed []string) {
			r := script.Assign.Run(t.Context(), s.rdb, []string{s.keys.Agenda(), s.keys.Waiting(), s.keys.WaitingTurns()},
				[]any{4, time.Minute.Microseconds(), 1, time.Minute.Microseconds(), anyway})
			require.NoError(t, r.Err)
			r.Number()
			state = r.Text()
			for r.More() {
				claimed = append(claimed, r.Text())
				r.Text()
			}
			require.NoError(t, r.Err)
			return state, claimed
		}
		for _, want := range []struct {
			anyway  int
			state   string
			claimed []string
		}{{0, "join", nil}, {1, "more", []string{"a", "b"}}, {1, "more", []string{"c"}}, {0, "none", nil}} {
			state, claimed := assign(want.anyway)
			require.Equal(t, want.state, state)
			require.Equal(t, want.claimed, claimed)
		}
	})
}
