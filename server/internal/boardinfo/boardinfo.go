// Package boardinfo is what the server tells pages of a board: its title, its members' kind, how to show its scores, and
// the span of time that it shows.
package boardinfo

import (
	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// Info is the field info of an overview, of a board, and of a first snapshot.
type Info struct {
	Title       definition.Label   `json:"title,omitzero"`
	Description definition.Label   `json:"description,omitzero"`
	Icon        string             `json:"icon,omitzero"`
	Kind        string             `json:"kind"`
	Order       definition.Order   `json:"order,omitzero"` // "asc" where less is better, else ""
	Display     definition.Display `json:"display,omitzero"`
	Columns     definition.Columns `json:"columns,omitzero"` // nil: a score is one number
	Window      string             `json:"window,omitzero"`  // of a rolling window, such as "3h"
	History     string             `json:"history,omitzero"` // step at which the board records its history, such as "1m"
	Period      *Span              `json:"period"`           // null: the board has neither periods nor bounds
}

// Span is the span of time that a board shows: a period, or an activity. A family has no name and no bounds of a period.
type Span struct {
	Name     string  `json:"name,omitzero"`     // of the period; "" for an activity
	Every    string  `json:"every,omitzero"`    // field period of the definition; "" for an activity
	Timezone string  `json:"timezone,omitzero"` // of natural periods
	Opens    *string `json:"opens"`             // null: not bounded
	Ends     *string `json:"ends"`              // likewise
}

// New returns the Info of a board.
func New(a ranking.About) Info {
	d := a.Definition
	info := Info{Title: a.Title, Description: a.Description, Icon: d.Icon, Kind: d.Kind, Display: d.Display, Columns: d.Columns}
	if d.Order == definition.Asc {
		info.Order = d.Order
	}
	if d.Window > 0 {
		info.Window = definition.FormatDuration(d.Window)
	}
	if d.History > 0 {
		info.History = definition.FormatDuration(d.History)
	}
	if d.Period != "" || !a.Opens.IsZero() || !a.Ends.IsZero() {
		info.Period = &Span{a.Period, d.Period, d.Timezone, definition.FormatTime(a.Opens), definition.FormatTime(a.Ends)}
	}
	return info
}

// OfFamily returns the Info of a family. The placeholders stay in its title.
func OfFamily(d definition.Board) Info {
	return New(ranking.About{Board: ranking.Board{Definition: d}, Title: d.Title, Description: d.Description, Opens: d.Starts, Ends: d.Ends})
}
