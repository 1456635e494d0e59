package ranking

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// countedMember is a member of a board to whose score each update adds one. It counts the updates that have begun, and those that were
// acknowledged.
type countedMember struct {
	board, member       string
	begun, acknowledged atomic.Int64
}

// update adds one to the score.
func (c *countedMember) update(ctx context.Context, s *Store) error {
	c.begun.Add(1)
	o, err := s.Apply(ctx, c.board, []definition.Update{{Member: c.member, Score: 1}})
	if err == nil {
		err = o[0].Err
	}
	if err == nil {
		c.acknowledged.Add(1)
	}
	return err
}

// read reads the rank of the member. It returns errOldRead if the answer lacks an update that was acknowledged before.
func (c *countedMember) read(ctx context.Context, s *Store, around int) error {
	least := c.acknowledged.Load()
	n, err := s.Around(ctx, c.board, c.member, around)
	if errors.Is(err, definition.ErrUnknownMember) && least == 0 {
		return nil
	}
	if most := c.begun.Load(); err == nil && (n.Entry.Score < least || n.Entry.Score > most || n.Entry.Member != c.member) {
		return fmt.Errorf("%w: %+v; %d updates were acknowledged and %d begun", errOldRead, n.Entry, least, most)
	}
	return err
}

// take makes a step: an update if it is odd, else a read. At 0 the caller gives up meanwhile. An error of a caller that has given up
// is none.
func (c *countedMember) take(parent context.Context, s *Store, step int) (err error) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	if step == 0 {
		go cancel()
	}
	if step%2 == 1 {
		err = c.update(ctx, s)
	} else {
		err = c.read(ctx, s, step/2)
	}
	if ctx.Err() != nil && !errors.Is(err, errOldRead) {
		return nil
	}
	return err
}

var errOldRead = errors.New("not what the board held")

// A read of one member shows each update that was acknowledged before it began, whatever calls it shares: with callers that give up,
// and while another node stops.
func TestSingleReadShowsWhatWasAcknowledged(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		boards := 0
		define(t, newNode(t, url), definition.Board{Name: "b:{n}"}, definition.Board{Name: "d:{n}", Ties: definition.Dense})
		proptest.Check(t, redistest.Volume(url, 30), func(t *rapid.T) {
			boards++
			stays, stops := New(redistest.Dial(t, url), patient), New(redistest.Dial(t, url), patient)
			board := fmt.Sprint(rapid.SampledFrom([]string{"b:", "d:"}).Draw(t, "kind"), boards)
			members := make([]countedMember, rapid.IntRange(1, 4).Draw(t, "members"))
			for i := range members {
				members[i].board, members[i].member = board, fmt.Sprint("m", i)
			}
			stopping, stop := context.WithCancel(t.Context())
			defer stop()
			var callers, ofStopping errgroup.Group
			for range rapid.IntRange(2, 24).Draw(t, "callers") {
				steps := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 12).Draw(t, "steps")
				at, s, parent, running := rapid.IntRange(0, len(members)-1).Draw(t, "member"), stays, t.Context(), &callers
				if rapid.Bool().Draw(t, "of the node that stops") {
					s, parent, running = stops, stopping, &ofStopping
				}
				running.Go(func() error {
					for _, step := range steps {
						if err := members[(at+step)%len(members)].take(parent, s, step); err != nil {
							return err
						}
					}
					return nil
				})
			}
			stop()
			require.NoError(t, ofStopping.Wait())
			stops.Close()
			require.NoError(t, callers.Wait())
			stays.Close()
		})
	})
}

// Redis dies between calls and comes back with its data: reads fail, or show what was acknowledged.
func TestSingleReadAfterRedisDied(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	s := newNode(t, r.URL())
	define(t, s, definition.Board{Name: "b"})
	members := make([]countedMember, 3)
	for i := range members {
		members[i].board, members[i].member = "b", fmt.Sprint("m", i)
	}
	var callers sync.WaitGroup
	var reads [2]atomic.Int64 // that have succeeded, before and after Redis died
	var died, end atomic.Bool
	back := make(chan struct{}) // closed once Redis is back
	for caller := range 12 {
		do := func(n int) error { return members[(caller+n)%len(members)].read(t.Context(), s, n%3) }
		if caller%4 == 0 {
			do = func(n int) error { return members[(caller+n)%len(members)].update(t.Context(), s) }
		}
		callers.Go(func() {
			for n := 0; !end.Load(); n++ {
				after := 0
				if died.Load() {
					after = 1
				}
				switch err := do(n); {
				case err == nil && caller%4 > 0:
					reads[after].Add(1)
				case err != nil:
					if !errors.Is(err, definition.ErrUnavailable) || caller%4 > 0 && errors.Is(err, definition.ErrOutcomeUnknown) {
						t.Error(err)
					}
					<-back
				}
			}
		})
	}
	redistest.Until(t, "reads before the end of Redis", func() bool { return reads[0].Load() > 100 })
	r.Kill()
	died.Store(true)
	r.Start()
	close(back)
	redistest.Until(t, "reads after it", func() bool { return reads[1].Load() > 100 })
	end.Store(true)
	redistest.Wait(t, "the callers of the test", callers.Wait)
}

// placesCalls is a hook that keeps calls of places.lua for one board back, and counts the look-ups of each.
type placesCalls struct {
	board string
	open  chan struct{} // closed to let the calls go on

	mu    sync.Mutex
	sizes []int
}

func (p *placesCalls) pass(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
	const fixed, each = 7, 3 // arguments of EVALSHA before the first look-up, and those of each
	for _, cmd := range cmds {
		named, ok := cmd.(interface{ Script() string })
		if !ok || named.Script() != "places" || !strings.Contains(fmt.Sprint(cmd.Args()[3]), "{"+p.board+"}") {
			continue
		}
		p.mu.Lock()
		p.sizes = append(p.sizes, (len(cmd.Args())-fixed)/each)
		p.mu.Unlock()
		<-p.open
	}
	return send(ctx, cmds)
}

func (p *placesCalls) seen() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]int(nil), p.sizes...)
}

// While a call for a board is out, the reads of other members wait, and the next call answers them together. At most two calls are out,
// with at most 1,000 entries each. A read of another board does not wait. When a caller gives up, the other callers get their answers. The
// queue refuses reads beyond its bound.
func TestSingleReadsGoTogether(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	define(t, s, definition.Board{Name: "slow"}, definition.Board{Name: "b"})
	apply(t, s, "b", definition.Update{Member: "m", Score: 7})
	const members = 600
	updates := make([]definition.Update, members)
	for i := range updates {
		updates[i] = definition.Update{Member: fmt.Sprint("m", i), Score: int64(i)}
	}
	must(s.Apply(t.Context(), "slow", updates))(t)
	calls := &placesCalls{board: "slow", open: make(chan struct{})}
	open := sync.OnceFunc(func() { close(calls.open) })
	t.Cleanup(open)
	s.rdb.AddHook(redistest.Hook(calls.pass))
	var readers sync.WaitGroup
	read := func(member int) {
		readers.Go(func() {
			n, err := s.Around(t.Context(), "slow", fmt.Sprint("m", member), 0)
			if err != nil || n.Entry.Score != int64(member) {
				t.Errorf("the answer about m%d: %+v, %v", member, n.Entry, err)
			}
		})
	}
	read(0)
	redistest.Until(t, "the first call", func() bool { return len(calls.seen()) == 1 })
	ctx, giveUp := context.WithCancel(t.Context())
	givenUp := make(chan error, 2)
	readers.Go(func() { givenUp <- errorOf(s.Around(ctx, "slow", "m1", 0)) })
	slow := must(s.resolve(t.Context(), "slow", 0))(t).keys.Members
	redistest.UntilEqual(t, "the weight that waits", singleWeight, func() int { return s.lookups.Waiting(slow) })
	for member := range members {
		read(member)
	}
	redistest.Until(t, "the second call", func() bool { return len(calls.seen()) == 2 })
	second := calls.seen()[1]
	redistest.UntilEqual(t, "the weight that waits", singleWeight*(members+1-second), func() int { return s.lookups.Waiting(slow) })
	readers.Go(func() { givenUp <- errorOf(s.Around(ctx, "slow", "m2", 0)) })
	redistest.UntilEqual(t, "the weight that waits", singleWeight*(members+2-second), func() int { return s.lookups.Waiting(slow) })
	giveUp() // both callers: the read of one is out, that of the other waits
	redistest.UntilEqual(t, "the weight that waits", singleWeight*(members+1-second), func() int { return s.lookups.Waiting(slow) })
	for range 2 {
		err := redistest.Receive(t, "a caller that gives up", givenUp)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, definition.ErrUnavailable)
		require.NotErrorIs(t, err, definition.ErrOutcomeUnknown)
	}
	require.EqualValues(t, 7, score(t, s, "b", "m"), "another board waits for nothing")

	var full atomic.Int64
	for range maxSingleRows/(2*MaxAround+1) + 1 {
		readers.Go(func() {
			switch err := errorOf(s.Around(t.Context(), "slow", "m2", MaxAround)); {
			case errors.Is(err, definition.ErrOverloaded):
				full.Add(1)
			case err != nil:
				t.Error(err)
			}
		})
	}
	redistest.Until(t, "a refused read", func() bool { return full.Load() > 0 })
	open()
	redistest.Wait(t, "the callers of the test", readers.Wait)
	sizes := calls.seen()
	require.Equal(t, 1, sizes[0], "the read that came alone")
	require.Equal(t, singleRows/singleWeight, sizes[2], "the next call is full")
	for _, size := range sizes {
		require.LessOrEqual(t, size, singleRows/singleWeight)
	}
}
