package ranking

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// A search of a kind finds members by name or id, on boards or not. Members hidden everywhere are only for callers that ask for
// them.
func TestSearchMembersOfKind(t *testing.T) {
	t.Parallel()
	worlds(t, 2, patient, two, func(t *testing.T, w *world) {
		s := w.stores[1]
		find := func(text string, limit int, hidden bool) (found []string, complete bool) {
			t.Helper()
			r := must(s.SearchMembers(t.Context(), "user", MembersQuery{Text: text, Limit: limit, Hidden: hidden}))(t)
			for _, m := range r.List {
				name := m.Member + " " + m.Profile.Name
				if m.Hidden {
					name += " hidden"
				}
				found = append(found, name)
			}
			return found, r.Complete
		}
		for member, p := range map[string]Profile{"u1": {Name: "Ana María"}, "u2": {Name: "Ana"}, "u3": {Avatar: "/a.png"}, "ana": {Name: "Zoe"},
			"u4": {Name: "Ana Bad"}} {
			must(s.SetProfile(t.Context(), "user", member, p))(t)
		}
		must(s.SetProfile(t.Context(), "star", "s1", Profile{Name: "Ana Star"}))(t)
		for _, member := range []string{"u4", "bare"} {
			require.NoError(t, w.stores[0].HideEverywhere(t.Context(), "user", member, Moderator{}))
		}
		must(s.HiddenEverywhere(t.Context(), "user", "", 1))(t) // the node reads it
		for _, c := range []struct {
			text   string
			limit  int
			hidden bool
			want   []string
		}{
			{"ana", 10, false, []string{"ana Zoe", "u2 Ana", "u1 Ana María"}},
			{"ana", 10, true, []string{"ana Zoe", "u2 Ana", "u1 Ana María", "u4 Ana Bad hidden"}},
			{"ÁNA", 10, false, []string{"u2 Ana", "ana Zoe", "u1 Ana María"}},
			{"ana", 2, true, []string{"ana Zoe", "u2 Ana"}},
			{"maria an", 10, false, []string{"u1 Ana María"}},
			{" u3 ", 10, false, []string{"u3 "}},
			{"u", 10, false, []string{"u1 Ana María", "u2 Ana", "u3 "}},
			{"bare", 10, true, []string{"bare  hidden"}}, {"bare", 10, false, nil},
			{"u4", 10, false, nil}, {"u4", 10, true, []string{"u4 Ana Bad hidden"}},
			{"nobody", 10, true, nil}, {"*", 10, true, nil},
		} {
			found, complete := find(c.text, c.limit, c.hidden)
			require.Equal(t, c.want, found, "%q", c.text)
			require.True(t, complete)
		}
		s.searches.names = 0
		_, complete := find("ana", 10, false)
		require.False(t, complete)

		for field, q := range map[string]MembersQuery{"q": {Text: " ", Limit: 1}, "limit": {Text: "a", Limit: MaxFound + 1}} {
			refused(t, errorOf(s.SearchMembers(t.Context(), "user", q)), field)
		}
		refused(t, errorOf(s.SearchMembers(t.Context(), "user", MembersQuery{Text: strings.Repeat("a", MaxQueryBytes+1), Limit: 1})), "q")
		require.ErrorIs(t, errorOf(s.SearchMembers(t.Context(), "No Kind", MembersQuery{Text: "a", Limit: 1})), definition.ErrInvalid)
	})
}
