package ranking_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// The title of an instance has names of members in place of its placeholders, and their ids where they have no name.
func TestAbout(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		now := time.Now().UTC().Truncate(time.Second)
		day, ends := now.Truncate(24*time.Hour).Add(-24*time.Hour), now.Add(time.Hour)
		s := open(t, url,
			definition.Board{Name: "hot:{genre}:{star}", Title: definition.Label{"en": "{star} in {genre}", "zh": "{genre}的{star}"},
				Description: definition.Label{"": "{star}"}, Period: "day"},
			definition.Board{Name: "cup", Title: definition.Label{"": "Cup {star}"}, Starts: now.Add(-time.Hour), Ends: ends},
			definition.Board{Name: "plain"})
		must(s.SetProfile(t.Context(), "star", "s17", ranking.Profile{Name: "Lin Xi {genre}"}))(t)

		require.NoError(t, applyOne(t, s, "hot:rock:s17", definition.Update{Member: "mia", Score: 1}).Err)
		a := must(s.About(t.Context(), definition.Qualify("hot:rock:s17", day.Format(time.DateOnly))))(t)
		require.Equal(t, definition.Label{"en": "Lin Xi {genre} in rock", "zh": "rock的Lin Xi {genre}"}, a.Title)
		require.Equal(t, definition.Label{"": "Lin Xi {genre}"}, a.Description)
		require.Equal(t, definition.Label{"en": "{star} in {genre}", "zh": "{genre}的{star}"}, a.Definition.Title)
		require.Equal(t, []any{day.Format(time.DateOnly), day, day.Add(24 * time.Hour)}, []any{a.Period, a.Opens, a.Ends})

		a = must(s.About(t.Context(), "hot:rock:nobody"))(t)
		require.Equal(t, "nobody in rock", a.Title.In("en"))

		require.NoError(t, s.HideEverywhere(t.Context(), "star", "s17", ranking.Moderator{By: "ops"}))
		a = must(s.About(t.Context(), "hot:rock:s17"))(t)
		require.Equal(t, "s17 in rock", a.Title.In("en"), "a hidden member has no name")

		a = must(s.About(t.Context(), "cup"))(t)
		require.Equal(t, []any{"Cup {star}", "", now.Add(-time.Hour), ends}, []any{a.Title.In("en"), a.Period, a.Opens, a.Ends})

		a = must(s.About(t.Context(), "plain"))(t)
		require.Nil(t, a.Title)
		require.True(t, a.Opens.IsZero() && a.Ends.IsZero())

		require.ErrorIs(t, errorOf(s.About(t.Context(), "none")), definition.ErrUnknownBoard)
		require.Equal(t, map[string]ranking.About{"plain": a}, s.AboutEach(t.Context(), []string{"none", "plain"}))
	})
}
