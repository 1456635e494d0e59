package ranking

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// A node reads the profiles that a batch needs in one round trip. While it cannot read them, the events that
// need them fail, and may be sent again.
func TestProfilesOfABatchOfEvents(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "stars"}},
			Events: []definition.Event{{Name: "e", Rules: definition.FieldRules{"star": {Kind: "star"}},
				Updates: []definition.Target{{Board: "stars", Member: "{star}", Score: "1"}}}}}))
		var batch []EventCall
		for i := range 100 {
			star := fmt.Sprint("s", i)
			batch = append(batch, EventCall{ID: star, Fields: map[string]jsontext.Value{"star": jsontext.Value(`"` + star + `"`)}})
			if i%2 == 0 {
				must(s.SetProfile(t.Context(), "star", star, Profile{Name: star}))(t)
			}
		}
		hook := new(profileReads)
		s.rdb.AddHook(redistest.Hook(hook.pass))
		send := func() (counted int) {
			for _, h := range must(s.ApplyEvents(t.Context(), "e", batch))(t) {
				if h.Err == nil {
					counted++
				} else {
					require.ErrorIs(t, h.Err, ErrInvalid)
				}
			}
			return counted
		}
		hook.lose.Store(true)
		_, err := s.ApplyEvents(t.Context(), "e", batch)
		require.ErrorIs(t, err, ErrUnavailable)
		require.NotErrorIs(t, err, ErrOutcomeUnknown)
		page := must(s.Page(t.Context(), "stars", 1, 10))(t)
		require.Empty(t, page.Entries)

		hook.lose.Store(false)
		s.ForgetProfiles() // as after an outage
		hook.sent.Store(0)
		require.Equal(t, 50, send())
		require.EqualValues(t, 1, hook.sent.Load())
		page = must(s.Page(t.Context(), "stars", 1, 100))(t)
		require.Len(t, page.Entries, 50)

		// One event whose members the node knows counts without the profiles of others.
		hook.lose.Store(true)
		h := must(s.ApplyEvents(t.Context(), "e", batch[:2]))(t)
		require.NoError(t, h[0].Err)
		require.ErrorIs(t, h[1].Err, ErrUnavailable)
	})
}
