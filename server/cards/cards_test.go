package cards

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/cards/internal/card"
)

// A card names the period of its board for people, in the time zone of the periods.
func TestPeriodText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ period, opens, ends, want string }{
		{"", "2026-11-22T16:00:00Z", "2026-11-29T16:00:00Z", ""},
		{"week", "2026-11-22T16:00:00Z", "2026-11-29T16:00:00Z", "Nov 23 – 29, 2026"},
		{"week", "2026-11-29T21:00:00Z", "2026-12-06T21:00:00Z", "Nov 30 – Dec 6, 2026"},
		{"week", "2026-12-27T16:00:00Z", "2027-01-03T16:00:00Z", "Dec 28, 2026 – Jan 3, 2027"},
		{"day", "2026-11-28T16:00:00Z", "2026-11-29T16:00:00Z", "Nov 29, 2026"},
		{"month", "2026-10-31T16:00:00Z", "2026-11-30T16:00:00Z", "November 2026"},
		{"year", "2025-12-31T16:00:00Z", "2026-12-31T16:00:00Z", "2026"},
		{"1m", "2026-11-29T15:59:00Z", "2026-11-29T16:00:00Z", "Nov 29, 2026, 23:59"},
		{"72h", "2026-11-28T16:00:00Z", "2026-12-01T16:00:00Z", "Nov 29 – Dec 1, 2026"},
	} {
		about := ranking.About{Board: ranking.Board{Definition: definition.Board{Period: c.period, Timezone: "Asia/Shanghai"}}}
		for text, at := range map[string]*time.Time{c.opens: &about.Opens, c.ends: &about.Ends} {
			var err error
			*at, err = time.Parse(time.RFC3339, text)
			require.NoError(t, err)
		}
		if c.period != "" {
			about.Period = "any"
		}
		require.Equal(t, c.want, periodText(about))
	}
}

// The card of a result says who has won, and by how much.
func TestCardNamesTheWinner(t *testing.T) {
	t.Parallel()
	entries := func(ranks ...int64) (of []ranking.Entry) {
		for i, rank := range ranks {
			of = append(of, ranking.Entry{Rank: rank, Member: "m", Score: int64(40 - 10*i)})
		}
		return of
	}
	for _, c := range []struct {
		name, period          string
		entries               []ranking.Entry
		title, subtitle, left string
	}{
		{"Mia", "Nov 29, 2026", entries(1, 2), "Mia wins", "Daily, Nov 29, 2026", "2 members, won by 10 pts"},
		{"", "", entries(1), "m wins", "Daily", "2 members"},
		{"Mia", "Nov 29, 2026", entries(1, 1), "Daily", "Nov 29, 2026", "2 members"},
	} {
		of := card.Card{Title: "Daily", Subtitle: c.period, Left: "2 members", Rows: []card.Row{{Name: c.name, Member: "m"}}}
		nameWinner(&of, ranking.Page{Entries: c.entries}, definition.Display{Unit: definition.Label{"": "pts"}})
		require.Equal(t, []string{c.title, c.subtitle, c.left}, []string{of.Title, of.Subtitle, of.Left})
	}
}
