package ranking

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/profiles"
	"rankcast/ranking/redistest"
)

// silence is a hook that has Redis answer nothing, while it is on: calls end with
// their contexts.
type silence struct {
	on    atomic.Bool
	calls atomic.Int64
}

func (s *silence) pass(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
	if !s.on.Load() {
		return send(ctx, cmds)
	}
	s.calls.Add(1)
	<-ctx.Done()
	for _, cmd := range cmds {
		cmd.SetErr(ctx.Err())
	}
	return ctx.Err()
}

// silenced is a store with such a hook.
func silenced(t *testing.T, url string, cfg Config) (*Store, *silence) {
	s, hook := New(redistest.Dial(t, url), cfg), new(silence)
	s.rdb.AddHook(redistest.Hook(hook.pass))
	return s, hook
}

// While Redis does not answer a name is still understood by the copy that there is.
// One caller in a second waits for a look, for a call timeout at most, and the others
// wait for nothing.
func TestSilentRedisHoldsUpFew(t *testing.T) {
	t.Parallel()
	url := redistest.Embedded(t)
	synctest.Test(t, func(t *testing.T) {
		s, hook := silenced(t, url, Config{})
		define(t, s, definition.Board{Name: "b", Mode: definition.Best})
		known := func() error {
			b, err := s.Board(t.Context(), "b")
			if err == nil && b.Definition.Mode != definition.Best {
				err = errors.New("is not as it was defined")
			}
			return err
		}
		// all makes callers read at one time, and requires that each succeeds.
		all := func(callers int) (most time.Duration, waited int) {
			took, errs := together(callers, known)
			require.NoError(t, errors.Join(errs...))
			return longest(took)
		}
		hook.on.Store(true)
		// In use all the time.
		for range 20 {
			most, waited := all(10)
			require.LessOrEqual(t, most, s.cfg.CallTimeout)
			require.LessOrEqual(t, waited, 1)
			time.Sleep(300 * time.Millisecond)
		}
		// After a long rest.
		hook.on.Store(false)
		require.NoError(t, known())
		time.Sleep(time.Hour)
		hook.on.Store(true)
		most, _ := all(100)
		require.Equal(t, s.cfg.CallTimeout, most, "not one after the other")
		most, _ = all(100)
		require.Zero(t, most, "it has just failed")
		time.Sleep(lookAgain)
		most, waited := all(100)
		require.Equal(t, s.cfg.CallTimeout, most)
		require.Equal(t, 1, waited)

		time.Sleep(time.Hour)
		hook.on.Store(false)
		calls := hook.calls.Load()
		most, _ = all(100)
		require.Zero(t, most)
		require.Equal(t, calls, hook.calls.Load())
	})
}

// A caller whose write Redis does not answer waits for one call timeout, however old the
// definitions are: not for a read of them and then for the script.
func TestSilentRedisHoldsUpAWriteForOneTimeout(t *testing.T) {
	t.Parallel()
	url := redistest.Embedded(t)
	synctest.Test(t, func(t *testing.T) {
		s, hook := silenced(t, url, Config{})
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b"}},
			Events: []definition.Event{{Name: "e", Updates: []definition.Target{{Board: "b", Member: "m", Score: "1"}}}}}))
		for _, write := range []func() error{
			func() error { return errorOf(s.Apply(t.Context(), "b", []definition.Update{{Member: "m", ID: "1"}})) },
			func() error { return errorOf(s.Remove(t.Context(), "b", "m")) },
			func() error { return errorOf(s.ApplyEvents(t.Context(), "e", []EventCall{{ID: "1"}})) },
			func() error { return errorOf(s.ApplyEvents(t.Context(), "e", []EventCall{{}})) },
		} {
			for _, rest := range []time.Duration{0, lookAgain, lease, time.Hour} {
				hook.on.Store(false)
				_, err := s.catalog.readFresh(t.Context())
				require.NoError(t, err)
				time.Sleep(rest)
				hook.on.Store(true)
				took, errs := together(10, write)
				most, _ := longest(took)
				require.Equal(t, s.cfg.CallTimeout, most, "after a rest of %v", rest)
				for _, err := range errs {
					require.ErrorIs(t, err, definition.ErrUnavailable)
				}
				synctest.Wait()
			}
		}
	})
}

// While Redis does not answer, profiles that are known are shown, and of those who want
// others one in a while waits for a call timeout.
func TestSilentRedisTakesNoKnownProfilesAwayAndHoldsUpFew(t *testing.T) {
	t.Parallel()
	url := redistest.Embedded(t)
	synctest.Test(t, func(t *testing.T) {
		s, hook := silenced(t, url, Config{ProfileAge: time.Hour})
		ann := map[string]Profile{"a": {Name: "Ann"}}
		must(s.SetProfile(t.Context(), "user", "a", ann["a"]))(t)
		read := func() error {
			found, err := s.Profiles(t.Context(), "user", []string{"a", rand.Text()})
			require.Equal(t, ann, found)
			return err
		}
		require.NoError(t, read())
		hook.on.Store(true)
		require.ErrorIs(t, read(), definition.ErrUnavailable)
		for range 3 {
			took, errs := together(20, read)
			for _, err := range errs {
				require.ErrorIs(t, err, definition.ErrUnavailable)
			}
			_, waited := longest(took)
			require.LessOrEqual(t, waited, 1)
			time.Sleep(profiles.Pause - time.Millisecond)
			took, _ = together(20, read)
			_, waited = longest(took)
			require.LessOrEqual(t, waited, 1)
			time.Sleep(time.Millisecond)
			calls := hook.calls.Load()
			took, _ = together(20, read)
			most, _ := longest(took)
			require.LessOrEqual(t, most, 2*s.cfg.CallTimeout)
			require.LessOrEqual(t, hook.calls.Load()-calls, int64(2), "for definitions, and for profiles")
		}
		hook.on.Store(false)
		time.Sleep(profiles.Pause)
		require.NoError(t, read())
		require.NoError(t, read())

		hook.on.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, errorOf(s.Profiles(ctx, "user", []string{rand.Text()})), definition.ErrUnavailable)
		hook.on.Store(false)
		require.NoError(t, read(), "a caller that gives up says nothing of Redis")

		hook.on.Store(true)
		require.ErrorIs(t, read(), definition.ErrUnavailable)
		hook.on.Store(false)
		s.ForgetProfiles()
		must(s.Profiles(t.Context(), "user", []string{"a"}))(t, "the feed is up again")
	})
}

// A node that knows nothing yet waits for one look, however many ask, and a caller who
// has less time waits for no longer.
func TestSilentRedisFromTheStart(t *testing.T) {
	t.Parallel()
	url := redistest.Embedded(t)
	synctest.Test(t, func(t *testing.T) {
		s, hook := silenced(t, url, Config{})
		hook.on.Store(true)
		for _, call := range []func(context.Context) error{
			func(ctx context.Context) error { return errorOf(s.Page(ctx, "b", 1, 1)) },
			func(ctx context.Context) error { return errorOf(s.Apply(ctx, "b", []definition.Update{{Member: "m"}})) },
			func(ctx context.Context) error { return errorOf(s.ApplyEvents(ctx, "b", []EventCall{{}})) },
			func(ctx context.Context) error { return errorOf(s.Boards(ctx)) },
			func(ctx context.Context) error { return s.States(ctx, []string{"b"})[0].Err },
			func(ctx context.Context) error {
				return s.Define(ctx, definition.Set{Boards: []definition.Board{{Name: "b"}}})
			},
		} {
			before := hook.calls.Load()
			took, errs := together(20, func() error { return call(t.Context()) })
			for _, err := range errs {
				require.ErrorIs(t, err, definition.ErrUnavailable)
			}
			most, _ := longest(took)
			require.LessOrEqual(t, most, defineTimeout, "defining goes one by one")
			if hook.calls.Load()-before == 1 {
				require.Equal(t, s.cfg.CallTimeout, most)
			}
			synctest.Wait() // a call that comes at the very end of a look shares its failure
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			start := time.Now()
			require.ErrorIs(t, call(ctx), definition.ErrUnavailable)
			require.Equal(t, 100*time.Millisecond, time.Since(start))
			cancel()
			synctest.Wait()
			time.Sleep(s.cfg.CallTimeout) // the look ends by itself
		}
		b := must(s.Board(t.Context(), "b"))(t, "each name is taken for a board")
		require.Equal(t, Board{Name: "b", Instance: "b"}, b)
		require.ErrorIs(t, errorOf(s.Board(t.Context(), "B")), definition.ErrInvalid)
	})
}

// One that gives up takes nobody else's look along.
func TestLookOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	url := redistest.Embedded(t)
	synctest.Test(t, func(t *testing.T) {
		define(t, newNode(t, url), definition.Board{Name: "b"})
		s := newNode(t, url)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.catalog.readNewer(ctx, nil)
		if err != nil { // or it was quicker
			require.ErrorIs(t, err, definition.ErrUnavailable)
		}
		d := must(s.catalog.readNewer(t.Context(), nil))(t)
		require.EqualValues(t, 1, d.look, "it is that look")
		require.Contains(t, d.boards, "b/0")
	})
}

// With Redis gone reads and writes say so, nothing is forgotten, and all goes on when
// it is back.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := newNode(t, r.URL())
	require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b"}, {Name: "fans:{x}"}},
		Events: []definition.Event{{Name: "e", Updates: []definition.Target{{Board: "b", Member: "m", Score: "1"}}}}}))
	apply(t, s, "b", definition.Update{Member: "m", Score: 3})
	r.Kill()
	for _, age := range []time.Duration{0, lookAgain, lease} {
		aged(s, age)
		require.ErrorIs(t, errorOf(s.Page(t.Context(), "b", 1, 1)), definition.ErrUnavailable)
		require.ErrorIs(t, errorOf(s.Info(t.Context(), "b")), definition.ErrUnavailable)
		require.ErrorIs(t, errorOf(s.Places(t.Context(), "b", []Lookup{{Member: "m"}})), definition.ErrUnavailable)
		require.ErrorIs(t, errorOf(s.Instances(t.Context(), "fans:{x}", "", 1)), definition.ErrUnavailable)
		_, err := s.Apply(t.Context(), "b", []definition.Update{{Member: "m", Score: 1, ID: "1"}})
		require.ErrorIs(t, err, definition.ErrUnavailable)
		require.ErrorIs(t, errorOf(s.ApplyEvents(t.Context(), "e", []EventCall{{}})), definition.ErrUnavailable)
		require.ErrorIs(t, s.States(t.Context(), []string{"b"})[0].Err, definition.ErrUnavailable)
		require.ErrorIs(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "c"}}}), definition.ErrUnavailable)
		require.ErrorIs(t, s.Delete(t.Context(), "b", Moderator{}), definition.ErrUnavailable)
		require.Equal(t, definition.Sum, must(s.Board(t.Context(), "b"))(t).Definition.Mode)
		require.ErrorIs(t, errorOf(s.Board(t.Context(), "c")), definition.ErrUnavailable, "who knows what was defined meanwhile")
	}
	r.Start()
	redistest.Eventually(t, "the client to try Redis again", func() error { return s.Ping(t.Context()) })
	require.EqualValues(t, 4, apply(t, s, "b", definition.Update{Member: "m", Score: 1, ID: "1"}).Result.Current.Score)
	require.EqualValues(t, 4, score(t, s, "b", "m"))
}
