package ranking

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// storeOfBoard is a store with the board "b".
func storeOfBoard(t *testing.T, url string) *Store {
	s := newNode(t, url)
	require.NoError(t, s.DefineBoard(t.Context(), definition.Board{Name: "b"}, Moderator{}))
	return s
}

// While another caller has the turn, a large page waits. A small page and the page of a view do not.
func TestLargePageWaitsForItsTurn(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, ctx := storeOfBoard(t, url), t.Context()
		require.NoError(t, s.inTurn(ctx, func() error {
			short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			_, err := s.Read(short, "b", Query{Limit: 101})
			require.ErrorIs(t, err, definition.ErrUnavailable)
			for _, err := range s.Export(short, "b") {
				require.ErrorIs(t, err, definition.ErrUnavailable)
			}
			_, small := s.Read(ctx, "b", Query{Limit: 100})
			_, view := s.Page(ctx, "b", 1, 1000)
			return errors.Join(small, view)
		}))
		must(s.Read(ctx, "b", Query{Limit: 101}))(t)
	})
}

// A list of many periods waits for its turn, and a short one does not.
func TestManyPeriodsWaitForTheirTurn(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, ctx := storeOfBoard(t, url), t.Context()
		base := time.Now().UTC().Truncate(time.Hour).Add(-200 * time.Hour)
		for name, periods := range map[string]int{"few": 100, "many": 101} {
			require.NoError(t, s.DefineBoard(ctx, definition.Board{Name: name, Period: "36h", Base: base, Keep: new(1000)}, Moderator{}))
			for i := range periods - 1 { // the present one is in the list in any case
				opens := base.Add(time.Duration(i) * time.Minute)
				record := fmt.Sprint(opens.UnixMicro(), " ", opens.Add(time.Minute).UnixMicro())
				require.NoError(t, s.rdb.HSet(ctx, keysOf(s, name, "", "m").Periods, fmt.Sprint("period", i), record).Err())
			}
		}
		require.NoError(t, s.inTurn(ctx, func() error {
			short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			require.ErrorIs(t, errorOf(s.Periods(short, "many")), definition.ErrUnavailable)
			list, err := s.Periods(ctx, "few")
			require.Len(t, list, 100)
			return err
		}))
		require.Len(t, must(s.Periods(ctx, "many"))(t), 101)
	})
}

// A large page of a board whose result another node is building does not have the turn.
func TestUnbuiltBoardHasNoTurn(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := storeOfBoard(t, url)
		require.NoError(t, s.DefineBoard(t.Context(), definition.Board{Name: "u", Union: &definition.Union{Of: []string{"b"}}}, Moderator{}))
		must(s.Apply(t.Context(), "b", []definition.Update{{Member: "m", Score: 1}}))(t)
		ctx, giveUp := context.WithCancel(t.Context())
		another := New(s.rdb, patient)
		t.Cleanup(another.Close)
		holds(t, another, "u", 0)
		held := make(chan struct{})
		release := sync.OnceFunc(func() { close(held) })
		defer release()
		s.rdb.AddHook(&cutter{fate: func(sc string) fate {
			if sc == script.Hold.Name {
				<-held
			}
			return passes
		}})
		var waiting sync.WaitGroup
		for _, read := range []func() error{
			func() error { return errorOf(s.Read(ctx, "u", Query{Limit: 200})) },
			func() error {
				for _, err := range s.Export(ctx, "u") {
					return err
				}
				return nil
			},
		} {
			waiting.Go(func() { require.ErrorIs(t, read(), definition.ErrNotBuilt) })
		}
		redistest.Until(t, "both readers to wait for the result", func() bool {
			s.builds.mu.Lock()
			defer s.builds.mu.Unlock()
			b := s.builds.under["u"]
			return b != nil && b.waiting >= 2
		})
		release()
		must(s.Read(t.Context(), "b", Query{Limit: 200}))(t)
		_, err := s.Page(WithoutBuilds(t.Context()), "u", 1, 10)
		require.ErrorIs(t, err, definition.ErrNotBuilt, "at once: the test has a minute")
		giveUp()
		redistest.Wait(t, "the end of waiting", waiting.Wait)
	})
}

// Any number of exports has one page under way.
func TestExportsTakeTurns(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, ctx := storeOfBoard(t, url), t.Context()
		members := redistest.Volume(url, 10*exportPage)
		applyScores(t, s, "b", members, func(i int) int64 { return int64(i) })
		var now, most atomic.Int64 // scripts about the board that are under way
		s.rdb.AddHook(redistest.Hook(func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
			if args := cmds[0].Args(); len(cmds) == 1 && len(args) > 3 && args[3] == "rc:{b}::z" {
				n := now.Add(1)
				defer now.Add(-1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
			}
			return send(ctx, cmds)
		}))
		var exports sync.WaitGroup
		for range 10 {
			exports.Go(func() {
				entries := 0
				for page, err := range s.Export(ctx, "b") {
					if err != nil {
						t.Error(err)
						return
					}
					entries += len(page.Entries)
				}
				if entries != members {
					t.Errorf("an export has %d entries; want %d", entries, members)
				}
			})
		}
		redistest.Wait(t, "the end of exports", exports.Wait)
		require.EqualValues(t, 1, most.Load())
	})
}

// waitingCaller is a context that says when a read in it waits for its turn.
type waitingCaller struct {
	context.Context
	waits func()
}

func (w waitingCaller) Value(key any) any {
	if key == (callerKey{}) {
		w.waits()
	}
	return w.Context.Value(key)
}
