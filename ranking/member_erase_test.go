package ranking

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// erased says whether an erasure has ended.
func (w *world) erased(kind, member string) error {
	e, err := w.stores[0].Erasure(w.t.Context(), kind, member)
	if err == nil && e.Ended.IsZero() {
		err = fmt.Errorf("%q is still being erased: %+v", member, e)
	}
	return err
}

// untilErased tends until the erasures of members have ended.
func (w *world) untilErased(kind string, members ...string) {
	w.t.Helper()
	for _, member := range members {
		w.until("the erasure of "+member, func() error { return w.erased(kind, member) })
	}
}

// A member is erased from all boards of its kind, in all periods, also where it is
// hidden; from no other kind's; and it is told how many these were.
func TestErase(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board {
		return []definition.Board{
			{Name: "week", Period: "week", Kind: "user"}, {Name: "fans:{star}", Kind: "user", Ties: definition.Dense, MemberTTL: time.Hour * 1000},
			{Name: "hot", Kind: "user", Mode: definition.Best, Limit: 5}, {Name: "stars", Kind: "star"},
		}
	}
	worlds(t, 2, Config{}, boards, func(t *testing.T, w *world) {
		s, removed := w.stores[0], int64(familyPage+53+2)
		for i := range familyPage + 53 {
			w.write(s, fmt.Sprint("fans:", i), "u", 5)
		}
		for _, b := range []string{"week", "hot", "stars"} {
			apply(t, s, b, definition.Update{Member: "v", Score: 3})
			w.passSimulated(time.Second) // the clocks of shards tell who was first
			apply(t, s, b, definition.Update{Member: "u", Score: 3, Data: `{"city":"Bonn"}`})
		}
		require.NoError(t, s.Hide(t.Context(), "hot", "u", Moderator{}))
		if w.set != nil {
			w.tendAfter(7 * 24 * time.Hour)
			w.write(s, "week", "u", 1)
			removed++
		}
		e := must(s.Erase(t.Context(), "user", "u", Moderator{Reason: "asked to be forgotten"}))(t)
		require.True(t, e.Ended.IsZero())
		w.untilErased("user", "u")
		e = must(w.stores[1].Erasure(t.Context(), "user", "u"))(t)
		require.EqualValues(t, familyPage+53+2, e.Boards)
		require.Equal(t, removed, e.Removed)
		require.False(t, e.Ended.Before(e.Began))
		require.Equal(t, []string{"v 3 #1"}, entriesOf(t, s, "hot"))
		require.Equal(t, []string{"v 3 #1", "u 3 #2"}, entriesOf(t, s, "stars"))
		require.Empty(t, entriesOf(t, s, "fans:7"))
		if w.set != nil {
			require.Equal(t, []string{"v 3 #1"}, entriesOf(t, s, "week@-1"))
		}
		for _, key := range w.allKeys() {
			kind := must(w.rdb.Type(t.Context(), key).Result())(t)
			switch kind {
			case "zset":
				if key == keysOf(s, "stars", "", "u").Members {
					continue
				}
				require.Error(t, w.rdb.ZScore(t.Context(), key, "u").Err(), key)
			case "hash":
				if key != keysOf(s, "stars", "", "u").Data {
					require.Error(t, w.rdb.HGet(t.Context(), key, "u").Err(), key)
				}
			}
		}
		// It is told for a day, and then nothing is left of it.
		if w.set != nil {
			w.pass(24*time.Hour + time.Second)
			w.until("the report to go", func() error {
				if _, err := s.Erasure(t.Context(), "user", "u"); !errors.Is(err, definition.ErrUnknownMember) {
					return fmt.Errorf("it is still there: %v", err)
				}
				return nil
			})
		}
	})
}

// An erasure whose node goes in the middle is ended by another.
func TestEraseGoesOn(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "fans:{star}", Kind: "user"})
	s := w.stores[0]
	const instances = 2*familyPage + 10
	for i := range instances {
		w.write(s, fmt.Sprintf("fans:%04d", i), "u", 5)
	}
	must(s.Erase(t.Context(), "user", "u", Moderator{}))(t)
	var erased atomic.Int64
	cut(s, script.Erase, func() fate {
		if erased.Add(1) > familyPage+familyPage/2 {
			return isLost
		}
		return passes
	})
	var err error
	for err == nil && w.erased("user", "u") != nil { // a slow machine may take several steps
		w.pass(time.Second)
		err = w.tryTend()
	}
	require.Error(t, err)
	w.stores = nil
	w.store(patient)
	w.untilErased("user", "u")
	require.EqualValues(t, instances, must(w.stores[0].Erasure(t.Context(), "user", "u"))(t).Boards)
	for i := range instances {
		require.Zero(t, w.total(fmt.Sprintf("fans:%04d", i)))
	}
}

// Boards that another node has defined before the erasure began are gone through, also by
// a node that does not know them yet.
func TestEraseFromBoardsThatAreNew(t *testing.T) {
	t.Parallel()
	worlds(t, 2, Config{CallTimeout: redistest.CallTimeout}, two, func(t *testing.T, w *world) {
		first, second := w.stores[0], w.stores[1]
		must(second.Boards(t.Context()))(t)
		stall(second)
		define(t, first, definition.Board{Name: "new", Kind: "user"})
		w.write(first, "new", "u", 1)
		must(first.Erase(t.Context(), "user", "u", Moderator{}))(t)
		w.stores = w.stores[1:]
		w.untilErased("user", "u")
		require.Empty(t, entriesOf(t, first, "new"))
		require.EqualValues(t, 1, must(first.Erasure(t.Context(), "user", "u"))(t).Removed)
	})
}

// A member that is erased again while it is being erased is taken from all boards once
// more, those that were gone through already too; by one node after the other.
func TestEraseAgain(t *testing.T) {
	t.Parallel()
	worlds(t, 2, Config{CallTimeout: redistest.CallTimeout}, two, func(t *testing.T, w *world) {
		other := w.stores[1]
		w.write(other, "a", "u", 1)
		w.write(other, "b", "u", 1)
		before := must(other.Erase(t.Context(), "user", "u", Moderator{}))(t)
		var again Erasure
		var err error
		var claimed, still float64
		whileErasing(t, w.stores[0], 2, func() {
			w.write(other, "a", "u", 1)
			claimed = w.rdb.ZScore(t.Context(), other.keys.ErasureAgenda(), "user").Val()
			again, err = other.Erase(t.Context(), "user", "u", Moderator{})
			still = w.rdb.ZScore(t.Context(), other.keys.ErasureAgenda(), "user").Val()
		})
		w.stores = w.stores[:1]
		w.untilErased("user", "u")
		require.NoError(t, err)
		require.True(t, again.Began.After(before.Began))
		require.Positive(t, claimed)
		require.Equal(t, claimed, still, "nobody else is to go on with it meanwhile")
		e := must(other.Erasure(t.Context(), "user", "u"))(t)
		require.Equal(t, Erasure{Boards: 2, Removed: 1, Began: again.Began, Ended: e.Ended}, e)
		require.Empty(t, entriesOf(t, other, "a"))

		// One that has ended is begun again at once.
		w.write(other, "b", "u", 1)
		must(other.Erase(t.Context(), "user", "u", Moderator{}))(t)
		require.ErrorContains(t, w.erased("user", "u"), "still")
		w.untilErased("user", "u")
		require.Empty(t, entriesOf(t, other, "b"))
	})
}

// Where two nodes go on with one erasure, as one was too slow to keep it for itself, each
// board counts once, and all that was removed.
func TestEraseByTwo(t *testing.T) {
	t.Parallel()
	worlds(t, 2, Config{CallTimeout: redistest.CallTimeout}, two, func(t *testing.T, w *world) {
		slow, other := w.stores[0], w.stores[1]
		w.write(other, "a", "u", 1)
		w.write(other, "b", "u", 1)
		must(slow.Erase(t.Context(), "user", "u", Moderator{}))(t)
		var err error
		whileErasing(t, slow, 2, func() { err = other.eraseKind(t.Context(), "user") })
		w.stores = w.stores[:1]
		w.untilErased("user", "u")
		require.NoError(t, err)
		e := must(slow.Erasure(t.Context(), "user", "u"))(t)
		require.Equal(t, [2]int64{2, 2}, [2]int64{e.Boards, e.Removed})
	})
}

// What cannot be looked at is counted, and keeps nobody from the rest.
func TestEraseLeavesWhatIsOfAnotherShape(t *testing.T) {
	t.Parallel()
	worlds(t, 1, Config{CallTimeout: redistest.CallTimeout}, two, func(t *testing.T, w *world) {
		s := w.stores[0]
		w.write(s, "a", "u", 1)
		w.write(s, "b", "u", 1)
		require.NoError(t, w.rdb.HSet(t.Context(), keysOf(s, "a", "", "u").Meta, "shape", "another").Err())
		must(s.Erase(t.Context(), "user", "u", Moderator{}))(t)
		w.untilErased("user", "u")
		e := must(s.Erasure(t.Context(), "user", "u"))(t)
		require.Equal(t, [3]int64{2, 1, 1}, [3]int64{e.Boards, e.Removed, e.Left})
		require.Empty(t, entriesOf(t, s, "b"))
	})
}

func TestImpossibleErasuresAreRefused(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	refused(t, errorOf(s.Erase(t.Context(), "User", "u", Moderator{})), "kind")
	refused(t, errorOf(s.Erase(t.Context(), "user", "", Moderator{})), "member")
	require.ErrorIs(t, errorOf(s.Erasure(t.Context(), "user", "u")), definition.ErrUnknownMember)
}

// A board that is built, of others or of what is in its window, is built on when a member
// was erased from it.
func TestBuiltBoardsOutliveAnErasure(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "a", Kind: "user"}, {Name: "u", Kind: "user", Union: &definition.Union{Of: []string{"a"}}},
			{Name: "b", Kind: "user", Window: time.Hour}}
	}
	worlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		for _, board := range []string{"a", "b"} {
			w.write(s, board, "x", 5)
			w.write(s, board, "y", 5)
		}
		for _, board := range []string{"u", "b"} {
			require.Len(t, whole(t, s, board).Entries, 2)
		}
		must(s.Erase(context.Background(), "user", "x", Moderator{}))(t)
		w.untilErased("user", "x")
		for _, board := range []string{"u", "b"} {
			old(t, time.Hour, board, s)
			require.Equal(t, map[string]int64{"y": 5}, scoresOf(whole(t, s, board)), board)
			holder := s.rdb.Exists(t.Context(), s.keys.Build(board).Lock).Val()
			require.Zero(t, holder)
		}
	})
}
