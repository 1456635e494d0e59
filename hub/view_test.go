package hub

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rankcast/ranking"
)

// wire carries a model's messages and pages to a view, as badly as pub/sub may.
type wire struct {
	t      *rapid.T
	m      *model
	v      *View
	flying []*ranking.Changes
	page   *ranking.Page // answered, and on its way
	asked  int           // limit of the page asked for and not answered yet; 0: none
}

// holds checks the law: a view that is sure is the board at its state.
func (w *wire) holds() {
	if !w.v.sure {
		return
	}
	board, ok := w.m.history[w.v.State()]
	if !ok {
		w.t.Fatalf("the board never was at %+v", w.v.State())
	}
	if w.v.Total() != int64(len(board)) {
		w.t.Fatalf("total %d at %+v; the board has %d", w.v.Total(), w.v.State(), len(board))
	}
	if len(w.v.entries) > len(board) || !slices.Equal(w.v.entries, board[:len(w.v.entries)]) {
		w.t.Fatalf("at %+v the view has\n%v\nthe board has\n%v", w.v.State(), w.v.entries, board)
	}
	if len(w.v.entries) < min(w.v.want, len(board)) && !w.v.NeedsPage() && !w.v.Reading() {
		w.t.Fatalf("%d entries of %d asked for, and no page on its way", len(w.v.entries), w.v.want)
	}
}

func (w *wire) deliver(i int) {
	c := w.flying[i]
	w.flying = slices.Delete(w.flying, i, i+1)
	w.v.Apply(c)
}

func (w *wire) ask() {
	if w.v.NeedsPage() {
		w.v.PageAsked()
		w.asked = w.v.Window()
	}
}

func (w *wire) answer() {
	if w.asked > 0 && w.page == nil {
		p := w.m.page(w.asked)
		w.page = &p
	}
}

func (w *wire) read() {
	if w.page != nil {
		if !w.v.PageRead(*w.page) {
			w.t.Fatalf("the view was wrong before it read %+v", w.page.State)
		}
		w.page, w.asked = nil, 0
	}
}

// settle lets everything arrive, with the seq check that a hub makes, and then
// the view must be the board.
func (w *wire) settle() {
	for range 10 {
		for len(w.flying) > 0 {
			w.deliver(0)
			w.holds()
		}
		if w.v.State() != w.m.state {
			w.v.Doubt()
		}
		w.ask()
		w.answer()
		w.read()
		w.holds()
	}
	if !w.v.Shows(w.v.want) || w.v.State() != w.m.state || w.v.NeedsPage() {
		w.t.Fatalf("the view is at %+v (sure: %v), the board at %+v", w.v.State(), w.v.sure, w.m.state)
	}
}

// Snapshot plus changes equals a fresh snapshot, at every single state, for every
// mode, order and tie rule, whatever is lost, repeated, late or out of order.
func TestViewIsTheBoard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		w := &wire{t: t, m: m, v: NewView(m.def.Order, rapid.IntRange(0, 12).Draw(t, "want"))}
		faulty := rapid.Bool().Draw(t, "faulty")
		actions := map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				if c := m.batch(t); c != nil {
					w.flying = append(w.flying, c)
				}
			},
			"deliver": func(t *rapid.T) {
				if len(w.flying) > 0 {
					w.deliver(0)
				}
			},
			"ask":    func(*rapid.T) { w.ask() },
			"answer": func(*rapid.T) { w.answer() },
			"read":   func(*rapid.T) { w.read() },
			"want":   func(t *rapid.T) { w.v.Want(rapid.IntRange(0, 12).Draw(t, "want")) },
			"":       func(*rapid.T) { w.holds() },
		}
		actions["write more"], actions["deliver more"] = actions["write"], actions["deliver"]
		if faulty {
			pick := func(t *rapid.T, do func(i int)) {
				if len(w.flying) > 0 {
					do(rapid.IntRange(0, len(w.flying)-1).Draw(t, "which"))
				}
			}
			actions["lose"] = func(t *rapid.T) { pick(t, func(i int) { w.flying = slices.Delete(w.flying, i, i+1) }) }
			actions["repeat"] = func(t *rapid.T) { pick(t, func(i int) { w.v.Apply(w.flying[i]) }) }
			actions["out of order"] = func(t *rapid.T) { pick(t, w.deliver) }
			actions["page lost"] = func(*rapid.T) {
				if w.asked > 0 {
					w.v.PageFailed()
					w.page, w.asked = nil, 0
				}
			}
			actions["flush"] = func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					m.flush()
				}
			}
		}
		t.Repeat(actions)
		w.settle()
	})
}

// Without faults the view never has to be read again for a gap, only for want of
// entries: a steady board costs no reads.
func TestViewReadsOnlyWhenItMust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		m.def.Mode = ranking.Sum
		w := &wire{t: t, m: m, v: NewView(m.def.Order, 10)}
		w.settle()
		for range 200 {
			c := m.batch(t)
			if c == nil {
				continue
			}
			w.v.Apply(c)
			if !w.v.sure {
				t.Fatal("a message that follows on made the view unsure")
			}
			low := len(w.v.entries) < w.v.want+w.v.margin()/2 && len(w.v.entries) < len(m.places)
			if w.v.NeedsPage() != low {
				t.Fatalf("needs a page: %v, with %d entries of %d", w.v.NeedsPage(), len(w.v.entries), len(m.places))
			}
			w.ask()
			w.answer()
			w.read()
			w.holds()
		}
	})
}
