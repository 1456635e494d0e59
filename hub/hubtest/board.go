package hubtest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Raw is undecoded JSON; "" for none. Unlike a json.RawMessage it can be compared.
type Raw string

// UnmarshalJSON keeps b.
func (r *Raw) UnmarshalJSON(b []byte) error {
	*r = Raw(b)
	return nil
}

// Entry is an entry on the wire.
type Entry struct {
	Rank    int64  `json:"rank"`
	Member  string `json:"member"`
	Score   int64  `json:"score"`
	Columns Raw    `json:"columns"`
	Name    string `json:"name"`
	Avatar  string `json:"avatar"`
	Data    Raw    `json:"data"`
}

// Item is an item of a feed.
type Item struct {
	At   string `json:"at"`
	Data Raw    `json:"data"`
}

// Message is a message of a server, of any type.
type Message struct {
	Type    string            `json:"type"`
	ID      json.RawMessage   `json:"id"`
	Board   string            `json:"board"`
	Period  *string           `json:"period"`
	Epoch   string            `json:"epoch"`
	Life    string            `json:"life"`
	From    int64             `json:"from"`
	Seq     int64             `json:"seq"`
	Total   int64             `json:"total"`
	Ends    Raw               `json:"ends"` // "null" where the period never ends
	Final   bool              `json:"final"`
	Frozen  Raw               `json:"frozen"` // "" where it is absent
	Top     []Entry           `json:"top"`
	Rows    []json.RawMessage `json:"rows"`
	Len     int               `json:"len"`
	Rank    *int64            `json:"rank"`
	Score   *int64            `json:"score"`
	ToNext  *int64            `json:"to_next"`
	Around  []Entry           `json:"around"`
	Feed    string            `json:"feed"`
	Items   []Item            `json:"items"`
	Skipped int64             `json:"skipped"`
	Stale   bool              `json:"stale"`
	AsOf    string            `json:"as_of"`
	Now     string            `json:"now"`
	Code    string            `json:"code"`
	Message string            `json:"message"`
	Field   string            `json:"field"`
	Reason  string            `json:"reason"`
	RetryMS *int              `json:"retry_ms"`
}

// Board is a client's state of one board.
type Board struct {
	Period string
	Epoch  string
	Life   string
	Seq    int64
	Total  int64
	Ends   Raw // as in Message
	Final  bool
	Frozen Raw // "" where the board is not frozen
	Top    []Entry
	Me     *Message // the last me frame; nil: none

	started bool
}

// Fold applies a snapshot, a delta, a me or a board. It returns an error for a delta that does not
// continue the board's seq, and for any other before the first snapshot.
func (b *Board) Fold(m Message) error {
	switch {
	case m.Type == "snapshot" && (m.Period == nil || m.Ends == ""):
		return fmt.Errorf("a snapshot without period or ends: %+v", m)
	case m.Type == "snapshot" && m.Life == "":
		return fmt.Errorf("a snapshot without life: %+v", m)
	case m.Type == "snapshot":
		*b = Board{
			Period: *m.Period, Epoch: m.Epoch, Life: m.Life, Seq: m.Seq, Total: m.Total, Ends: m.Ends, Final: m.Final,
			Frozen: m.Frozen, Top: m.Top, Me: b.Me, started: true,
		}
		return nil
	case m.Type == "me" && b.started:
		b.Me = &m
		return nil
	case m.Type == "board" && b.started && m.Frozen != "":
		if b.Frozen = m.Frozen; b.Frozen == "null" {
			b.Frozen = ""
		}
		return nil
	case m.Type != "delta" || !b.started || m.From != b.Seq:
		return fmt.Errorf("%s from seq %d does not build on seq %d", m.Type, m.From, b.Seq)
	}
	top := slices.Clone(b.Top)
	for _, raw := range m.Rows {
		var place int
		var e Entry
		if err := json.Unmarshal(raw, &[]any{&place, &e}); err != nil {
			return fmt.Errorf("row %s: %w", raw, err)
		}
		switch {
		case place < len(top):
			top[place] = e
		case place == len(top):
			top = append(top, e)
		default:
			return fmt.Errorf("row %s leaves a hole behind place %d", raw, len(top))
		}
	}
	if m.Len > len(top) {
		return fmt.Errorf("len %d of %d entries", m.Len, len(top))
	}
	b.Seq, b.Total, b.Top = m.Seq, m.Total, top[:m.Len]
	return nil
}

// Value is the value of a field that may be null, for comparison: nil or a number.
func Value(p *int64) any {
	if p == nil {
		return nil
	}
	return *p
}
