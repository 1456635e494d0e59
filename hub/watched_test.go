package hub

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// MostWatched lists the boards by the number of their subscriptions, of all callers together. It leaves out a board that has
// lost its last subscription.
func TestMostWatched(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		require.Empty(t, h.MostWatched(9))
		other := theBoard
		other.Name = "a"
		var clients []*Client
		for i := range 3 {
			c := h.Join(&recordingConn{}, "10.0.0.1")
			_, err := h.Subscribe(c, theBoard, Watch{Top: 1}, nil, func() {})
			require.NoError(t, err)
			if i > 0 {
				_, err = h.Subscribe(c, other, Watch{Top: 1, Me: "m"}, nil, func() {})
				require.NoError(t, err)
			}
			clients = append(clients, c)
		}
		require.Equal(t, []Watched{{theBoard.Name, 3}, {"a", 2}}, h.MostWatched(9))
		require.Equal(t, []Watched{{theBoard.Name, 3}}, h.MostWatched(1))
		h.Leave(clients[0])
		require.Equal(t, []Watched{{"a", 2}, {theBoard.Name, 2}}, h.MostWatched(9))
		h.Leave(clients[1])
		h.Leave(clients[2])
		require.Empty(t, h.MostWatched(9))
	})
}
