package pages

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"rankcast/ranking/definition"
	"rankcast/ranking/scoretext"
	"rankcast/server/internal/entry"
)

// boardView is the view of a board. Its rows have what the element (web/kit/rankcast.js) shows too, and room for what the
// element adds.
func (f *filler) boardView(board string, b *boardState, top int, me string) *boardView {
	d := b.about.Definition
	v := &boardView{
		Board: board, Top: strconv.Itoa(top), Me: me, Snapshot: b.snapshot, Standing: b.me, Unit: d.Display.UnitIn(f.tag, false),
		HasPeriod: b.about.Period != "", HasEnd: !b.about.Ends.IsZero(), IsEmpty: len(b.rows) == 0 && b.snapshot != nil,
	}
	for _, r := range b.rows {
		row := f.rowView(r, d, me)
		v.Rows = append(v.Rows, row)
		v.Room = v.Room || row.Me && b.total > int64(len(b.rows))
	}
	for _, r := range b.below {
		row := f.rowView(r, d, me)
		row.Podium = 0
		v.Below = append(v.Below, row)
	}
	v.columnsView = f.columnsView(d.Columns, v.Rows, v.Below)
	if v.Lines = min(top, max(overlayTop, int(b.total))); me != "" {
		v.Lines++
		if d.Order != definition.Asc && d.Columns == nil {
			v.Goal = f.goal()
		}
	}
	return v
}

// rowView is the view of an entry of a board. me is the followed member; "" for none.
func (f *filler) rowView(r entry.Entry, d definition.Board, me string) rowView {
	v := rowView{Member: r.Member, Name: cmp.Or(r.Name, r.Member), Me: r.Member == me}
	v.HasGap = v.Me && r.Rank != 1
	v.Portrait = f.portrait(r.Member, v.Name, r.Avatar)
	if r.Rank == 0 {
		return v
	}
	v.Rank, v.scoreView = scoretext.Number(r.Rank), f.score(r.Score, d)
	v.Length = utf8.RuneCountInString(v.Score)
	if r.Rank <= 3 {
		v.Podium = r.Rank
	}
	return v
}

// score is the view of a score of a board.
func (f *filler) score(score int64, d definition.Board) scoreView {
	if d.Columns != nil {
		return scoreView{Columns: f.columnsOf(d.Columns, &score)}
	}
	text := scoretext.Short(score, d.Display, f.tag)
	if number, unit, has := strings.Cut(text, " "); has {
		return scoreView{Score: number + " ", ScoreUnit: unit}
	}
	return scoreView{Score: text}
}
