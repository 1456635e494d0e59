package ranking

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// before calls what once, before s sends a script.
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
		require.ErrorIs(t, err, definition.ErrConflict)
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
		require.ErrorIs(t, err, definition.ErrConflict)
		require.EqualValues(t, 3, score(t, a, "b", "m"))
	})
}

// A change that lands between a first write's look and its call is minded too.
func TestChangeBetweenLookAndWrite(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		for _, sc := range []script.Script{script.ApplyPlain, script.List} {
			a, b := newNode(t, url), newNode(t, url)
			board := "b-" + sc.Name
			define(t, a, definition.Board{Name: board})
			before(a, sc, func() { define(t, b, definition.Board{Name: board, Order: definition.Asc}) })
			apply(t, a, board, definition.Update{Member: "m", Score: 3})
			z := a.rdb.ZRangeWithScores(t.Context(), keysOf(a, board, "", "m").Members, 0, -1).Val()
			require.Positive(t, z[0].Score)
			err := a.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: board}}})
			require.ErrorIs(t, err, definition.ErrConflict)
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
				require.ErrorIs(t, err, definition.ErrUnknownBoard)
			}
			most, _ := longest(took)
			require.LessOrEqual(t, most, lookSoon)
		}
		require.LessOrEqual(t, looks.Load(), 1+int64(time.Since(start)/lookSoon))
		states := s.States(t.Context(), []string{"x1", "x2", "b@-7", "b"})
		left := BoardState{Kind: "member", Shards: IfSharded(states[3].Shards)}
		require.Equal(t, append(make([]BoardState, 3), left), states, "no one waits for boards that have gone")
	})
}

// While a node reads the definitions, which may take long, its callers go on with the copy that they have.
func TestReadOfDefinitionsHoldsUpNobody(t *testing.T) {
	onTwoNodes(t, []definition.Board{{Name: "b"}}, func(t *testing.T, a, b *Store) {
		apply(t, b, "b", definition.Update{Member: "m", Score: 5})
		_, err := b.catalog.readFresh(t.Context()) // a read that the update began in the background would be taken for another
		require.NoError(t, err)
		define(t, a, definition.Board{Name: "b", Mode: definition.Last})
		begun, hold := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(hold) })
		defer release()
		var reads atomic.Int64
		cut(b, script.Catalog, func() fate {
			if reads.Add(1) == 1 {
				close(begun)
				<-hold
			}
			return passes
		})
		was := b.catalog.latest.Load()
		ctx, cancel := context.WithTimeout(t.Context(), redistest.CallTimeout/2) // for a node that does wait
		defer cancel()
		for _, age := range []time.Duration{lookEarly, lookAgain} {
			aged(b, age)
			d := must(b.catalog.get(ctx))(t)
			require.NoError(t, ctx.Err(), "the caller waited for the read")
			require.Equal(t, was.version, d.version)
			redistest.Receive(t, "a value from begun", begun)
		}
		release()
		d := must(b.catalog.readNewer(t.Context(), was))(t)
		require.EqualValues(t, 1, reads.Load(), "it is that read")
		require.Equal(t, definition.Last, d.boards["b/0"].Mode)
		require.EqualValues(t, 3, apply(t, b, "b", definition.Update{Member: "m", Score: 3}).Result.Current.Score)
	})
}

// A node decodes and compiles again the definitions that have changed, and no others.
func TestUnchangedDefinitionsAreNotDecodedAgain(t *testing.T) {
	onTwoNodes(t, nil, func(t *testing.T, a, b *Store) {
		event := func(name string) definition.Event {
			return definition.Event{Name: name, Updates: []definition.Target{{Board: "same", Member: "m", Score: "1"}}}
		}
		require.NoError(t, a.Define(t.Context(), definition.Set{
			Boards: []definition.Board{{Name: "same"}, {Name: "changed"}, {Name: "gone"}},
			Events: []definition.Event{event("same"), event("changed"), event("gone")}}))
		key := a.keys.Definitions()
		require.NoError(t, a.rdb.HSet(t.Context(), key, "board:new/0", "{", "board:new2/0", "{", "version", "x").Err())
		was := must(b.catalog.readFresh(t.Context()))(t)
		require.Len(t, was.broken, 2)

		changed := event("changed")
		changed.Updates[0].Score = "2"
		require.NoError(t, a.Define(t.Context(), definition.Set{
			Boards: []definition.Board{{Name: "changed", Mode: definition.Last}}, Events: []definition.Event{changed}}))
		require.NoError(t, a.Delete(t.Context(), "gone", Moderator{}))
		require.NoError(t, a.DeleteEvent(t.Context(), "gone", Moderator{}))
		mended := strings.Replace(a.rdb.HGet(t.Context(), key, "board:same/0").Val(), `"same"`, `"new2"`, 1)
		require.NoError(t, a.rdb.HSet(t.Context(), key, "board:new2/0", mended, "version", "y").Err())
		d := must(b.catalog.readFresh(t.Context()))(t)
		require.Same(t, was.boards["same/0"], d.boards["same/0"])
		require.Same(t, was.events["same"], d.events["same"])
		require.Equal(t, definition.Last, d.boards["changed/0"].Mode)
		require.Equal(t, "2", string(d.events["changed"].Updates[0].Score))
		require.Nil(t, must(d.compiledIn("gone/0"))(t))
		require.NotContains(t, d.events, "gone")
		require.ErrorIs(t, errorOf(d.compiledIn("new/0")), definition.ErrUnavailable, "this node still cannot read it")
		require.Same(t, was.broken["board:new/0"], d.broken["board:new/0"])
		require.NotContains(t, d.broken, "board:new2/0")
		require.Contains(t, d.boards, "new2/0")
	})
}

// Housekeeping does not work by the answer of a read that began long ago: it may lack what another node
// has changed since.
func TestHousekeepingWorksByARecentRead(t *testing.T) {
	onTwoNodes(t, []definition.Board{{Name: "b", Kind: "user"}}, func(t *testing.T, a, b *Store) {
		apply(t, b, "b", definition.Update{Member: "m", Score: 5})
		_, err := b.catalog.readFresh(t.Context()) // a read that the update began in the background would be taken for another
		require.NoError(t, err)
		answered, hold := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(hold) })
		defer release()
		var reads atomic.Int64
		b.rdb.AddHook(&cutter{answered: func(sc string) {
			if sc == script.Catalog.Name && reads.Add(1) == 1 {
				close(answered)
				<-hold
			}
		}})
		aged(b, lookEarly)
		must(b.catalog.get(t.Context()))(t)
		redistest.Receive(t, "a value from answered", answered)
		require.NoError(t, a.HideEverywhere(t.Context(), "user", "m", Moderator{}))
		b.catalog.clock.set(b.catalog.clock.now() + lease.Microseconds())
		d, _, err := b.leasedDefinitions(onWait{t.Context(), release})
		require.NoError(t, err)
		require.True(t, d.hidden.hides("b", "user", "m"))
	})
}

// onWait is a context that calls a function when somebody begins to wait for its end.
type onWait struct {
	context.Context
	call func()
}

func (c onWait) Done() <-chan struct{} {
	c.call()
	return c.Context.Done()
}

// A page of instances and their total are of one state, although another instance comes to be between any two commands
// of the reader.
func TestInstancesAreListedAtOneState(t *testing.T) {
	onTwoNodes(t, []definition.Board{{Name: "fans:{star}"}}, func(t *testing.T, writer, reader *Store) {
		n := 0
		create := func() {
			n++
			must(writer.Apply(t.Context(), fmt.Sprint("fans:s", n), []definition.Update{{Member: "m", Score: 1}}))(t)
		}
		create()
		betweenCommands(reader, create)
		page := must(reader.Instances(t.Context(), "fans:{star}", "", MaxInstancesPage))(t)
		require.Len(t, page.Names, int(page.Total))
	})
}
