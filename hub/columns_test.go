package hub

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
)

// A node that learns late that a board has other columns shows them in a new life, to followers too, although the state is the
// same.
func TestColumnsFollowTheDefinition(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.set("a", 301)
		f.set("b", 205)
		watchTopLive(t, h, 10)
		_, conn := watch(t, h, "b", Watch{Top: 10, Me: "b", Around: 1})
		pass(1500 * time.Millisecond)
		life := conn.board.Life
		f.setColumns(definition.Columns{{Name: "points", Max: 9}, {Name: "goals", Max: 99}})
		pass(4 * time.Second)
		require.NotEqual(t, life, conn.board.Life)
		columns := func(entries []hubtest.Entry) (all []string) {
			for _, e := range entries {
				all = append(all, string(e.Columns))
			}
			return all
		}
		want := []string{`{"points":3,"goals":1}`, `{"points":2,"goals":5}`}
		require.Equal(t, want, columns(conn.board.Top[:2]))
		require.Equal(t, want, columns(conn.board.Me.Around[:2]))
		life = conn.board.Life
		pass(5 * time.Second)
		require.Equal(t, life, conn.board.Life)
	})
}
