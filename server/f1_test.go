package server_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// round is one Formula 1 weekend: who scored, and how the season stood then.
type round struct {
	number    int
	results   []raceResult
	standings map[string]int64 // points in tenths, by driver; those who have some
}

// raceResult is one driver's points in a race or a sprint.
type raceResult struct{ id, season, driver, constructor, tenths string }

// updates is the body that gives all points of the round to the drivers.
func (r *round) updates() string {
	var updates []string
	for _, e := range r.results {
		updates = append(updates, fmt.Sprintf(`{"member":%q,"score":%s,"id":%q}`, e.driver, e.tenths, e.id))
	}
	return `{"updates":[` + strings.Join(updates, ",") + `]}`
}

// standing requires that entries are in the order of their scores, and returns the score of each member.
func standing(t *testing.T, top []hubtest.Entry) map[string]int64 {
	t.Helper()
	points := make(map[string]int64)
	for i, e := range top {
		points[e.Member] = e.Score
		require.EqualValues(t, i+1, e.Rank)
		if i > 0 {
			require.LessOrEqual(t, e.Score, top[i-1].Score)
		}
	}
	return points
}

// Nineteen seasons, event by event: after every round the board is the official
// standings, and what a client folded is what the board says.
func TestFormula1(t *testing.T) {
	t.Parallel()
	seasons := readSeasons(t)
	require.Len(t, seasons, 19)
	redistest.Engines(t, func(t *testing.T, url string) {
		var boards []definition.Board
		for season := range seasons {
			boards = append(boards, definition.Board{Name: "f1-" + season})
		}
		n := servertest.Start(t, url, servertest.Config{Hub: hub.Config{Interval: time.Millisecond}}, boards...)
		for season, rounds := range seasons {
			board := "f1-" + season
			whole, ten, three := servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr)
			whole.Subscribe(board, 1000)
			ten.Subscribe(board, 10)
			three.Subscribe(board, 3)
			for _, r := range rounds {
				for range 2 { // the second time is a retry, which counts nothing
					a := n.Require(200, "POST", "/v1/boards/"+board+"/scores", r.updates())
					require.NotContains(t, a.Body, "error")
				}
				top, total := n.Top(board, 1000)
				require.Equal(t, r.standings, standing(t, top), "%s, round %d", season, r.number)

				info, err := n.Store.Info(t.Context(), board)
				require.NoError(t, err)
				whole.Until(board, "the last change", func(b *hubtest.Board) bool { return b.Seq == info.Seq })
				require.Equal(t, top, whole.Boards[board].Top, "%s, round %d", season, r.number)
				for s, limit := range map[*servertest.Socket]int{ten: 10, three: 3} {
					want, _ := n.Top(board, limit)
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

// One definition of an event gives each season a board of drivers and one of
// constructors. The seasons come in batches, and whole batches again: once more at
// once, as after an answer that was lost, and much later.
func TestFormula1SeasonsFromOneEvent(t *testing.T) {
	t.Parallel()
	seasons := readSeasons(t)
	var batches []string
	drivers, constructors := make(map[string]map[string]int64), make(map[string]map[string]int64)
	for season, rounds := range seasons {
		drivers[season], constructors[season] = rounds[len(rounds)-1].standings, make(map[string]int64)
		for some := range slices.Chunk(rounds, 7) {
			for _, r := range some {
				for _, e := range r.results {
					constructors[season][e.constructor] += integer(t, e.tenths)
				}
			}
			batches = append(batches, `{"events":[`+strings.Join(results(some), ",")+`]}`)
		}
	}
	official := make(map[string]map[string]int64)
	for _, row := range readF1(t, "constructors.csv") {
		if official[row[0]] == nil {
			official[row[0]] = make(map[string]int64)
		}
		if points := integer(t, row[2]); points > 0 {
			official[row[0]][row[1]] = points
		}
	}
	require.Len(t, official, 7)
	for season, want := range official {
		require.Equal(t, want, constructors[season], season)
	}

	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{})
		for path, body := range map[string]string{
			"boards/drivers:%7Bseason%7D":      `{"kind":"driver","display":{"decimals":1}}`,
			"boards/constructors:%7Bseason%7D": `{"kind":"constructor","display":{"decimals":1}}`,
		} {
			n.Require(201, "PUT", "/v1/"+path, body)
		}
		require.Equal(t, 201, n.Do("PUT", "/v1/events/points", `{"updates":[
			{"board":"drivers:{season}","member":"{driver}","score":"{tenths}"},
			{"board":"constructors:{season}","member":"{constructor}","score":"{tenths}"}]}`).Status)
		send := func(batch string) string {
			a := n.Require(200, "POST", "/v1/events/points", batch)
			require.NotContains(t, a.Body, `"error"`)
			return a.Body
		}
		first := make([]string, len(batches))
		again := func(i int) {
			require.Equal(t, strings.ReplaceAll(first[i], `"duplicate":false`, `"duplicate":true`), send(batches[i]))
		}
		for i, batch := range batches {
			first[i] = send(batch)
			require.NotContains(t, first[i], `"duplicate":true`)
			if i%3 == 0 {
				again(i)
			}
			if i%5 == 4 {
				again(rand.IntN(i))
			}
		}
		standingOf := func(board string) map[string]int64 {
			top, total := n.Top(board, 1000)
			require.Len(t, top, int(total))
			return standing(t, top)
		}
		for season := range seasons {
			require.Equal(t, drivers[season], standingOf("drivers:"+season), season)
			require.Equal(t, constructors[season], standingOf("constructors:"+season), season)
		}
		require.Contains(t, n.Do("GET", "/v1/boards/drivers:%7Bseason%7D/instances", "").Body,
			`"total":19,"instances":["drivers:2005","drivers:2006"`)
	})
}

// lap is one lap of a qualifying, and where its driver is for it.
type lap struct {
	Rank   int64  `json:"rank"`
	Driver string `json:"member"`
	MS     int64  `json:"score"`
	Data   struct {
		Lap int `json:"lap"`
	} `json:"data"`
}

// recount is the naive order of a segment: each driver's best lap, the first of
// those as fast, and of equal bests the one that was driven first.
func recount(laps []lap) (order []lap) {
	for _, l := range laps {
		i := slices.IndexFunc(order, func(o lap) bool { return o.Driver == l.Driver })
		if i >= 0 && order[i].MS <= l.MS {
			continue
		}
		if i >= 0 {
			order = slices.Delete(order, i, i+1)
		}
		order = append(order, l) // in the order in which they were driven
	}
	slices.SortStableFunc(order, func(a, b lap) int { return cmp.Compare(a.MS, b.MS) })
	for i := range order {
		order[i].Rank = int64(i + 1)
	}
	return order
}

// Qualifying: of three segments each has a board of best laps, the slowest go home
// after the first and the second. Laps come in batches, some of which come twice,
// and the drivers are so close that best laps are often equal.
func TestQualifying(t *testing.T) {
	servertest.With(servertest.Config{Hub: hub.Config{Interval: time.Millisecond}}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(201, "PUT", "/v1/boards/quali:%7Brace%7D:%7Bsegment%7D",
			`{"mode":"best","order":"asc","display":{"format":"time_ms"}}`)
		n.Require(201, "PUT", "/v1/events/lap", `{"updates":[
			{"board":"quali:{race}:{segment}","member":"{driver}","score":"{ms}","data":{"lap":"{lap}"}}]}`)
		for _, race := range []string{"monaco", "são paulo", "スズカ"} {
			var drivers []string
			for i := range 20 {
				drivers = append(drivers, fmt.Sprintf("car %d", i+1))
			}
			for _, segment := range []struct {
				name  string
				stays int
			}{{"q1", 15}, {"q2", 10}, {"q3", 1}} {
				board := "quali:" + race + ":" + segment.name
				page := "/v1/boards/" + url.PathEscape(board) + "/top?limit=20"
				socket := servertest.Dial(t, n.Addr)
				socket.Subscribe(board, 20)
				var laps []lap
				send := func(some []lap) string {
					var events []string
					for _, l := range some {
						events = append(events, fmt.Sprintf(`{"id":"%s %s %d","race":%q,"segment":%q,"driver":%q,"ms":%d,"lap":%d}`, race,
							segment.name, l.Data.Lap, race, segment.name, l.Driver, l.MS, l.Data.Lap))
					}
					a := n.Require(200, "POST", "/v1/events/lap", `{"events":[`+strings.Join(events, ",")+`]}`)
					require.NotContains(t, a.Body, `"error"`)
					return a.Body
				}
				for range 6 {
					var some []lap
					for range 15 {
						l := lap{Driver: drivers[rand.IntN(len(drivers))], MS: 71_000 + rand.Int64N(12)}
						l.Data.Lap = len(laps) + 1
						some, laps = append(some, l), append(laps, l)
					}
					send(some)
					if rand.IntN(2) == 0 {
						require.Equal(t, len(some), strings.Count(send(some), `"duplicate":true`))
					}
					var got struct {
						Total int
						Top   []lap
					}
					n.Do("GET", page, "").Into(&got)
					want := recount(laps)
					require.Equal(t, want, got.Top, "%s after %v", board, laps)
					require.Equal(t, len(want), got.Total)
				}
				want, total := n.Top(url.PathEscape(board), 20)
				socket.Until(board, "the last lap", func(b *hubtest.Board) bool { return b.Total == total && slices.Equal(b.Top, want) })
				socket.WS.CloseNow()
				drivers = drivers[:0]
				for _, l := range recount(laps)[:segment.stays] {
					drivers = append(drivers, l.Driver)
				}
			}
		}
	})
}

// The drivers' all-time points are the union of the seasons' boards, and a watcher sees
// them come to that as the last season goes on, without anybody who reads.
func TestFormula1AllTime(t *testing.T) {
	t.Parallel()
	seasons := readSeasons(t)
	names := slices.Sorted(maps.Keys(seasons))
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{Hub: hub.Config{Interval: time.Millisecond,
			CheckInterval: 50 * time.Millisecond}}, definition.Board{Name: "drivers:{season}"})
		var of []string
		for _, season := range names {
			of = append(of, `"drivers:`+season+`"`)
		}
		a := n.Require(201, "PUT", "/v1/boards/ever", `{"kind":"driver","display":{"decimals":1},"union":{"of":[`+strings.Join(of,
			",")+`],"refresh":"1s"}}`)
		want := make(map[string]int64)
		send := func(season string, r *round) {
			n.Require(200, "POST", "/v1/boards/drivers:"+season+"/scores", r.updates())
		}
		last := len(names) - 1
		for i, season := range names {
			rounds := seasons[season]
			for driver, points := range rounds[len(rounds)-1].standings {
				want[driver] += points
			}
			for _, r := range rounds {
				if i < last {
					send(season, r)
				}
			}
		}
		s := servertest.Dial(t, n.Addr)
		s.Subscribe("ever", 1000)
		require.NotEmpty(t, s.Boards["ever"].Top)
		for _, r := range seasons[names[last]] {
			send(names[last], r)
		}
		shown := func(top []hubtest.Entry) map[string]int64 {
			got := make(map[string]int64)
			for i, e := range top {
				if e.Score > 0 { // who never scored is there, too
					got[e.Member] = e.Score
				}
				if i > 0 && e.Score > top[i-1].Score {
					return nil
				}
			}
			return got
		}
		s.Until("ever", "all seasons", func(b *hubtest.Board) bool { return maps.Equal(shown(b.Top), want) })
		top, total := n.Top("ever", 1000)
		require.Equal(t, want, shown(top))
		require.EqualValues(t, len(top), total)
		require.Equal(t, top, s.Boards["ever"].Top)
		require.Equal(t, "lewis-hamilton", top[0].Member)

		require.Contains(t, n.Do("GET", "/v1/boards/ever", "").Body, `"union":{"of":["drivers:`+names[0]+`"`)
		require.Contains(t, n.Do("GET", "/v1/boards/ever/periods", "").Body, `"period":`)
		a = n.Require(409, "POST", "/v1/boards/ever/scores", `{"member":"lewis-hamilton","score":1}`)
		require.Contains(t, a.Body, `"field":"board"`)
		n.Require(409, "DELETE", "/v1/boards/drivers:%7Bseason%7D", "")
		s.WS.CloseNow()
	})
}
