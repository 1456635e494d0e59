package ranking

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

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
		require.ErrorIs(t, errorOf(d.compiledIn("new/0")), ErrUnavailable, "this node still cannot read it")
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
