package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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

// A server is killed in the middle of an event: what it asks Redis for is held back
// from some point on, at each of which it dies once. The event is sent again to
// another node, and every board counts it once, and the feed tells it once.
func TestKilledInTheMiddleOfAnEvent(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	file := filepath.Join(t.TempDir(), "boards.yaml")
	require.NoError(t, os.WriteFile(file, []byte(fiveBoards), 0o600))
	other := launch(t, "--redis", r.URL(), "--boards", file)
	other.ready()
	feed := servertest.Dial(t, other.addr)
	feed.Send(`{"type":"subscribe","id":1,"feed":"gift"}`)
	feed.Next("ok")
	feed.Next("feed")
	gift := func(id string) string { return fmt.Sprintf(`{"id":%q,"star":"s1","user":%q,"flowers":7}`, id, id) }
	send := func(id string) servertest.Answer {
		return servertest.Request(t, "POST", "http://"+other.addr+"/v1/events/gift", gift(id))
	}
	for _, point := range []struct {
		name string
		hold []string // what Redis never gets
		done []string // boards that count the event before the server dies
	}{
		{"before anything is noted", []string{"{/gift}"}, nil},
		{"before the first board", []string{"{a}", "{b}", "{c:s1}", "{d}", "{e}"}, nil},
		{"after one", []string{"{b}"}, []string{"a"}},
		{"after three", []string{"{d}"}, []string{"a", "b", "c:s1"}},
		{"after all", []string{"f:gift"}, []string{"a", "b", "c:s1", "d", "e"}},
	} {
		t.Run(point.name, func(t *testing.T) {
			id := strings.ReplaceAll(point.name, " ", "-")
			proxy := redistest.StartProxy(t, r.URL())
			dies := launch(t, "--redis", proxy.URL(), "--boards", file)
			dies.ready()
			proxy.Hold(point.hold...)
			answered := make(chan int, 1)
			go func() {
				a, _ := servertest.Try(t, "POST", "http://"+dies.addr+"/v1/events/gift", gift(id))
				answered <- a.Status
			}()
			redistest.Eventually(t, "the event to be half way", func() error {
				for _, board := range point.done {
					a := servertest.Request(t, "GET", "http://"+other.addr+"/v1/boards/"+board+"/members/"+id, "")
					if a.Status != 200 {
						return fmt.Errorf("%s: %s", board, a.Body)
					}
				}
				if proxy.Held() == 0 {
					return fmt.Errorf("nothing is held")
				}
				return nil
			})
			dies.kill()
			require.NotEqual(t, 200, <-answered, "it died before it had done all")

			a := send(id)
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
			again := send(id)
			require.Equal(t, strings.ReplaceAll(a.Body, `"duplicate":false`, `"duplicate":true`), again.Body)
			items := feed.Next("feed").Items
			require.Len(t, items, 1, "%s", items)
			require.Contains(t, string(items[0].Data), id)
		})
	}
	for _, board := range []string{"a", "b", "c:s1", "d", "e"} {
		top, total := servertest.Top(t, other.addr, board, 10)
		require.EqualValues(t, 5, total)
		for _, e := range top {
			require.EqualValues(t, 7, e.Score, board)
		}
	}
}
