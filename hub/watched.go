package hub

import (
	"cmp"
	"slices"
)

// Watched is a board with the number of its subscriptions.
type Watched struct {
	Board         string `json:"board"` // as clients name it
	Subscriptions int    `json:"subscriptions"`
}

// MostWatched returns the boards with the most subscriptions on the node, most at most.
func (h *Hub) MostWatched(most int) []Watched {
	all := h.watched()
	slices.SortFunc(all, func(a, b Watched) int {
		return cmp.Or(cmp.Compare(b.Subscriptions, a.Subscriptions), cmp.Compare(a.Board, b.Board))
	})
	return all[:min(most, len(all))]
}

func (h *Hub) watched() []Watched {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]Watched, 0, len(h.order))
	for _, b := range h.order {
		all = append(all, Watched{b.name, b.callers.total})
	}
	return all
}
