package ranking

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/profiles"
	"rankcast/ranking/redistest"
)

// requireIndexed fails unless the index of a kind has the elements of its profiles and no others.
func (w *world) requireIndexed(kind string) {
	w.t.Helper()
	profiles, elements := w.nameIndex(kind)
	var want []string
	for member, profile := range profiles {
		want = append(want, nameElements(member, profile)...)
	}
	slices.Sort(want)
	slices.Sort(elements)
	require.Equal(w.t, want, elements)
}

// reindex builds an index to the end.
func (w *world) reindex(kind string) Reindexed {
	w.t.Helper()
	all, _ := reindexFrom(w.t, w.stores[0], kind, "")
	return all
}

// reindexFrom builds an index from a cursor to the end, in as many calls as that takes.
func reindexFrom(t testing.TB, s *Store, kind, from string) (all Reindexed, calls int) {
	t.Helper()
	for {
		done := must(s.Reindex(t.Context(), kind, from))(t)
		calls++
		all.Profiles += done.Profiles
		all.Changed += done.Changed
		if from = done.Next; from == "" {
			return all, calls
		}
	}
}

// Callers on several nodes change one profile at the same time. Each change succeeds, and the index has the profile that
// remains.
func TestChangesOfOneProfileAtTheSameTime(t *testing.T) {
	t.Parallel()
	worlds(t, 2, patient, two, func(t *testing.T, w *world) {
		var callers sync.WaitGroup
		for i := range 24 {
			callers.Go(func() {
				s := w.stores[i%2]
				if i%5 == 4 {
					require.NoError(t, s.DeleteProfile(t.Context(), "user", "u"))
					return
				}
				must(s.SetProfile(t.Context(), "user", "u", Profile{Name: fmt.Sprint("Ann ", i)}))(t)
			})
		}
		redistest.Wait(t, "the callers of the test", callers.Wait)
		w.requireIndexed("user")
	})
}

// A node whose cache has an old profile of a member, or none, changes the present one, and knows whether there was one.
func TestChangeOfAProfileThatAnotherNodeHasChanged(t *testing.T) {
	t.Parallel()
	worlds(t, 2, patient, two, func(t *testing.T, w *world) {
		a, b := w.stores[0], w.stores[1]
		set := func(s *Store, name string, want bool) {
			t.Helper()
			require.Equal(t, want, must(s.SetProfile(t.Context(), "user", "u", Profile{Name: name}))(t))
			w.requireIndexed("user")
		}
		set(a, "Ann", true)
		must(b.Profile(t.Context(), "user", "u"))(t)
		set(a, "Bea Ann", false)
		set(b, "Cid", false)
		must(a.Profile(t.Context(), "user", "u"))(t)
		require.NoError(t, b.DeleteProfile(t.Context(), "user", "u"))
		set(a, "Dan", true)
		require.Empty(t, w.nameTraces("user", "ann"))
		require.Empty(t, w.nameTraces("user", "cid"))
	})
}

// A change whose profile other callers change at each attempt goes on until it succeeds, or its caller gives up.
func TestChangeOfAProfileGoesOn(t *testing.T) {
	t.Parallel()
	worlds(t, 2, patient, two, func(t *testing.T, w *world) {
		s, other := w.stores[0], w.stores[1]
		ctx, cancel := context.WithCancel(t.Context())
		changes, atLast := 0, func() {}
		s.rdb.AddHook(&cutter{fate: func(sc string) fate {
			if changes++; changes == 20 {
				atLast()
			} else if changes < 20 {
				must(other.SetProfile(context.Background(), "user", "u", Profile{Name: fmt.Sprint("Ann ", changes)}))(t)
			}
			return passes
		}})
		must(s.SetProfile(ctx, "user", "u", Profile{Name: "Bea"}))(t)
		require.Equal(t, 20, changes)
		w.requireIndexed("user")
		changes, atLast = 0, cancel
		require.ErrorIs(t, errorOf(s.SetProfile(ctx, "user", "u", Profile{Name: "Cid"})), definition.ErrUnavailable)
		w.requireIndexed("user")
	})
}

// A rebuilt index has what the profiles have, whatever other programs did to it, in profiles and in elements of many pages.
func TestReindex(t *testing.T) {
	t.Parallel()
	worlds(t, 1, patient, two, func(t *testing.T, w *world) {
		s, ctx := w.stores[0], t.Context()
		require.Equal(t, Reindexed{}, w.reindex("user"), "no profiles")
		profiles := 300
		if w.set == nil { // a real Redis: several pages of a part
			profiles = (reindexPage + 100) * keyspace.ProfileParts
		}
		pipe := w.rdb.Pipeline()
		for i := range profiles {
			member := fmt.Sprint("m", i)
			pipe.HSet(ctx, s.keys.ProfilePart("user", keyspace.ProfilePart(member)).Profiles, member, fmt.Sprintf(`{"name":"Ann %d"}`, i))
		}
		for part := range keyspace.ProfileParts {
			pipe.ZAdd(ctx, s.keys.ProfilePart("user", part).Names, redis.Z{Member: "gone" + keyspace.FieldSep + "gone"},
				redis.Z{Member: "no element"})
		}
		pipe.HSet(ctx, s.keys.ProfilePart("user", 3).Profiles, "no-json", "{")
		must(pipe.Exec(ctx))(t)
		must(s.SetProfile(ctx, "user", "kept", Profile{Name: "Bea"}))(t)
		must(s.SetProfile(ctx, "star", "other", Profile{Name: "Cid"}))(t)
		w.write(s, "a", "m7", 1)
		find := func() []string {
			s.searches.small = 0
			return must(s.Search(ctx, "a", "ann 7", 10))(t).lines()
		}
		require.Empty(t, find())

		// Each profile has three elements: its id, its name, and the last word.
		require.Equal(t, Reindexed{Profiles: int64(profiles + 2), Changed: int64(3*profiles + 2*keyspace.ProfileParts)}, w.reindex("user"))
		w.requireIndexed("user")
		require.Equal(t, []string{`#1 m7 1 "Ann 7" ""`}, find())
		s.reindexSlice = onePage
		require.Equal(t, Reindexed{Profiles: int64(profiles + 2)}, w.reindex("user"), "nothing is left to do")
		require.Equal(t, Reindexed{Profiles: 1}, w.reindex("star"))
		require.Len(t, w.nameTraces("star", "cid"), 1)
	})
}

// A profile that is set again has all its elements again.
func TestSettingAProfileRestoresItsElements(t *testing.T) {
	t.Parallel()
	worlds(t, 1, patient, two, func(t *testing.T, w *world) {
		s := w.stores[0]
		for range 2 {
			must(s.SetProfile(t.Context(), "user", "u", Profile{Name: "Ann Bea"}))(t)
			w.requireIndexed("user")
			require.NoError(t, w.rdb.Del(t.Context(), s.keys.ProfilePart("user", keyspace.ProfilePart("u")).Names).Err())
		}
	})
}

// Profiles that change during a build end with the index of the profiles that remain.
func TestReindexDuringChanges(t *testing.T) {
	t.Parallel()
	worlds(t, 2, patient, two, func(t *testing.T, w *world) {
		s, writer := w.stores[0], w.stores[1]
		const members = 64
		for i := range members {
			must(writer.SetProfile(t.Context(), "user", fmt.Sprint("m", i), Profile{Name: fmt.Sprint("Old ", i)}))(t)
		}
		// A stale element for each member, which no change knows.
		for i := range members {
			member := fmt.Sprint("m", i)
			require.NoError(t, w.rdb.ZAdd(t.Context(), s.keys.ProfilePart("user", keyspace.ProfilePart(member)).Names,
				redis.Z{Member: "stale" + keyspace.FieldSep + member}).Err())
		}
		changes := 0
		s.rdb.AddHook(&cutter{fate: func(sc string) fate {
			if sc == "profile" { // after the node has read the profiles
				for range 8 {
					member := fmt.Sprint("m", changes*13%members)
					if changes++; changes%4 == 0 {
						require.NoError(t, writer.DeleteProfile(context.Background(), "user", member))
						continue
					}
					_, err := writer.SetProfile(context.Background(), "user", member, Profile{Name: fmt.Sprint("New ", changes)})
					require.NoError(t, err)
				}
			}
			return passes
		}})
		w.reindex("user")
		require.Greater(t, changes, 3*keyspace.ProfileParts)
		w.requireIndexed("user")
		require.Empty(t, w.nameTraces("user", "stale"))
	})
}

// onePage is a reindexSlice by which each call ends after its first page.
const onePage = -time.Second

// Reindex goes on at the page where the call before ended. It refuses a cursor that is no position.
func TestReindexGoesOn(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	must(s.SetProfile(t.Context(), "user", "u", Profile{Name: "Ann"}))(t)
	part := keyspace.ProfilePart("u")
	for from, want := range map[int]int64{0: 1, part: 1, part + 1: 0, keyspace.ProfileParts: 0} {
		pages := 2 * (keyspace.ProfileParts - from) // each part has a page of profiles and a page of elements
		for slice, calls := range map[time.Duration]int{time.Hour: 1, onePage: max(pages, 1)} {
			s.reindexSlice = slice
			done, took := reindexFrom(t, s, "user", fmt.Sprintf(`{"part":%d}`, from))
			require.Equal(t, Reindexed{Profiles: want}, done, from)
			require.Equal(t, calls, took, from)
		}
	}
	for _, from := range []string{"x", "[]", `{"part":-1}`, `{"part":"1"}`} {
		refused(t, errorOf(s.Reindex(t.Context(), "user", from)), "cursor", from)
	}
	require.ErrorIs(t, errorOf(s.Reindex(t.Context(), "No kind", "")), definition.ErrInvalid)
}

// On a cluster the parts of a kind are on all masters. A change, a search, a build and an erasure work as on one Redis.
func TestProfilesOnACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	s := newNode(t, cluster.URL)
	w := &world{t: t, url: cluster.URL, rdb: s.rdb, stores: []*Store{s}}
	require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "a", Kind: "user"},
		{Name: "b:{x}", Kind: "user"}, {Name: "c", Kind: "star"}}}))
	masters := make(map[int]bool)
	var members []string
	for i := range 40 {
		members = append(members, fmt.Sprint("m", i))
		masters[cluster.MasterOf(s.keys.ProfilePart("user", keyspace.ProfilePart(members[i])).Names)] = true
		for _, kind := range []string{"user", "star"} {
			must(s.SetProfile(t.Context(), kind, members[i], Profile{Name: fmt.Sprint("Ann ", i)}))(t)
		}
	}
	require.Len(t, masters, len(cluster.Masters))
	s.ForgetProfiles()
	found := must(s.Profiles(t.Context(), "user", members))(t)
	require.ElementsMatch(t, members, slices.Collect(maps.Keys(found)))
	for _, small := range []int64{0, 1000} {
		s.searches.small = small
		for _, board := range []string{"a", "b:1", "b:2", "b:3", "c"} {
			w.write(s, board, "m7", 1)
			w.write(s, board, "m39", 2)
			must(s.SetProfile(t.Context(), s.kindOf(t, board), "m39", Profile{Name: "Bea Ánn"}))(t)
			r := must(s.Search(t.Context(), board, "ann", 10))(t)
			require.True(t, r.Complete)
			require.Equal(t, []string{fmt.Sprintf(`#1 m39 %d "Bea Ánn" ""`, r.List[0].Score),
				fmt.Sprintf(`#2 m7 %d "Ann 7" ""`, r.List[1].Score)}, r.lines())
			require.NoError(t, s.DeleteProfile(t.Context(), s.kindOf(t, board), "m39"))
			r = must(s.Search(t.Context(), board, "bea", 10))(t)
			require.Empty(t, r.List)
		}
	}
	require.Empty(t, w.nameTraces("user", "m39"))
	for _, kind := range []string{"user", "star"} {
		require.Equal(t, Reindexed{Profiles: 39}, w.reindex(kind))
	}
	require.NoError(t, s.CheckRights(t.Context()))
}

// As many kinds are marked as may be, whatever callers compete, and what more there are can
// have profiles all the same: all nodes see them, also when the others have none any more.
func TestKindsWithProfilesAreBounded(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, other, ctx := newNode(t, url), newNode(t, url), t.Context()
		var fields []any
		for i := range profiles.MaxKinds - 2 {
			fields = append(fields, fmt.Sprint(profilesField, "old", i), "1")
		}
		require.NoError(t, s.rdb.HSet(ctx, s.keys.Definitions(), append(fields, "version", "1", layoutField, Layout)...).Err())
		for _, node := range []*Store{s, other} {
			must(node.catalog.readFresh(ctx))(t)
		}
		kinds := make([]string, 40)
		var callers sync.WaitGroup
		for i := range kinds {
			kinds[i] = fmt.Sprint("new", i)
			callers.Go(func() {
				node := []*Store{s, other}[i%2]
				must(node.SetProfile(ctx, kinds[i], "m", Profile{Name: "Ann"}))(t)
			})
		}
		redistest.Wait(t, "the callers of the test", callers.Wait)
		marks := func() (n int) {
			names := must(s.rdb.HGetAll(ctx, s.keys.Definitions()).Result())(t)
			for name := range names {
				if strings.HasPrefix(name, profilesField) {
					n++
				}
			}
			require.Contains(t, names, profilesField+profiles.EveryKind)
			return n
		}
		require.Equal(t, profiles.MaxKinds+1, marks(), "with the mark of every kind")
		third := newNode(t, url)
		for _, kind := range append(kinds, "later") {
			must(third.SetProfile(ctx, kind, "m", Profile{Name: "Bob"}))(t)
			must(other.catalog.readFresh(ctx))(t)
			require.Contains(t, must(other.Profiles(ctx, kind, []string{"m"}))(t), "m", kind)
		}
		require.Equal(t, profiles.MaxKinds+1, marks())
	})
}
