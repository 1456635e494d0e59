package server_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// round is one Formula 1 weekend: who scored, and how the season stood then.
type round struct {
	number    int
	events    []string         // updates, as JSON
	standings map[string]int64 // points in tenths, by driver; those who have some
}

// readSeasons reads testdata/f1; see the README there for its source.
func readSeasons(t testing.TB) map[string][]*round {
	rows := func(name string) [][]string {
		f, err := os.Open("testdata/f1/" + name)
		require.NoError(t, err)
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		require.NoError(t, err)
		return rows[1:]
	}
	seasons := make(map[string][]*round)
	get := func(season, number string) *round {
		n, err := strconv.Atoi(number)
		require.NoError(t, err)
		for _, r := range seasons[season] {
			if r.number == n {
				return r
			}
		}
		r := &round{number: n, standings: make(map[string]int64)}
		seasons[season] = append(seasons[season], r)
		return r
	}
	for _, e := range rows("events.csv") {
		r := get(e[0], e[1])
		r.events = append(r.events, fmt.Sprintf(`{"member":%q,"score":%s,"id":"%s/%s/%s/%s"}`, e[5], e[7], e[0], e[1], e[4], e[5]))
	}
	for _, s := range rows("standings.csv") {
		points, err := strconv.ParseInt(s[3], 10, 64)
		require.NoError(t, err)
		if points > 0 {
			get(s[0], s[1]).standings[s[2]] = points
		}
	}
	for _, rounds := range seasons {
		slices.SortFunc(rounds, func(a, b *round) int { return a.number - b.number })
	}
	return seasons
}

// Nineteen seasons, event by event: after every round the board is the official
// standings, and what a client folded is what the board says.
func TestFormula1(t *testing.T) {
	seasons := readSeasons(t)
	require.Len(t, seasons, 19)
	redistest.Engines(t, func(t *testing.T, url string) {
		var boards []ranking.Definition
		for season := range seasons {
			boards = append(boards, ranking.Definition{Board: "f1-" + season})
		}
		n := startNode(t, url, nodeConfig{hub: hub.Config{Interval: time.Millisecond}}, boards...)
		for season, rounds := range seasons {
			board := "f1-" + season
			whole, ten, three := servertest.Dial(t, n.addr), servertest.Dial(t, n.addr), servertest.Dial(t, n.addr)
			whole.Subscribe(board, 1000)
			ten.Subscribe(board, 10)
			three.Subscribe(board, 3)
			for _, r := range rounds {
				body := `{"updates":[` + strings.Join(r.events, ",") + `]}`
				for range 2 { // the second time is a retry, which counts nothing
					a := n.do("POST", "/v1/boards/"+board+"/scores", body)
					require.Equal(t, 200, a.Status, a.Body)
					require.NotContains(t, a.Body, "error")
				}
				top, total := n.top(board, 1000)
				got := make(map[string]int64)
				for i, e := range top {
					got[e.Member] = e.Score
					require.EqualValues(t, i+1, e.Rank)
					if i > 0 {
						require.LessOrEqual(t, e.Score, top[i-1].Score)
					}
				}
				require.Equal(t, r.standings, got, "%s, round %d", season, r.number)

				info, err := n.store.Info(t.Context(), board)
				require.NoError(t, err)
				whole.Until(board, "the last change", func(b *hubtest.Board) bool { return b.Seq == info.Seq })
				require.Equal(t, top, whole.Boards[board].Top, "%s, round %d", season, r.number)
				for s, limit := range map[*servertest.Socket]int{ten: 10, three: 3} {
					want, _ := n.top(board, limit)
					s.Until(board, fmt.Sprintf("round %d's top %d", r.number, limit), func(b *hubtest.Board) bool {
						return b.Total == total && slices.Equal(b.Top, want)
					})
				}
			}
			for _, s := range []*servertest.Socket{whole, ten, three} {
				s.WS.CloseNow()
			}
		}
	})
}
