package pages

import (
	"slices"
	"strings"

	"rankcast/ranking/definition"
	"rankcast/ranking/scoretext"
)

// columnsView is what a list shows of columns: their heads, with the widths that all rows have.
type columnsView struct {
	Heads      []columnView
	ColumnRoom int // see roomOf in web/kit/column-texts.js; 0: the board has no columns
}

// columnView is a value of a column, or without Text its head. Width and Figures are in figures: of the widest of head and
// values, and of the widest value; 0 in a list whose columns have no common width.
type columnView struct {
	Name, Title, Unit, Text string
	Width, Figures          float64
}

// columnsOf are the values of a score, or without one the heads.
func (f *filler) columnsOf(columns definition.Columns, score *int64) []columnView {
	tag := f.tag
	var values [definition.MaxColumns]int64
	if score != nil {
		values = columns.Unpack(*score)
	}
	views := make([]columnView, len(columns))
	for i, c := range columns {
		views[i] = columnView{Name: c.Name, Title: scoretext.Head(c, tag), Unit: c.Display.UnitIn(tag, false)}
		if score != nil {
			plain := c.Display
			plain.Unit = definition.Label{}
			views[i].Text = scoretext.Short(values[i], plain, tag)
		}
	}
	return views
}

// columnsView gives the rows of a list columns of the same widths, and returns their heads; see web/kit/columns.js.
func (f *filler) columnsView(columns definition.Columns, lists ...[]rowView) columnsView {
	if columns == nil {
		return columnsView{}
	}
	v := columnsView{Heads: f.columnsOf(columns, nil)}
	rows := slices.Concat(lists...)
	room := float64(len(columns)-1) * gapEm
	for i := range v.Heads {
		head := &v.Heads[i]
		head.Figures = 1
		for _, row := range rows {
			if row.Columns != nil {
				head.Figures = max(head.Figures, valueWidth(row.Columns[i].Text))
			}
		}
		head.Width = max(headWidth(*head), head.Figures)
		room += head.Width * figureEm
		for _, row := range rows {
			if row.Columns != nil {
				row.Columns[i].Width, row.Columns[i].Figures = head.Width, head.Figures
			}
		}
	}
	v.ColumnRoom = 1
	for _, most := range roomsEm {
		if room > most {
			v.ColumnRoom++
		}
	}
	return v
}

// The widths are those of web/kit/column-texts.js.
const (
	widestTitle          = 8
	letter, squareLetter = 0.75, 1.25
	word                 = 0.25
	point, squareSign    = 0.5, 1.75
	figureEm, gapEm      = 0.64, 0.75
)

var roomsEm = []float64{8, 15, 23, 32}

func headWidth(head columnView) (widest float64) {
	for text := range strings.SplitSeq(head.Title+" "+head.Unit, " ") {
		widest = max(widest, sumOf(text, func(r rune) float64 {
			if isSquare(r) {
				return squareLetter
			}
			return letter
		}))
	}
	return min(widestTitle, word+widest)
}

func valueWidth(text string) float64 {
	return sumOf(text, func(r rune) float64 {
		switch {
		case isSquare(r):
			return squareSign
		case strings.ContainsRune(".,:", r):
			return point
		default:
			return 1
		}
	})
}

func isSquare(r rune) bool { return r > '\u2e80' }

func sumOf(text string, width func(rune) float64) (sum float64) {
	for _, r := range text {
		sum += width(r)
	}
	return sum
}
