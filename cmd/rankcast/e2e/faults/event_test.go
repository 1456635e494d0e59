package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// fiveBoards is a boards file with an event that touches each of five boards.
const fiveBoards = `
boards: {a: {}, b: {mode: last}, "c:{star}": {period: week}, d: {mode: best, order: asc}, e: {period: day, timezone: Asia/Kolkata}}
events:
  gift:
    - {board: a, member: "{user}", score: "{flowers}"}
    - {board: b, member: "{user}", score: "{flowers}"}
    - {board: "c:{star}", member: "{user}", score: "{flowers}"}
    - {board: d, member: "{user}", score: "{flowers}"}
    - {board: e, member: "{user}", score: "{flowers}"}
`

// A server is killed in the middle of an event, once between any two of its trips to Redis. The event
// is sent again to another node, and every board counts it once, and the feed tells it once.
func TestKilledInTheMiddleOfAnEvent(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	file := filepath.Join(t.TempDir(), "boards.yaml")
	require.NoError(t, os.WriteFile(file, []byte(fiveBoards), 0o600))
	other := e2etest.Launch(t, "--redis", r.URL(), "--boards", file)
	other.Ready()
	feed := servertest.Dial(t, other.Addr)
	feed.Send(`{"type":"subscribe","id":1,"feed":"gift"}`)
	feed.Next("ok")
	feed.Next("feed")
	gift := func(id, star string) string {
		return fmt.Sprintf(`{"id":%q,"star":%q,"user":%q,"flowers":7}`, id, star, id)
	}
	send := func(id, star string) servertest.Answer {
		return servertest.Request(t, "POST", "http://"+other.Addr+"/v1/events/gift", gift(id, star))
	}
	toldOnce := func(id string) {
		items := feed.Next("feed").Items
		require.Len(t, items, 1, "%s", items)
		require.Contains(t, string(items[0].Data), id)
	}
	const ofEvent = "{/gift}"             // in the first trip
	known := []string{"a", "b", "d", "e"} // boards that exist
	require.Equal(t, 200, send("first", "s").Status)
	toldOnce("first")
	points := []struct {
		name string
		star string // the board of a star that has none yet takes a trip of its own, and so does the feed then
		hold string // what Redis does not get, when something is done once it has carried out the first trip
		done []string
	}{
		{"before all", "before-all", ofEvent, nil},
		{"before a new board", "before-a-new-board", "{c:before-a-new-board}", known},
		{"before the feed", "before-the-feed", "f:gift", append([]string{"c:before-the-feed"}, known...)},
		{"after all", "s", "", append([]string{"c:s"}, known...)},
	}
	for _, point := range points {
		t.Run(point.name, func(t *testing.T) {
			id := strings.ReplaceAll(point.name, " ", "-")
			proxy := redistest.StartProxy(t, r.URL())
			dies := e2etest.Launch(t, "--redis", proxy.URL(), "--boards", file)
			dies.Ready()
			first := proxy.Gate(ofEvent)
			if point.done == nil {
				proxy.Hold(point.hold)
			}
			answered := make(chan int, 1)
			go func() {
				a, _ := servertest.Try(t, "POST", "http://"+dies.Addr+"/v1/events/gift", gift(id, point.star))
				answered <- a.Status
			}()
			if point.done != nil {
				redistest.Receive(t, "the call to reach the gate", first.Reached())
			}
			if point.hold != "" {
				proxy.Hold(point.hold)
				first.Open()
				redistest.Eventually(t, "the event to be half way", func() error {
					if proxy.Held() == 0 {
						return fmt.Errorf("nothing is held")
					}
					return nil
				})
			}
			dies.Kill()
			require.NotEqual(t, 200, redistest.Receive(t, "a value from answered", answered), "it died before it had answered")
			for _, board := range point.done {
				a := servertest.Request(t, "GET", "http://"+other.Addr+"/v1/boards/"+board+"/members/"+id, "")
				require.Equal(t, 200, a.Status, a.Body)
			}

			a := send(id, point.star)
			require.Equal(t, 200, a.Status, a.Body)
			var answer struct {
				Results []struct {
					Board     string
					Score     int64
					Duplicate bool
				}
			}
			a.Into(&answer)
			require.Len(t, answer.Results, 5)
			for _, result := range answer.Results {
				require.Equal(t, slices.Contains(point.done, result.Board), result.Duplicate, result.Board)
			}
			again := send(id, point.star)
			require.Equal(t, strings.ReplaceAll(a.Body, `"duplicate":false`, `"duplicate":true`), again.Body)
			toldOnce(id)
		})
	}
	members := map[string]int{"a": 5, "b": 5, "d": 5, "e": 5, "c:s": 2}
	for _, point := range points[:3] {
		members["c:"+point.star] = 1
	}
	for board, want := range members {
		top, total := servertest.Top(t, other.Addr, board, 10)
		require.EqualValues(t, want, total, board)
		for _, e := range top {
			require.EqualValues(t, 7, e.Score, board)
		}
	}
}
