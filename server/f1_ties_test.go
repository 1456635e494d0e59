package server_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// finalStanding is the points of all who were in a season's last standing, in tenths,
// those without any among them, and their official positions, where these are known.
type finalStanding struct {
	points   map[string]int64
	position map[string]int64
}

// ranks are those that follow from points alone, by two tie rules.
func (f finalStanding) ranks(member string) (shared, dense int64) {
	better := make(map[int64]bool)
	shared = 1
	for _, points := range f.points {
		if points > f.points[member] {
			better[points] = true
			shared++
		}
	}
	return shared, int64(len(better)) + 1
}

// readFinals reads the last standings of drivers and of constructors, by season; where
// the official one of constructors is not known, theirs is the sum of the events.
func readFinals(t testing.TB, seasons map[string][]*round) (drivers, constructors map[string]finalStanding) {
	drivers, constructors = make(map[string]finalStanding), make(map[string]finalStanding)
	for season, rounds := range seasons {
		drivers[season] = finalStanding{make(map[string]int64), make(map[string]int64)}
		constructors[season] = finalStanding{make(map[string]int64), make(map[string]int64)}
		for _, r := range rounds {
			for _, e := range r.results {
				constructors[season].points[e.constructor] += integer(t, e.tenths)
			}
		}
	}
	for _, s := range readF1(t, "standings.csv") {
		rounds := seasons[s[0]]
		if int(integer(t, s[1])) == rounds[len(rounds)-1].number {
			drivers[s[0]].points[s[2]], drivers[s[0]].position[s[2]] = integer(t, s[3]), integer(t, s[4])
		}
	}
	for _, c := range readF1(t, "constructors.csv") {
		constructors[c[0]].points[c[1]], constructors[c[0]].position[c[1]] = integer(t, c[2]), integer(t, c[3])
	}
	return drivers, constructors
}

// Every final standing of nineteen seasons, of drivers and of constructors, has the ranks
// by shared and by dense ties that a plain recount of the official points gives: in pages,
// in looked-up places, and for who watched the last race.
func TestFormula1FinalStandingsWithTies(t *testing.T) {
	t.Parallel()
	seasons := readSeasons(t)
	drivers, constructors := readFinals(t, seasons)
	require.Len(t, drivers, 19)
	finals := map[string]map[string]finalStanding{"drivers": drivers, "constructors": constructors}
	tied := 0
	for _, standings := range finals {
		for season, f := range standings {
			for member, position := range f.position { // which the officials gave, breaking ties
				shared, _ := f.ranks(member)
				equals := int64(0)
				for _, points := range f.points {
					if points == f.points[member] {
						equals++
					}
				}
				require.True(t, shared <= position && position < shared+equals, "%s in %s", member, season)
				if equals > 1 {
					tied++
				}
			}
		}
	}
	require.Greater(t, tied, 100, "or the data is no test of ties")

	redistest.Engines(t, func(t *testing.T, url string) {
		var boards []definition.Board
		var points []definition.Target
		for _, ties := range []definition.Ties{definition.Shared, definition.Dense} {
			for _, of := range []string{"driver", "constructor"} {
				board := fmt.Sprintf("%ss-%s:{season}", of, ties)
				boards = append(boards, definition.Board{Name: board, Ties: ties, Kind: of})
				points = append(points, definition.Target{Board: board, Member: "{" + of + "}", Score: "{tenths}"})
			}
		}
		n := servertest.Start(t, url, servertest.Config{Hub: hub.Config{Interval: time.Millisecond}}, boards...)
		require.NoError(t, n.Store.Define(t.Context(), definition.Set{Events: []definition.Event{{Name: "points", Updates: points}}}))
		send := func(rounds []*round) {
			for some := range slices.Chunk(results(rounds), 100) {
				a := n.Require(200, "POST", "/v1/events/points", `{"events":[`+strings.Join(some, ",")+`]}`)
				require.NotContains(t, a.Body, `"error"`)
			}
		}
		for _, season := range slices.Sorted(maps.Keys(seasons)) {
			rounds := seasons[season]
			last := len(rounds) - 1
			send(rounds[:last])
			s := servertest.Dial(t, n.Addr)
			for of, standings := range finals {
				var without []definition.Update // who never scored
				for member, points := range standings[season].points {
					if points == 0 {
						without = append(without, definition.Update{Member: member})
					}
				}
				for _, ties := range []definition.Ties{definition.Shared, definition.Dense} {
					board := fmt.Sprintf("%s-%s:%s", of, ties, season)
					_, err := n.Store.Apply(t.Context(), board, without)
					require.NoError(t, err)
					s.Subscribe(board, 1000)
				}
			}
			send(rounds[last:])
			for of, standings := range finals {
				for _, ties := range []definition.Ties{definition.Shared, definition.Dense} {
					board, final := fmt.Sprintf("%s-%s:%s", of, ties, season), standings[season]
					holdsFinal(t, n, board, ties, final)
					top, _ := n.Top(board, 1000)
					s.Until(board, "the last race", func(b *hubtest.Board) bool { return slices.Equal(b.Top, top) })
				}
			}
			s.WS.CloseNow()
		}
	})
}

// holdsFinal checks pages and places of a board against a standing.
func holdsFinal(t *testing.T, n *servertest.Node, board string, ties definition.Ties, final finalStanding) {
	t.Helper()
	want := func(member string) hubtest.Entry {
		rank, dense := final.ranks(member)
		if ties == definition.Dense {
			rank = dense
		}
		return hubtest.Entry{Rank: rank, Member: member, Score: final.points[member]}
	}
	top, total := n.Top(board, 1000)
	require.Len(t, top, len(final.points), board)
	require.EqualValues(t, len(top), total)
	var lookups []ranking.Lookup
	for i, e := range top {
		require.Equal(t, want(e.Member), e, board)
		require.True(t, i == 0 || top[i-1].Rank <= e.Rank, board)
		lookups = append(lookups, ranking.Lookup{Member: e.Member})
	}
	middle := slices.IndexFunc(top, func(e hubtest.Entry) bool { return e.Rank == top[len(top)/2].Rank })
	page, err := n.Store.Page(t.Context(), board, top[middle].Rank, 10)
	require.NoError(t, err)
	for i, e := range page.Entries {
		require.Equal(t, top[middle+i], hubtest.Entry{Rank: e.Rank, Member: e.Member, Score: e.Score}, board)
	}
	places, err := n.Store.Places(t.Context(), board, lookups)
	require.NoError(t, err)
	for i, p := range places.List {
		require.Equal(t, top[i], hubtest.Entry{Rank: p.Entry.Rank, Member: p.Entry.Member, Score: p.Entry.Score}, board)
		require.EqualValues(t, i+1, p.Position)
	}
}
