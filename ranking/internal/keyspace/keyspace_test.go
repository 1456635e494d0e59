package keyspace

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// No two things of a board are kept under one name.
func TestKeysOfABoardDiffer(t *testing.T) {
	t.Parallel()
	k := New("rc")
	for _, period := range []string{"", "2026"} {
		b, ids := k.Board("u", period), k.Ids("u")
		all := slices.Concat(b.All(), k.Build("u").All(), ids[:], []string{b.Periods, b.Channel})
		slices.Sort(all)
		require.Equal(t, all, slices.Compact(slices.Clone(all)))
	}
}

// The keys of the indexes of names are in one slot for each kind, and are those of no board, event or other key.
func TestKeysOfNames(t *testing.T) {
	t.Parallel()
	k := New("rc")
	all := []string{k.Agenda(), k.Definitions(), k.ErasureAgenda(), k.Erasures(), k.NameAgenda(), k.NamesBuilt(), k.Board("names/user", "").Members, k.EventIDs("names")[0], k.EventIDs("names/user")[0]}
	for _, kind := range []string{"user", "star"} {
		n := k.Names(kind)
		for _, key := range []string{n.Names, n.Entries, n.Pending} {
			require.Contains(t, key, "rc:{/names/"+kind+"}:")
			all = append(all, key)
		}
	}
	slices.Sort(all)
	require.Equal(t, all, slices.Compact(slices.Clone(all)))
}

func TestProfileOf(t *testing.T) {
	t.Parallel()
	k := New("a*[b]?\\")
	for _, member := range []string{"u", "a:b", "{x}", "", "中"} {
		kind, id, ok := k.ProfileOf(k.Profile("user", member))
		require.True(t, ok)
		require.Equal(t, [2]string{"user", member}, [2]string{kind, id})
	}
	for _, key := range []string{"a*[b]?\\:profile", "rc:profile:user:u", k.Names("user").Names, "a*[b]?\\:profile:user"} {
		_, _, ok := k.ProfileOf(key)
		require.False(t, ok, key)
	}
	require.Equal(t, `a\*\[b\]\?\\:profile:*`, k.ProfilePattern())
}
