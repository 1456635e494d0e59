package ranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// oldProfiles writes profiles as a version without an index does.
func (w *world) oldProfiles(kind string, n int) {
	w.t.Helper()
	s := w.stores[0]
	require.NoError(w.t, s.markKind(w.t.Context(), kind))
	pipe := w.rdb.Pipeline()
	for i := range n {
		pipe.Set(w.t.Context(), s.keys.Profile(kind, fmt.Sprint("m", i)), fmt.Sprintf(`{"name":"Ann %d"}`, i), 0)
	}
	_, err := pipe.Exec(w.t.Context())
	require.NoError(w.t, err)
}

// wholeIndex is what an index holds: member to record, and the number of entries.
func (w *world) wholeIndex(kind string) (map[string]string, int64) {
	names := w.stores[0].keys.Names(kind)
	return w.rdb.HGetAll(w.t.Context(), names.Names).Val(), w.rdb.ZCard(w.t.Context(), names.Entries).Val()
}

// A build indexes the profiles that exist, and removes members without a profile. Until its end, no answer says that
// it is complete.
func TestIndexesAreBuiltFromProfiles(t *testing.T) {
	t.Parallel()
	worlds(t, 1, patient, two, func(t *testing.T, w *world) {
		s, ctx := w.stores[0], t.Context()
		const profiles = 2*walkPage + 7
		w.oldProfiles("user", profiles)
		w.oldProfiles("star", 3)
		require.NoError(t, w.rdb.Set(ctx, s.keys.Profile("user", "no-json"), "{", 0).Err())
		require.NoError(t, w.rdb.HSet(ctx, s.keys.Profile("user", "no-string"), "f", "v").Err())
		require.NoError(t, w.rdb.Set(ctx, "rc:profile", "other", 0).Err())
		w.write(s, "a", "m7", 1)
		// A profile that has gone, and one that has changed, without the index.
		_, err := s.SetProfile(ctx, "user", "gone", Profile{Name: "Ann Gone"})
		require.NoError(t, err)
		require.NoError(t, w.rdb.Del(ctx, s.keys.Profile("user", "gone")).Err())
		_, err = s.SetProfile(ctx, "user", "m8", Profile{Name: "Other"})
		require.NoError(t, err)
		require.NoError(t, w.rdb.Set(ctx, s.keys.Profile("user", "m8"), `{"name":"Ann 8"}`, 0).Err())

		r, err := s.Search(ctx, "a", "ann", 10)
		require.NoError(t, err)
		require.False(t, r.Complete)
		require.Empty(t, r.List)
		w.indexed(s)
		r, err = s.Search(ctx, "a", "ann", 10)
		require.NoError(t, err)
		require.True(t, r.Complete)
		require.Equal(t, []string{`#1 m7 1 "Ann 7" ""`}, r.lines())
		for kind, n := range map[string]int{"user": profiles, "star": 3} {
			records, entries := w.wholeIndex(kind)
			require.Len(t, records, n)
			require.EqualValues(t, 3*n, entries)
			for i := range n {
				member := fmt.Sprint("m", i)
				require.Equal(t, recordOf(member, Profile{Name: fmt.Sprint("Ann ", i)}), records[member])
			}
			require.Zero(t, w.rdb.Exists(ctx, s.keys.Names(kind).Pending).Val())
		}
	})
}

// A build that has changed something is followed by another one ten minutes later, until one changes nothing. Nodes of an
// older version, which know no index, may run meanwhile. Then the builds are a day apart.
func TestBuildsGoOnUntilOneChangesNothing(t *testing.T) {
	t.Parallel()
	worlds(t, 1, patient, two, func(t *testing.T, w *world) {
		s, ctx := w.stores[0], t.Context()
		untilNext := func() time.Duration {
			at, err := w.rdb.ZScore(ctx, s.keys.NameAgenda(), nameBuild).Result()
			require.NoError(t, err)
			return time.Duration(int64(at)-s.catalog.clock.now()) * time.Microsecond
		}
		build := func() time.Duration {
			t.Helper()
			require.NoError(t, w.rdb.ZAdd(ctx, s.keys.NameAgenda(), redis.Z{Member: nameBuild}).Err())
			work := newNameWork(s)
			redistest.Eventually(t, "the build", func() error {
				if _, err := work.due(ctx); err != nil || untilNext() < 2*nameLease {
					return errors.Join(err, errors.New("it goes on"))
				}
				return nil
			})
			return untilNext().Round(time.Minute)
		}
		w.indexed(s)
		require.Equal(t, nameRecheckInterval, untilNext().Round(time.Minute), "the first build of a version")
		require.Equal(t, nameCheckInterval, build())
		for member, name := range map[string]string{"u1": "Ann", "u2": "Bea"} {
			_, err := s.SetProfile(ctx, "user", member, Profile{Name: name})
			require.NoError(t, err)
		}
		require.Equal(t, nameCheckInterval, build(), "the change has indexed its profile")
		for what, change := range map[string]func() error{
			"a deletion": func() error { return w.rdb.Del(ctx, s.keys.Profile("user", "u1")).Err() },
			"a change":   func() error { return w.rdb.Set(ctx, s.keys.Profile("user", "u2"), `{"name":"Cid"}`, 0).Err() },
			"a new one":  func() error { return w.rdb.Set(ctx, s.keys.Profile("user", "u3"), `{"name":"Dan"}`, 0).Err() },
		} {
			require.NoError(t, change(), what)
			require.Equal(t, nameRecheckInterval, build(), what)
			require.Equal(t, nameCheckInterval, build(), what)
		}
		require.Empty(t, w.nameTraces("user", "ann"))
		require.Empty(t, w.nameTraces("user", "bea"))
		require.Len(t, w.nameTraces("user", "dan"), 2)
		// A build that indexes a profile which its own change has indexed meanwhile has changed nothing.
		for _, want := range []bool{true, false} {
			if want {
				require.NoError(t, w.rdb.Set(ctx, s.keys.Profile("user", "u2"), `{"name":"Eve"}`, 0).Err())
			}
			token, err := s.beginIndexing(ctx, "user", "u2")
			require.NoError(t, err)
			changed, err := s.indexNames(ctx, "user", []indexing{{member: "u2", token: token}})
			require.NoError(t, err)
			require.Equal(t, want, changed)
		}
	})
}

// A new version of the form, and a Redis that has lost its data, make housekeeping build again.
func TestIndexesAreBuiltAgain(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, patient, definition.Board{Name: "a", Kind: "user"})
	s, ctx := w.stores[0], t.Context()
	w.oldProfiles("user", 3)
	w.indexed(s)
	names := s.keys.Names("user")
	// As an earlier version made it.
	require.NoError(t, w.rdb.HSet(ctx, names.Names, "m1", "0old one\x1e4\x1f").Err())
	require.NoError(t, w.rdb.ZAdd(ctx, names.Entries, redis.Z{Member: "old one\x1em1"}, redis.Z{Member: "one\x1fm1"}).Err())
	require.NoError(t, w.rdb.Set(ctx, s.keys.NamesBuilt(), nameVersion-1, 0).Err())
	rebuilt := func() {
		t.Helper()
		work := newNameWork(s)
		for range 5 {
			_, err := work.due(ctx)
			require.NoError(t, err)
			w.pass(nameLease + time.Second)
			work.planned = time.Time{}
		}
		require.Equal(t, fmt.Sprint(nameVersion), w.rdb.Get(ctx, s.keys.NamesBuilt()).Val())
		require.Empty(t, w.nameTraces("user", "old"))
		records, _ := w.wholeIndex("user")
		require.Equal(t, recordOf("m1", Profile{Name: "Ann 1"}), records["m1"])
	}
	rebuilt()

	require.NoError(t, w.rdb.Del(ctx, names.Names, names.Entries, s.keys.NamesBuilt(), s.keys.NameAgenda()).Err())
	rebuilt()

	// A later version has built them: a node of this one does nothing.
	require.NoError(t, w.rdb.HSet(ctx, names.Names, "m1", "new\x1e").Err())
	require.NoError(t, w.rdb.Set(ctx, s.keys.NamesBuilt(), nameVersion+1, 0).Err())
	w.pass(nameCheckInterval + time.Minute)
	work := newNameWork(s)
	for range 3 {
		_, err := work.due(ctx)
		require.NoError(t, err)
	}
	require.Equal(t, "new\x1e", w.rdb.HGet(ctx, names.Names, "m1").Val())
	require.Equal(t, fmt.Sprint(nameVersion+1), w.rdb.Get(ctx, s.keys.NamesBuilt()).Val())
}

// When the node that builds the indexes is killed, another one takes over after the claim, and starts again.
func TestAnotherNodeTakesTheBuildOver(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "a", Kind: "user"}}
	w := simulated(t, 2, patient, boards...)
	ctx := t.Context()
	w.oldProfiles("user", 4*indexAtOnce)
	killed := newNameWork(w.stores[0])
	calls := 0
	w.stores[0].rdb.AddHook(&cutter{fate: func(sc string) fate {
		if sc == "end_indexing" {
			if calls++; calls > 2 { // the first one sends the source again
				return isLost
			}
		}
		return passes
	}})
	require.ErrorIs(t, dueToTheEnd(ctx, killed), errCut)
	records, _ := w.wholeIndex("user")
	require.Len(t, records, indexAtOnce)

	other := newNameWork(w.stores[1])
	look := func() bool {
		require.NoError(t, dueToTheEnd(ctx, other))
		built, err := w.stores[1].areNamesBuilt(ctx)
		require.NoError(t, err)
		return built
	}
	w.pass(nameLease - time.Second)
	require.False(t, look())
	w.pass(2 * time.Second)
	require.True(t, look())
	// The members that were about to be indexed are repaired.
	w.pass(nameRepairAge)
	look()
	records, entries := w.wholeIndex("user")
	require.Len(t, records, 4*indexAtOnce)
	require.EqualValues(t, 3*4*indexAtOnce, entries)
	require.Zero(t, w.rdb.Exists(ctx, w.stores[1].keys.Names("user").Pending).Val())
}

// dueToTheEnd calls due until nothing is due: on a slow machine one call does a part of the work.
func dueToTheEnd(ctx context.Context, work *nameWork) (err error) {
	for more := true; more && err == nil; {
		more, err = work.due(ctx)
	}
	return err
}

// A node whose claim another node has taken stops its build.
func TestBuildWithoutItsClaimStops(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, patient, definition.Board{Name: "a", Kind: "user"})
	s, ctx := w.stores[0], t.Context()
	w.oldProfiles("user", 3)
	work := newNameWork(s)
	require.NoError(t, work.plan(ctx))
	claims, err := s.claimDue(ctx, s.keys.NameAgenda(), 2, nameLease)
	require.NoError(t, err)
	require.Len(t, claims, 2)
	require.NoError(t, work.startBuild(ctx, claims[0]))
	require.Equal(t, nameBuild, work.claim.member)
	require.NoError(t, w.rdb.ZAdd(ctx, s.keys.NameAgenda(), redis.Z{Score: float64(w.now.Add(time.Hour).UnixMicro()), Member: nameBuild}).Err())
	_, err = work.due(ctx)
	require.NoError(t, err)
	require.Nil(t, work.build)
	at := w.rdb.ZScore(ctx, s.keys.NameAgenda(), nameBuild).Val()
	require.Equal(t, float64(w.now.Add(time.Hour).UnixMicro()), at, "the time of the other node stays")
}

// A build and changes of profiles at the same time end with the index of the profiles that remain.
func TestBuildDuringChanges(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		for kind, inSteps := range map[string]bool{"user": false, "star": true} {
			s, writer := newNode(t, url), newNode(t, url)
			s.inProfileSteps.Store(inSteps)
			writer.inProfileSteps.Store(inSteps)
			w := &world{t: t, url: url, rdb: s.rdb, stores: []*Store{s}}
			w.oldProfiles(kind, 3*indexAtOnce)
			// A change that is under way keeps its token, because its caller may die before it has indexed the profile.
			token, err := writer.beginIndexing(t.Context(), kind, "underway")
			require.NoError(t, err)
			require.NoError(t, w.rdb.Set(t.Context(), s.keys.Profile(kind, "underway"), `{"name":"Ann"}`, 0).Err())
			changes := 0
			s.rdb.AddHook(&cutter{fate: func(sc string) fate {
				if sc == "end_indexing" || sc == "begin_indexing" { // after the node has compared, or read, the profiles
					for i := range 2 {
						_, err := writer.SetProfile(context.Background(), kind, fmt.Sprint("m", (changes*13+i)%(3*indexAtOnce)), Profile{Name: fmt.Sprint("New ", changes)})
						require.NoError(t, err)
						changes++
					}
				}
				return passes
			}})
			walk, err := s.newNameWalk(t.Context())
			require.NoError(t, err)
			ended, err := walk.step(t.Context(), time.Now().Add(time.Hour))
			require.NoError(t, err)
			require.True(t, ended)
			require.Greater(t, changes, 4)
			pending, err := s.pendingNames(t.Context(), []string{kind})
			require.NoError(t, err)
			require.Equal(t, token, pending[kind]["underway"])
			delete(pending[kind], "underway")
			for member, token := range pending[kind] {
				require.True(t, strings.HasSuffix(token, " +"), "%s: only a change beside the build remains for the repair", member)
			}
			records, _ := w.wholeIndex(kind)
			for i := range 3 * indexAtOnce {
				member := fmt.Sprint("m", i)
				p, err := writer.Profile(t.Context(), kind, member)
				require.NoError(t, err)
				require.Equal(t, recordOf(member, p), records[member])
			}
		}
	})
}

// On a cluster a build goes through all masters, and a search finds members whose profiles, index and board are on
// different ones.
func TestSearchOnACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	s := newNode(t, cluster.URL)
	rdb := s.rdb
	require.True(t, s.inProfileSteps.Load())
	require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "a", Kind: "user"}, {Name: "b:{x}", Kind: "user"}, {Name: "c", Kind: "star"}}}))
	w := &world{t: t, url: cluster.URL, rdb: rdb, stores: []*Store{s}}
	for i := range 40 { // not by a pipeline: these keys are on all masters
		for _, kind := range []string{"user", "star"} {
			require.NoError(t, s.markKind(t.Context(), kind))
			require.NoError(t, rdb.Set(t.Context(), s.keys.Profile(kind, fmt.Sprint("m", i)), fmt.Sprintf(`{"name":"Ann %d"}`, i), 0).Err())
		}
	}
	w.indexed(s)
	for _, small := range []int64{0, 1000} {
		s.searches.small = small
		for _, board := range []string{"a", "b:1", "b:2", "b:3", "c"} {
			w.write(s, board, "m7", 1)
			w.write(s, board, "m39", 2)
			_, err := s.SetProfile(t.Context(), s.kindOf(t, board), "m39", Profile{Name: "Bea Ánn"})
			require.NoError(t, err)
			r, err := s.Search(t.Context(), board, "ann", 10)
			require.NoError(t, err)
			require.True(t, r.Complete)
			require.Equal(t, []string{fmt.Sprintf(`#1 m39 %d "Bea Ánn" ""`, r.List[0].Score), fmt.Sprintf(`#2 m7 %d "Ann 7" ""`, r.List[1].Score)}, r.lines())
			require.NoError(t, s.DeleteProfile(t.Context(), s.kindOf(t, board), "m39"))
			r, err = s.Search(t.Context(), board, "bea", 10)
			require.NoError(t, err)
			require.Empty(t, r.List)
		}
	}
	require.Empty(t, w.nameTraces("user", "m39"))
	require.NoError(t, s.CheckRights(t.Context()))
}

// A walk does not end well when slots have moved meanwhile: it may have missed their profiles. The next one finds them.
func TestBuildWhileSlotsMove(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	s := newNode(t, cluster.URL)
	rdb := s.rdb
	require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "a", Kind: "user"}}}))
	require.NoError(t, s.markKind(t.Context(), "user"))
	world := &world{t: t, url: cluster.URL, rdb: rdb, stores: []*Store{s}}
	walk, err := s.newNameWalk(t.Context())
	require.NoError(t, err)
	require.Len(t, walk.masters, len(cluster.Masters))
	first := slices.IndexFunc(cluster.Masters, func(m *redistest.Redis) bool { return strings.HasSuffix(m.URL(), walk.masters[0].address) })
	require.GreaterOrEqual(t, first, 0)
	member := "m"
	for cluster.MasterOf(s.keys.Profile("user", member)) == first {
		member += "m"
	}
	key := s.keys.Profile("user", member)
	require.NoError(t, rdb.Set(t.Context(), key, `{"name":"Ann"}`, 0).Err())
	for len(walk.masters) == len(cluster.Masters) {
		require.NoError(t, walk.scanProfiles(t.Context()))
	}
	cluster.MoveSlot(key, cluster.Masters[first])
	ended, err := walk.step(t.Context(), time.Now().Add(time.Hour))
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "slots")
	require.False(t, ended)
	require.Empty(t, world.nameTraces("user", "ann"), "the walk has missed it")

	walk, err = s.newNameWalk(t.Context())
	require.NoError(t, err)
	ended, err = walk.step(t.Context(), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.True(t, ended)
	require.NotEmpty(t, world.nameTraces("user", "ann"))
}

// kindOf is the kind of a board.
func (s *Store) kindOf(t *testing.T, board string) string {
	b, err := s.Board(t.Context(), board)
	require.NoError(t, err)
	return b.Definition.Kind
}
