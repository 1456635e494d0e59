package ranking

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// gate is a hook that holds each command of a client until the test lets it pass, or ends the client.
type gate struct {
	waits chan struct{} // a command waits
	goes  chan error    // the answer to it: nil, or the error of this and all further commands
	ended error
}

func newGate(rdb redis.UniversalClient) *gate {
	g := &gate{waits: make(chan struct{}), goes: make(chan error)}
	rdb.AddHook(g)
	return g
}

func (g *gate) pass() error {
	if g.ended != nil {
		return g.ended
	}
	g.waits <- struct{}{}
	g.ended = <-g.goes
	return g.ended
}

func (g *gate) DialHook(next redis.DialHook) redis.DialHook { return next }

func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := g.pass(); err != nil {
			cmd.SetErr(err)
			return err
		}
		return next(ctx, cmd)
	}
}

func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := g.pass(); err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		return next(ctx, cmds)
	}
}

var errKilled = errors.New("killed on purpose")

// stepper is one of several callers that go on step by step.
type stepper struct {
	gate  *gate
	do    func() error
	done  chan error
	ended bool
	err   error
	steps int
}

func (p *stepper) begin() {
	p.done, p.ended, p.err, p.steps, p.gate.ended = make(chan error, 1), false, nil, 0, nil
	go func() { p.done <- p.do() }()
	p.settle()
}

// settle waits until the caller waits for its next step, or has ended.
func (p *stepper) settle() {
	select {
	case <-p.gate.waits:
	case p.err = <-p.done:
		p.ended = true
	}
}

// step lets the caller take a step, or kills it for an error.
func (p *stepper) step(err error) {
	p.steps++
	p.gate.goes <- err
	p.settle()
}

// orders calls run for each order in which callers can take their steps. run takes the choices of callers up to some
// point, lets the first caller go on after it, and returns all choices: of how many, and which.
func orders(run func(choices []int) (of, chosen []int)) (runs int) {
	next := []int{}
	for {
		of, chosen := run(next)
		runs++
		last := len(chosen) - 1
		for last >= 0 && chosen[last] == of[last]-1 {
			last--
		}
		if last < 0 {
			return runs
		}
		next = append(chosen[:last:last], chosen[last]+1)
	}
}

// Two callers change the profile of a member in steps, in all orders of these steps. Then the index has the profile that
// remains. If one of them is killed before any of its steps, it has that profile once housekeeping has repaired it, and
// before if the other one was acknowledged after the last change.
func TestProfileStepsOfTwoCallers(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board { return []definition.Board{{Name: "b", Kind: "user"}} }
	for _, change := range []struct {
		name string
		to   [2]Profile // zero: deleted
	}{
		{"two names", [2]Profile{{Name: "Ann"}, {Name: "Bea"}}},
		{"a name and a deletion", [2]Profile{{Name: "Ann"}, {}}},
	} {
		t.Run(change.name, func(t *testing.T) {
			t.Parallel()
			worlds(t, 3, patient, boards, func(t *testing.T, w *world) {
				ctx, observer := context.Background(), w.stores[2]
				member, runs := "", 0
				var callers [2]*stepper
				for i, s := range w.stores[:2] {
					_, err := s.SetProfile(ctx, "user", "warm", Profile{Name: "x"}) // it knows the definitions and the scripts
					require.NoError(t, err)
					s.inProfileSteps.Store(true)
					_, err = s.SetProfile(ctx, "user", "warm", Profile{Name: fmt.Sprint("x", i)})
					require.NoError(t, err)
					stall(s) // it reads no definitions meanwhile
					callers[i] = &stepper{gate: newGate(s.rdb), do: func() error {
						if p := change.to[i]; p != (Profile{}) {
							_, err := s.SetProfile(ctx, "user", member, p)
							return err
						}
						return s.DeleteProfile(ctx, "user", member)
					}}
				}
				matches := func(when string) {
					p, err := observer.Profile(ctx, "user", member)
					if !errors.Is(err, ErrUnknownMember) {
						require.NoError(t, err)
					}
					want := ""
					if p != (Profile{}) {
						want = recordOf(member, p)
					}
					held, err := w.rdb.HGet(ctx, observer.keys.Names("user").Names, member).Result()
					if !errors.Is(err, redis.Nil) {
						require.NoError(t, err)
					}
					require.Equal(t, want, held, when)
				}
				for killed := range 7 { // the first caller is killed before this step of it
					n := orders(func(choices []int) (of, chosen []int) {
						runs++
						member = fmt.Sprint("m", runs)
						if runs%2 == 0 { // over a profile
							_, err := observer.SetProfile(ctx, "user", member, Profile{Name: "Old"})
							require.NoError(t, err)
						}
						for _, c := range callers {
							c.begin()
						}
						for {
							var able []*stepper
							for _, c := range callers {
								if !c.ended {
									able = append(able, c)
								}
							}
							if len(able) == 0 {
								break
							}
							choice := 0
							if len(chosen) < len(choices) {
								choice = choices[len(chosen)]
							}
							of, chosen = append(of, len(able)), append(chosen, choice)
							c := able[choice]
							if c == callers[0] && killed > 0 && c.steps == killed-1 {
								c.step(errKilled)
							} else {
								c.step(nil)
							}
						}
						order := fmt.Sprint("order ", chosen, ", killed before ", killed)
						require.NoError(t, callers[1].err, order)
						if killed == 0 {
							require.NoError(t, callers[0].err, order)
						}
						if callers[0].err == nil {
							matches(order)
						} else {
							require.ErrorIs(t, callers[0].err, errKilled)
						}
						pending, err := observer.pendingNames(ctx, []string{"user"})
						require.NoError(t, err)
						for pending["user"][member] != "" { // a minute has passed
							_, err = observer.indexNames(ctx, "user", []indexing{{member: member, token: pending["user"][member]}})
							require.NoError(t, err)
							pending, err = observer.pendingNames(ctx, []string{"user"})
							require.NoError(t, err)
						}
						matches(order + ", repaired")
						return of, chosen
					})
					require.Greater(t, n, 3)
				}
				t.Logf("%d orders", runs)
			})
		})
	}
}

// A change that its node did not end is indexed by the housekeeping of any node after a minute, and not before.
func TestChangesThatDidNotEndAreRepaired(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, patient, definition.Board{Name: "b", Kind: "user"}, definition.Board{Name: "c", Kind: "star"})
	ctx, dying, other := t.Context(), w.stores[0], w.stores[1]
	dying.inProfileSteps.Store(true)
	w.indexed(other)
	for _, kind := range []string{"user", "star"} {
		for i := range 2 * indexAtOnce {
			_, err := dying.beginIndexing(ctx, kind, fmt.Sprint("m", i))
			require.NoError(t, err)
			require.NoError(t, w.rdb.Set(ctx, w.stores[0].keys.Profile(kind, fmt.Sprint("m", i)), `{"name":"Ann"}`, 0).Err())
		}
		w.write(other, map[string]string{"user": "b", "star": "c"}[kind], "m7", 1)
	}
	other.searches.small = 0
	found := func(board string) []string {
		r, err := other.Search(ctx, board, "ann", 10)
		require.NoError(t, err)
		return r.lines()
	}
	work := newNameWork(other)
	look := func() { require.NoError(t, dueToTheEnd(ctx, work)) }
	w.pass(nameRepairAge - time.Second)
	look()
	require.Empty(t, found("b"))
	w.pass(nameRepairInterval + 2*time.Second)
	look()
	for _, board := range []string{"b", "c"} {
		require.Equal(t, []string{`#1 m7 1 "Ann" ""`}, found(board))
	}
	for _, kind := range []string{"user", "star"} {
		require.Zero(t, w.rdb.Exists(ctx, other.keys.Names(kind).Pending).Val())
		require.EqualValues(t, 2*indexAtOnce, w.rdb.HLen(ctx, other.keys.Names(kind).Names).Val())
	}
	// The node that everybody took for dead goes on with its change.
	_, err := dying.SetProfile(ctx, "user", "m7", Profile{Name: "Bea"})
	require.NoError(t, err)
	require.Empty(t, found("b"))
}

// A profile that changes at each attempt to index it makes the change fail in the end. Its outcome is unknown.
func TestProfileThatChangesTooFast(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		s, other := newNode(t, url), newNode(t, url)
		s.inProfileSteps.Store(true)
		other.inProfileSteps.Store(true)
		s.rdb.AddHook(&cutter{fate: func(sc string) fate {
			if sc == "end_indexing" {
				_, err := other.beginIndexing(context.Background(), "user", "u")
				require.NoError(t, err)
			}
			return passes
		}})
		_, err := s.SetProfile(t.Context(), "user", "u", Profile{Name: "Ann"})
		require.ErrorIs(t, err, ErrOutcomeUnknown)
		require.ErrorIs(t, err, ErrUnavailable)
		_, err = other.SetProfile(t.Context(), "user", "u", Profile{Name: "Bea"})
		require.NoError(t, err)
	})
}
