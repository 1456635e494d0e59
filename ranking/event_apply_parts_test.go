package ranking

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/batch"
	"rankcast/ranking/redistest"
)

// An event that has come to make other updates by the time of a retry adds those, and
// repeats none of what has counted.
func TestRetryOfAnEventThatWasRedefined(t *testing.T) {
	onNode(t, []definition.Board{{Name: "a"}, {Name: "b"}, {Name: "c"}}, func(t *testing.T, s *Store) {
		for _, boards := range [][]string{{"a", "b"}, {"c", "a", "b"}, {"b", "a"}} {
			defineEvent(t, s, 2, boards...)
			h := must(s.ApplyEvents(t.Context(), "gift", []EventCall{occurrenceOf("1")}))(t)
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
		all[i] = occurrenceOf(fmt.Sprint(i))
	}
	require.ErrorIs(t, errorOf(s.ApplyEvents(t.Context(), "gift", append(all, occurrenceOf("more")))), ErrTooLarge)
	for _, h := range must(s.ApplyEvents(t.Context(), "gift", all))(t) {
		require.NoError(t, h.Err)
	}
	require.EqualValues(t, 3*len(all), score(t, s, "a", "u7"))
}

// Where no more occurrences of an event may wait, an occurrence changes nothing.
func TestEventThatIsOverloaded(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	define(t, s, definition.Board{Name: "a"})
	const members = 8
	defineEvent(t, s, members, "a")
	apply(t, s, "a", definition.Update{Member: "u0", Score: 1})
	call, release := s.events.Call, make(chan struct{})
	s.events.Call = func(ctx context.Context, event string, batch []*occurrence, sent func()) error {
		<-release
		return call(ctx, event, batch, sent)
	}
	var wg sync.WaitGroup
	many := func(of string, n int) []EventCall {
		all := make([]EventCall, n)
		for i := range all {
			all[i] = occurrenceOf(fmt.Sprint(of, i))
		}
		return all
	}
	for n := 1; n <= batch.MaxWaiting/MaxEventUpdates; n++ {
		wg.Go(func() {
			must(s.ApplyEvents(context.Background(), "gift", many(fmt.Sprint(n, " "), MaxEventUpdates/members)))(t)
		})
		redistest.Eventually(t, "them to wait", func() error {
			if waiting := s.events.Waiting("gift"); waiting != n*MaxEventUpdates-maxEventBatch {
				return fmt.Errorf("%d updates wait", waiting)
			}
			return nil
		})
	}
	_, err := s.ApplyEvents(t.Context(), "gift", many("refused ", maxEventBatch/members+1))
	require.ErrorIs(t, err, ErrOverloaded)
	require.NotErrorIs(t, err, ErrOutcomeUnknown)
	close(release)
	redistest.Wait(t, "the callers of the test", wg.Wait)
	require.EqualValues(t, 1+3*batch.MaxWaiting/members, score(t, s, "a", "u0"))
}
