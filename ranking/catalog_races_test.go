package ranking

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// before has something happen once, before a script of s goes out.
func before(s *Store, sc script.Script, what func()) {
	var done atomic.Bool
	s.rdb.AddHook(&cutter{fate: func(name string) fate {
		if name == sc.Name && !done.Swap(true) {
			what()
		}
		return passes
	}})
}

// What another node defines between the look and the change is minded.
func TestDefinitionBetweenLookAndChange(t *testing.T) {
	onTwoNodes(t, nil, func(t *testing.T, a, b *Store) {
		before(a, script.Define, func() { define(t, b, definition.Board{Name: "fans:{user}"}) })
		err := a.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "fans:{star}"}}})
		require.ErrorIs(t, err, ErrConflict)
		boards := must(a.Boards(t.Context()))(t)
		require.Len(t, boards, 1)
		require.Equal(t, "fans:{user}", boards[0].Name)
	})
}

// What is written between the look and the change is minded.
func TestWriteBetweenLookAndChange(t *testing.T) {
	onTwoNodes(t, []definition.Board{{Name: "b"}}, func(t *testing.T, a, b *Store) {
		before(a, script.Define, func() { apply(t, b, "b", definition.Update{Member: "m", Score: 3}) })
		err := a.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b", Order: definition.Asc}}})
		require.ErrorIs(t, err, ErrConflict)
		require.EqualValues(t, 3, score(t, a, "b", "m"))
	})
}

// A change that lands between a first write's look and its call is minded too.
func TestChangeBetweenLookAndWrite(t *testing.T) {
	onEngines(t, func(t *testing.T, url string) {
		for _, sc := range []script.Script{script.ApplyPlain, script.List} {
			a, b := newNode(t, url), newNode(t, url)
			board := "b-" + sc.Name
			define(t, a, definition.Board{Name: board})
			before(a, sc, func() { define(t, b, definition.Board{Name: board, Order: definition.Asc}) })
			apply(t, a, board, definition.Update{Member: "m", Score: 3})
			z := a.rdb.ZRangeWithScores(t.Context(), a.keys.Board(board, "").Members, 0, -1).Val()
			require.Positive(t, z[0].Score)
			err := a.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: board}}})
			require.ErrorIs(t, err, ErrConflict)
		}
	})
}

// Whoever has defined something can use it at once, although others look meanwhile.
func TestDefinerKnowsWhatHeDefined(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	before(s, script.Define, func() {
		must(s.catalog.readFresh(t.Context()))(t)
	})
	define(t, s, definition.Board{Name: "b"})
	require.Contains(t, s.catalog.latest.Load().boards, "b/0")
}

// A look that was under way is none for who asks after that what there is.
func TestLookThatIsUnderWay(t *testing.T) {
	t.Parallel()
	url := redistest.Embedded(t)
	synctest.Test(t, func(t *testing.T) {
		a, b := newNode(t, url), newNode(t, url)
		must(b.catalog.readFresh(t.Context()))(t)
		hold := make(chan struct{})
		var held atomic.Bool
		b.rdb.AddHook(&cutter{answered: func(string) {
			if !held.Swap(true) {
				<-hold
			}
		}})
		var first, second *definitions
		go func() { first, _ = b.catalog.readFresh(context.Background()) }()
		synctest.Wait()
		define(t, a, definition.Board{Name: "b"})
		go func() { second, _ = b.catalog.readFresh(context.Background()) }()
		synctest.Wait()
		close(hold)
		synctest.Wait()
		require.NotContains(t, first.boards, "b/0")
		require.Contains(t, second.boards, "b/0")
		require.Same(t, second, b.catalog.latest.Load())
	})
}

// Names that there are not cost Redis little, however many come.
func TestUnknownNamesAreLookedUpInGoodTime(t *testing.T) {
	t.Parallel()
	url := redistest.Embedded(t)
	synctest.Test(t, func(t *testing.T) {
		s := newNode(t, url)
		define(t, s, definition.Board{Name: "b"})
		var looks atomic.Int64
		s.rdb.AddHook(&cutter{answered: func(string) { looks.Add(1) }})
		start := time.Now()
		for i := range 50 {
			took, errs := together(20, func() error { return errorOf(s.Board(t.Context(), fmt.Sprint("x", i))) })
			for _, err := range errs {
				require.ErrorIs(t, err, ErrUnknownBoard)
			}
			most, _ := longest(took)
			require.LessOrEqual(t, most, lookSoon)
		}
		require.LessOrEqual(t, looks.Load(), 1+int64(time.Since(start)/lookSoon))
		states := s.States(t.Context(), []string{"x1", "x2", "b@-7", "b"})
		require.Equal(t, append(make([]BoardState, 3), BoardState{Kind: "member"}), states, "no one waits for boards that have gone")
	})
}
