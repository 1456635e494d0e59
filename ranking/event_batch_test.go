package ranking

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/batch"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// A board that Redis cannot write to fails the events that count on it, and not those behind them.
func TestBrokenBoardFailsNoOtherEvents(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		s := newNode(t, url)
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "fans:{star}"}}, Events: []definition.Event{
			{Name: "gift", Updates: []definition.Target{{Board: "fans:{star}", Member: "m", Score: "1"}}},
		}}))
		give := func(star string) error {
			h, err := s.ApplyEvents(context.Background(), "gift", []EventCall{{ID: star, Fields: map[string]jsontext.Value{"star": jsontext.Value(fmt.Sprintf("%q", star))}}})
			if err == nil {
				err = h[0].Err
			}
			return err
		}
		require.NoError(t, s.rdb.Set(t.Context(), s.keys.Board("fans:broken", "").Members, "x", 0).Err())
		call, began, release := s.events.Call, make(chan struct{}, 2), make(chan struct{})
		s.events.Call = func(ctx context.Context, event string, batch []*occurrence, sent func()) error {
			began <- struct{}{}
			<-release
			return call(ctx, event, batch, sent)
		}
		broken, whole := make(chan error, 1), make(chan error, 1)
		go func() { broken <- give("broken") }()
		<-began
		go func() { whole <- give("whole") }()
		redistest.Eventually(t, "the other event to wait", func() error {
			if s.events.Waiting("gift") != 1 {
				return fmt.Errorf("%d wait", s.events.Waiting("gift"))
			}
			return nil
		})
		close(release)
		require.ErrorIs(t, <-broken, ErrOutcomeUnknown)
		require.NoError(t, <-whole)
		require.EqualValues(t, 1, score(t, s, "fans:whole", "m"))
	})
}

// An occurrence of which an update has counted, or may have, never ends as if nothing had.
func TestFailureOfAnOccurrence(t *testing.T) {
	t.Parallel()
	refused, lost := Outcome{Err: ErrOutOfRange}, Outcome{Err: fmt.Errorf("%w: %w", ErrUnavailable, ErrOutcomeUnknown)}
	notSent, counted := Outcome{Err: ErrUnavailable}, Outcome{}
	for _, c := range []struct {
		outcomes []Outcome
		fails    bool
		unknown  bool
	}{
		{[]Outcome{counted, refused}, false, false},
		{[]Outcome{notSent, refused}, true, false},
		{[]Outcome{counted, notSent}, true, true},
		{[]Outcome{lost, notSent}, true, true},
		{[]Outcome{notSent, lost}, true, true},
	} {
		o := occurrence{result: EventResult{Outcomes: c.outcomes}}
		err := o.failure()
		if !c.fails {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrUnavailable)
		if c.unknown {
			require.ErrorIs(t, err, ErrOutcomeUnknown)
		} else {
			require.NotErrorIs(t, err, ErrOutcomeUnknown)
		}
	}
}

// The updates that one batch of occurrences makes on one board go in calls that hold Redis for a
// short time only.
func TestEventsOfOneBoardGoInSmallCalls(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Start(t).URL())
	define(t, s, definition.Board{Name: "a"})
	defineEvent(t, s, 1, "a")
	all := make([]EventCall, maxEventBatch)
	for i := range all {
		all[i] = occurrenceOf(fmt.Sprint(i))
	}
	apply(t, s, "a", definition.Update{Member: "m", Score: 1})
	calls := 0
	s.rdb.AddHook(&cutter{answered: func(sc string) {
		if sc == script.Apply(0).Name {
			calls++
		}
	}})
	_, err := s.ApplyEvents(t.Context(), "gift", all)
	require.NoError(t, err)
	require.Equal(t, maxEventBatch/batch.MaxWeight, calls)
	require.EqualValues(t, 3*len(all), score(t, s, "a", "u0"))
}
