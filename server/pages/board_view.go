package pages

import (
	"cmp"
	"strconv"
	"unicode/utf8"

	"rankcast/ranking/definition"
	"rankcast/ranking/scoretext"
	"rankcast/server/internal/entry"
)

// boardView is the view of a board. Its rows have what the element (web/kit/rankcast.js) shows too, and room for what the
// element adds.
func (f *filler) boardView(board string, b *boardState, top int, me string) *boardView {
	display := b.about.Definition.Display
	v := &boardView{
		Board: board, Top: strconv.Itoa(top), Me: me, Format: display.Format, Unit: display.Unit.In(f.template.locale.tag),
		Snapshot: b.snapshot, Standing: b.me, HasPeriod: b.about.Period != "", HasEnd: !b.about.Ends.IsZero(),
		IsEmpty: len(b.rows) == 0 && b.snapshot != nil,
	}
	if display.Decimals > 0 {
		v.Decimals = strconv.Itoa(display.Decimals)
	}
	for _, r := range b.rows {
		row := f.rowView(r, b.about.Definition, me)
		v.Rows = append(v.Rows, row)
		v.Room = v.Room || row.Me && b.total > int64(len(b.rows))
	}
	for _, r := range b.below {
		row := f.rowView(r, b.about.Definition, me)
		row.Podium = 0
		v.Below = append(v.Below, row)
	}
	if v.Lines = len(v.Rows); me != "" {
		v.Lines++
	}
	return v
}

// rowView is the view of an entry. me is the followed member; "" for none.
func (f *filler) rowView(r entry.Entry, d definition.Board, me string) rowView {
	v := rowView{Member: r.Member, Name: cmp.Or(r.Name, r.Member), Me: r.Member == me}
	v.HasGap = v.Me && r.Rank != 1
	v.Portrait = f.portrait(r.Member, v.Name, r.Avatar)
	if r.Rank == 0 {
		return v
	}
	v.Rank, v.Score = scoretext.Number(r.Rank), scoretext.Of(d, r.Score, f.template.locale.tag)
	v.Length = utf8.RuneCountInString(v.Score)
	if r.Rank <= 3 {
		v.Podium = r.Rank
	}
	return v
}
