package ranking

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

// A member is erased from all boards of its kind, in all periods, also where it is
// hidden; from no other kind's; and it is told how many these were.
func TestErase(t *testing.T) {
	boards := func(time.Time) []Definition {
		return []Definition{
			{Board: "week", Period: "week", Kind: "user"}, {Board: "fans:{star}", Kind: "user", Ties: Dense, MemberTTL: time.Hour * 1000},
			{Board: "hot", Kind: "user", Mode: Best, Limit: 5}, {Board: "stars", Kind: "star"},
		}
	}
	worlds(t, 2, Config{}, boards, func(t *testing.T, w *world) {
		s, removed := w.stores[0], int64(sweepPage+53+2)
		for i := range sweepPage + 53 {
			w.write(s, fmt.Sprint("fans:", i), "u", 5)
		}
		for _, b := range []string{"week", "hot", "stars"} {
			apply(t, s, b, Update{Member: "v", Score: 3})
			apply(t, s, b, Update{Member: "u", Score: 3, Data: `{"city":"Bonn"}`})
		}
		require.NoError(t, s.Hide(t.Context(), "hot", "u", Moderator{}))
		if w.set != nil {
			w.pass(7 * 24 * time.Hour)
			w.tend()
			w.write(s, "week", "u", 1)
			removed++
		}
		e, err := s.Erase(t.Context(), "user", "u", Moderator{Reason: "asked to be forgotten"})
		require.NoError(t, err)
		require.True(t, e.Ended.IsZero())
		w.until("the erasure", func() error { return w.erased("user", "u") })
		e, err = w.stores[1].Erasure(t.Context(), "user", "u")
		require.NoError(t, err)
		require.EqualValues(t, sweepPage+53+2, e.Boards)
		require.Equal(t, removed, e.Removed)
		require.False(t, e.Ended.Before(e.Began))
		require.Equal(t, []string{"v 3 #1"}, entriesOf(t, s, "hot"))
		require.Equal(t, []string{"v 3 #1", "u 3 #2"}, entriesOf(t, s, "stars"))
		require.Empty(t, entriesOf(t, s, "fans:7"))
		if w.set != nil {
			require.Equal(t, []string{"v 3 #1"}, entriesOf(t, s, "week@-1"))
		}
		for _, key := range w.allKeys() {
			kind, err := w.rdb.Type(t.Context(), key).Result()
			require.NoError(t, err)
			switch kind {
			case "zset":
				if key == (keys{"rc"}).board("stars", "").members {
					continue
				}
				require.Error(t, w.rdb.ZScore(t.Context(), key, "u").Err(), key)
			case "hash":
				if key != (keys{"rc"}).board("stars", "").data {
					require.Error(t, w.rdb.HGet(t.Context(), key, "u").Err(), key)
				}
			}
		}
		// It is told for a day, and then nothing is left of it.
		if w.set != nil {
			w.pass(erasureKept + time.Second)
			w.until("the report to go", func() error {
				if _, err := s.Erasure(t.Context(), "user", "u"); !errors.Is(err, ErrUnknownMember) {
					return fmt.Errorf("it is still there: %v", err)
				}
				return nil
			})
		}
	})
}

// An erasure whose node goes in the middle is ended by another.
func TestEraseGoesOn(t *testing.T) {
	w := simulated(t, 1, Config{}, Definition{Board: "fans:{star}", Kind: "user"})
	s := w.stores[0]
	const instances = 2*sweepPage + 10
	for i := range instances {
		w.write(s, fmt.Sprintf("fans:%04d", i), "u", 5)
	}
	_, err := s.Erase(t.Context(), "user", "u", Moderator{})
	require.NoError(t, err)
	erased := 0
	s.rdb.AddHook(&cutter{fate: func(script string) fate {
		if script != eraseScript.name {
			return passes
		}
		if erased++; erased > sweepPage+sweepPage/2 {
			return isLost
		}
		return passes
	}})
	for err = nil; err == nil && w.erased("user", "u") != nil; { // a slow machine may take several steps
		w.pass(time.Second)
		err = w.tryTend()
	}
	require.Error(t, err)
	w.stores = nil
	w.store(patient)
	w.until("the erasure", func() error { return w.erased("user", "u") })
	e, err := w.stores[0].Erasure(t.Context(), "user", "u")
	require.NoError(t, err)
	require.EqualValues(t, instances, e.Boards)
	for i := range instances {
		require.Zero(t, w.total(fmt.Sprintf("fans:%04d", i)))
	}
}

func TestImpossibleErasuresAreRefused(t *testing.T) {
	s := newNode(t, redistest.Embedded(t))
	_, err := s.Erase(t.Context(), "User", "u", Moderator{})
	refused(t, err, "kind")
	_, err = s.Erase(t.Context(), "user", "", Moderator{})
	refused(t, err, "member")
	_, err = s.Erasure(t.Context(), "user", "u")
	require.ErrorIs(t, err, ErrUnknownMember)
}
