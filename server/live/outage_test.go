package live_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A master of a cluster that dies is told to those who watch its boards, though
// changes of the others are still heard.
func TestClusterMasterOutage(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	url, masters := cluster.URL, cluster.Masters
	var boards []definition.Board
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		boards = append(boards, definition.Board{Name: name})
	}
	n := servertest.Start(t, url, servertest.Config{}, boards...)
	s := servertest.Dial(t, n.Addr)
	for _, d := range boards {
		s.Subscribe(d.Name, 10)
		require.Equal(t, 200, n.Do("POST", "/v1/boards/"+d.Name+"/scores", `{"member":"m","score":1}`).Status)
	}
	stale := func(want bool) {
		for s.Stale == nil || *s.Stale != want {
			s.Next("status")
		}
	}
	for _, m := range masters {
		m.Kill()
		stale(true)
		require.Equal(t, 503, n.Do("GET", "/readyz", "").Status)
		m.Start()
		stale(false)
		redistest.Eventually(t, "the cluster to take scores again", func() error {
			for _, d := range boards {
				if a := n.Do("POST", "/v1/boards/"+d.Name+"/scores", `{"member":"m","score":1}`); a.Status != 200 {
					return fmt.Errorf("%s", a.Body)
				}
			}
			return nil
		})
		s.Stale = nil
		for _, d := range boards {
			want, _ := n.Top(d.Name, 10)
			s.Until(d.Name, "the board", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		}
	}
}
