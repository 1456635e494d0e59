package ranking_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// A Redis that refuses the connection, as after its password was changed, has answered nothing: boards are not empty
// then, and members not without profiles.
func TestRefusedConnectionAnswersNothing(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	url := r.AppURL("~*", "&*", "+@all")
	s := open(t, url, definition.Board{Name: "b", Kind: "user"})
	applyOne(t, s, "b", definition.Update{Member: "ana", Score: 1})
	must(s.SetProfile(t.Context(), "user", "ana", ranking.Profile{Name: "Ana"}))(t)
	other := open(t, url)
	for _, s := range []*ranking.Store{s, other} {
		require.NoError(t, s.States(t.Context(), []string{"b"})[0].Err) // it knows the definitions
	}
	require.NoError(t, r.Admin().Do(t.Context(), "ACL", "SETUSER", "app", "resetpass", ">new").Err())
	require.NoError(t, r.Admin().Do(t.Context(), "CLIENT", "KILL", "USER", "app").Err())
	state := other.States(t.Context(), []string{"b"})[0]
	require.ErrorIs(t, state.Err, definition.ErrUnavailable)
	require.ErrorContains(t, state.Err, "WRONGPASS")
	require.ErrorIs(t, errorOf(other.Profiles(t.Context(), "user", []string{"ana"})), definition.ErrUnavailable)
	require.NoError(t, r.Admin().Do(t.Context(), "ACL", "SETUSER", "app", "resetpass", ">pw").Err())
	found := must(other.Profiles(t.Context(), "user", []string{"ana"}))(t)
	require.Equal(t, "Ana", found["ana"].Name, "the absence of a profile is not kept")
}
