package ranking

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// twoInFlight applies two updates, each in a batch of its own. It returns once both batches have their
// place on the connection. The function that it returns waits for the outcomes.
func twoInFlight(t *testing.T, s *Store, board string, first, second definition.Update) func() [2]error {
	redistest.Wait(t, "the end of s.updates", s.updates.Wait) // no call reads the fields now
	s.updates.Second = 1
	call, placed := s.updates.Call, make(chan struct{}, 2)
	s.updates.Call = func(ctx context.Context, board string, batch []updateItem, sent func()) error {
		return call(ctx, board, batch, func() { sent(); placed <- struct{}{} })
	}
	var errs [2]error
	var wg sync.WaitGroup
	for i, u := range []definition.Update{first, second} {
		wg.Go(func() {
			o, err := s.Apply(t.Context(), board, []definition.Update{u})
			if err == nil {
				err = o[0].Err
			}
			errs[i] = err
		})
		redistest.Receive(t, "a value from placed", placed)
	}
	return func() [2]error {
		redistest.Wait(t, "the callers of the test", wg.Wait)
		redistest.Wait(t, "the end of s.updates", s.updates.Wait)
		s.updates.Call = call
		return errs
	}
}

// A connection ends while two batches of a board are in flight: before either of them has its
// answer, before Redis has the second one, and after Redis has carried out both. Each update counts
// once after a retry with its id.
func TestConnectionEndsWithTwoBatchesInFlight(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	for round, c := range []struct {
		name    string
		hold    string // text of the command that the proxy keeps back, with all later ones
		cut     bool   // the proxy closes the connection in place of an answer
		counted int64  // points before the retry; -1: one of several values
	}{
		{"neither arrives", "first-", false, 0},
		{"the second does not arrive", "second-", false, 1},
		{"both answers are lost", "", true, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := redistest.StartProxy(t, r.URL())
			s, other := newNode(t, p.URL()), newNode(t, r.URL())
			board := fmt.Sprint("b", round)
			define(t, other, definition.Board{Name: board})
			apply(t, s, board, definition.Update{Member: "warm", Score: 1})
			if c.hold != "" {
				p.Hold(c.hold)
			}
			p.CutAnswers(c.cut)
			updates := [2]definition.Update{{Member: "m", Score: 1, ID: "first-" + board}, {Member: "m", Score: 10, ID: "second-" + board}}
			outcomes := twoInFlight(t, s, board, updates[0], updates[1])
			if c.hold != "" {
				redistest.Until(t, "the command to be kept back", func() bool { return p.Held() > 0 })
				p.Hold()
				p.Cut()
			}
			for i, err := range outcomes() {
				if err != nil {
					require.ErrorIs(t, err, definition.ErrUnavailable)
					require.ErrorIs(t, err, definition.ErrOutcomeUnknown)
				} else {
					require.True(t, i == 0 && c.hold == "second-", "an update without an answer")
				}
			}
			p.CutAnswers(false)
			for range 2 {
				for i := range updates {
					apply(t, s, board, updates[len(updates)-1-i])
				}
				require.EqualValues(t, 11, score(t, other, board, "m"))
			}
		})
	}
}

// Many callers send updates with ids while connections keep ending. After each has its outcome by
// retries, no update is lost and none has counted twice.
func TestNothingIsLostOrCountedTwiceWhileConnectionsEnd(t *testing.T) {
	t.Parallel()
	p := redistest.StartProxy(t, redistest.Start(t).URL())
	s := newNode(t, p.URL())
	s.updates.Second = 1
	define(t, s, definition.Board{Name: "b"})
	const callers, each = 16, 60
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for n := range each {
				u := definition.Update{Member: fmt.Sprint("m", caller%4), Score: 1, ID: fmt.Sprint(caller, "-", n)}
				if caller == 0 && n%6 == 0 {
					p.Cut()
				}
				redistest.Eventually(t, "an outcome", func() error {
					o, err := s.Apply(t.Context(), "b", []definition.Update{u})
					if err == nil {
						err = o[0].Err
					}
					return err
				})
			}
		})
	}
	redistest.Wait(t, "the callers of the test", wg.Wait)
	for m := range 4 {
		require.EqualValues(t, callers/4*each, score(t, s, "b", fmt.Sprint("m", m)))
	}
}

// Redis forgets its scripts while two batches are in flight.
func TestScriptsAreForgottenWithTwoBatchesInFlight(t *testing.T) {
	onNode(t, []definition.Board{{Name: "b"}}, func(t *testing.T, s *Store) {
		apply(t, s, "b", definition.Update{Member: "m", Score: 100})
		require.NoError(t, s.rdb.ScriptFlush(t.Context()).Err())
		outcomes := twoInFlight(t, s, "b", definition.Update{Member: "m", Score: 1, ID: "1"}, definition.Update{Member: "m", Score: 10, ID: "2"})
		for _, err := range outcomes() {
			require.NoError(t, err)
		}
		require.EqualValues(t, 111, score(t, s, "b", "m"))
	})
}

// A store that was idle while Redis started again answers the next write.
func TestRedisStartsAgainWhileTheStoreIsIdle(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := newNode(t, r.URL())
	define(t, s, definition.Board{Name: "b"})
	apply(t, s, "b", definition.Update{Member: "m", Score: 1})
	for range 2 {
		r.Kill()
		r.Start()
		apply(t, s, "b", definition.Update{Member: "m", Score: 1})
	}
	require.EqualValues(t, 3, score(t, s, "b", "m"))
}

// An update that Redis has not received is known not to be applied.
func TestUpdateThatIsNotSentHasAnOutcome(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := newNode(t, r.URL())
	define(t, s, definition.Board{Name: "b"})
	apply(t, s, "b", definition.Update{Member: "m", Score: 1})
	r.Kill()
	_, err := s.Apply(t.Context(), "b", []definition.Update{{Member: "m", Score: 1}})
	require.ErrorIs(t, err, definition.ErrUnavailable)
	require.NotErrorIs(t, err, definition.ErrOutcomeUnknown)
}

// One trip carries the scripts of several boards, known to Redis or not, and the error of one.
func TestScriptsShareATrip(t *testing.T) {
	onNode(t, []definition.Board{{Name: "a"}, {Name: "b"}}, func(t *testing.T, s *Store) {
		apply(t, s, "a", definition.Update{Member: "m", Score: 1})
		apply(t, s, "b", definition.Update{Member: "m", Score: 2})
		var trips []int // the number of commands of each trip
		s.rdb.AddHook(redistest.Hook(func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
			trips = append(trips, len(cmds))
			return send(ctx, cmds)
		}))
		page := func(board string, args ...any) script.Call {
			k := s.keys.Board(board, "")
			return script.Call{Script: script.Info, Keys: []string{k.Members, k.Meta, k.Data, k.Distinct}, Args: args}
		}
		require.NoError(t, s.rdb.ScriptFlush(t.Context()).Err())
		for _, want := range [][]int{{3, 3}, {3}} {
			trips = nil
			replies := script.Send(t.Context(), s.rdb, nil, page("a"),
				script.Call{Script: script.ApplyPlain, Keys: []string{s.keys.Board("a", "").Meta}}, page("b"))
			require.NoError(t, replies[0].Err)
			require.ErrorIs(t, replies[1].Err, definition.ErrUnavailable)
			require.NoError(t, replies[2].Err)
			require.NotEqual(t, replies[0].Rest, replies[2].Rest)
			require.Equal(t, want, trips)
			knows(t, s, script.ApplyPlain) // the embedded store forgets the source of a call that failed
		}
	})
}
