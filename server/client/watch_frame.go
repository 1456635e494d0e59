package client

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// frame is any message of a server. Its type determines its fields.
type frame struct {
	Type  string `json:"type"`
	ID    *int64 `json:"id"`
	Board string `json:"board"`

	// snapshot, delta, me
	Period        string    `json:"period"`
	Ends          time.Time `json:"ends"` // zero: never
	Final         bool      `json:"final"`
	Frozen        *Frozen   `json:"frozen"` // of a board frame too
	Epoch         string    `json:"epoch"`
	Life          string    `json:"life"`
	From          int64     `json:"from"` // seq of the list that a delta builds on
	Seq           int64     `json:"seq"`
	Total         int64     `json:"total"`
	Top           []Entry   `json:"top"`
	Rows          []row     `json:"rows"`
	Len           int       `json:"len"`
	Rank          *int64    `json:"rank"`
	Score         *int64    `json:"score"`
	Columns       Columns   `json:"columns,omitzero"`
	ToNext        *int64    `json:"to_next"`
	ToNextColumns Columns   `json:"to_next_columns,omitzero"`
	Around        []Entry   `json:"around"`
	Info          *struct {
		Display jsontext.Value `json:"display"`
		Columns jsontext.Value `json:"columns"`
		Period  *struct {
			Timezone string `json:"timezone"`
		} `json:"period"`
	} `json:"info"`

	// status, bye, error
	Stale   bool   `json:"stale"`
	AsOf    string `json:"as_of"`
	RetryMS int64  `json:"retry_ms"`
	Error
}

// row is an index in the list and its new entry: [0,{…}].
type row struct {
	place int
	entry Entry
}

// UnmarshalJSON decodes a row.
func (r *row) UnmarshalJSON(b []byte) error {
	var parts [2]jsontext.Value
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	if err := json.Unmarshal(parts[0], &r.place); err != nil {
		return err
	}
	return json.Unmarshal(parts[1], &r.entry)
}

// fold applies a delta to the list held at seq. It returns a new list, or false if the delta does not
// fit; the client must then resync. An empty index, an index beyond the end or a member at two
// indexes shows that the delta was made for another list.
func fold(held []Entry, seq int64, f *frame) ([]Entry, bool) {
	if f.From != seq || f.Len < 0 || f.Len > len(held)+len(f.Rows) {
		return nil, false
	}
	top := make([]Entry, f.Len)
	copy(top, held)
	for _, r := range f.Rows {
		if r.place < 0 || r.place >= len(top) {
			return nil, false
		}
		top[r.place] = r.entry
	}
	members := make(map[string]struct{}, len(top))
	for _, e := range top {
		members[e.Member] = struct{}{}
	}
	_, hole := members[""]
	return top, !hole && len(members) == len(top)
}
