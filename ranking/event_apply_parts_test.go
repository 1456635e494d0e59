package ranking

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/batch"
	"rankcast/ranking/redistest"
)

// defineEvent has an event give {n} to so many members of each of the boards named.
func defineEvent(t testing.TB, s *Store, members int, boards ...string) {
	t.Helper()
	e := definition.Event{Name: "gift"}
	for _, board := range boards {
		for i := range members {
			e.Updates = append(e.Updates, definition.Target{Board: board, Member: fmt.Sprintf("{user}%d", i), Score: "{n}"})
		}
	}
	require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{e}}))
}

func occurrence(id string) EventCall {
	return EventCall{ID: id, Fields: map[string]jsontext.Value{"user": jsontext.Value(`"u"`), "n": jsontext.Value("3")}}
}

// An event that has come to make other updates by the time of a retry adds those, and
// repeats none of what has counted.
func TestRetryOfAnEventThatWasRedefined(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		s := newNode(t, url)
		define(t, s, definition.Board{Name: "a"}, definition.Board{Name: "b"}, definition.Board{Name: "c"})
		for _, boards := range [][]string{{"a", "b"}, {"c", "a", "b"}, {"b", "a"}} {
			defineEvent(t, s, 2, boards...)
			h, err := s.ApplyEvents(t.Context(), "gift", []EventCall{occurrence("1")})
			require.NoError(t, err)
			require.NoError(t, h[0].Err)
			for i, o := range h[0].Outcomes {
				require.NoError(t, o.Err)
				u := h[0].Updates[i]
				require.EqualValues(t, 3, score(t, s, u.Board, u.Update.Member), "%s by %q", u.Board, boards)
			}
		}
	})
}

// A batch of events that comes to more than one call may carry out is refused whole; what
// may be is carried out also where it is all of one board.
func TestLargeBatchOfEvents(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Clocked(t)
	s := newNode(t, url)
	define(t, s, definition.Board{Name: "a"})
	const members = 8
	defineEvent(t, s, members, "a")
	all := make([]EventCall, MaxEventUpdates/members)
	for i := range all {
		all[i] = occurrence(fmt.Sprint(i))
	}
	_, err := s.ApplyEvents(t.Context(), "gift", append(all, occurrence("more")))
	require.ErrorIs(t, err, ErrTooLarge)
	h, err := s.ApplyEvents(t.Context(), "gift", all)
	require.NoError(t, err)
	for _, h := range h {
		require.NoError(t, h.Err)
	}
	require.EqualValues(t, 3*len(all), score(t, s, "a", "u7"))
}

// Where one board of an event takes no more updates for now and another has counted,
// nobody is told that nothing was written.
func TestEventOfABoardThatIsOverloaded(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Clocked(t)
	s := newNode(t, url)
	define(t, s, definition.Board{Name: "a"}, definition.Board{Name: "b"})
	defineEvent(t, s, 1, "a", "b")
	call, release := s.updates.Call, make(chan struct{})
	s.updates.Call = func(ctx context.Context, board string, batch []updateItem, sent func()) error {
		if board == "b" {
			<-release
		}
		return call(ctx, board, batch, sent)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(release)
	for _, n := range []int{batch.MaxWaiting, batch.MaxItems} { // a batch is under way, and as many wait as may
		wg.Go(func() {
			s.commitUpdates(context.Background(), "b", slices.Repeat([]write{{Update: definition.Update{Member: "m"}}}, n))
		})
		redistest.Eventually(t, "them to wait", func() error {
			if waiting := s.updates.Waiting("b"); waiting != batch.MaxWaiting-batch.MaxItems+n%batch.MaxWaiting {
				return fmt.Errorf("%d wait", waiting)
			}
			return nil
		})
	}
	_, err := s.ApplyEvents(t.Context(), "gift", []EventCall{occurrence("1")})
	require.ErrorIs(t, err, ErrOverloaded)
	require.ErrorIs(t, err, ErrOutcomeUnknown)
	require.EqualValues(t, 3, score(t, s, "a", "u0"))
}
