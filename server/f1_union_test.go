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
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

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
		a := n.Do("PUT", "/v1/boards/ever", `{"kind":"driver","display":{"decimals":1},"union":{"of":[`+strings.Join(of,
			",")+`],"refresh":"1s"}}`)
		require.Equal(t, 201, a.Status, a.Body)
		want := make(map[string]int64)
		send := func(season string, r *round) {
			var updates []string
			for _, e := range r.results {
				updates = append(updates, fmt.Sprintf(`{"member":%q,"score":%s,"id":%q}`, e.driver, e.tenths, e.id))
			}
			a := n.Do("POST", "/v1/boards/drivers:"+season+"/scores", `{"updates":[`+strings.Join(updates, ",")+`]}`)
			require.Equal(t, 200, a.Status, a.Body)
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
		a = n.Do("POST", "/v1/boards/ever/scores", `{"member":"lewis-hamilton","score":1}`)
		require.Equal(t, 409, a.Status, a.Body)
		require.Contains(t, a.Body, `"field":"board"`)
		require.Equal(t, 409, n.Do("DELETE", "/v1/boards/drivers:%7Bseason%7D", "").Status)
		s.WS.CloseNow()
	})
}
