package pages

import (
	"cmp"
	"regexp"
	"strconv"
	"unicode"
	"unicode/utf8"

	"rankcast/ranking/definition"
	"rankcast/ranking/scoretext"
)

// countdownPieces matches the pieces of a countdown; see web/assets/stars/countdown.js.
var countdownPieces = regexp.MustCompile(`[\d:]+|[^\d:]+`)

// noMinutes matches the minutes and tens of seconds that a distance in time has not.
var noMinutes = regexp.MustCompile(`^0:0?`)

func pieces(text string) (pieces []piece) {
	for _, p := range countdownPieces.FindAllString(text, -1) {
		pieces = append(pieces, piece{p, unicode.IsDigit(rune(p[0]))})
	}
	return pieces
}

// boardView is the view of a board; see web/kit/rankcast.js for its texts.
func (f *filler) boardView(board string, b *Board, top int, me string) *boardView {
	p := f.template.phrases
	display := b.About.Definition.Display
	v := &boardView{
		Board: board, Top: strconv.Itoa(top), Me: me, Format: display.Format, Unit: display.Unit.In(p.tag), Snapshot: b.Snapshot, Standing: b.Me,
		Period: b.About.Period, Total: p.counted("kit_members", b.Total), State: p.text("as_of", "time", b.Now.UTC().Format(asOfForm)),
	}
	if display.Decimals > 0 {
		v.Decimals = strconv.Itoa(display.Decimals)
	}
	switch ends := b.About.Ends; {
	case ends.IsZero():
	case b.Final:
		v.Ends, v.State = p.text("kit_ended", "time", ends.UTC().Format(minuteForm)), p.text("kit_final")
	default:
		v.Ends = p.text("kit_ends_now")
		if left := p.timeLeft(ends.Sub(b.Now)); left != "" {
			v.Ends = p.text("kit_ends", "left", left)
		}
	}
	for i, r := range b.Rows {
		row := f.rowView(r, display)
		if r.Me {
			v.Room = b.Total > int64(len(b.Rows))
			if i > 0 && r.Rank > 1 {
				row.Gap = p.gap(max(b.Rows[i-1].Score-r.Score, r.Score-b.Rows[i-1].Score), display)
			}
		}
		v.Rows = append(v.Rows, row)
	}
	for _, r := range b.Below {
		row := f.rowView(r, display)
		row.Podium = 0
		switch {
		case r.Rank == 0 && b.Final:
			row.Gap = p.text("kit_absent")
		case r.Rank == 0:
			row.Gap = p.text("kit_no_score")
		case r.ToNext != nil:
			row.Gap = p.gap(*r.ToNext, display)
		}
		v.Below = append(v.Below, row)
	}
	if v.Lines = len(v.Rows); me != "" {
		v.Lines++
	}
	if len(b.Rows) == 0 && b.Snapshot != nil {
		v.Note = p.text("kit_no_scores_yet")
		if b.Final {
			v.Note = p.text("kit_no_scores")
		}
	}
	return v
}

// gap is the distance in score to the place above, without the unit, as formatsOf in web/kit/row.js makes it.
func (p phrases) gap(distance int64, display definition.Display) string {
	if distance == 0 {
		return p.text("kit_level")
	}
	display.Unit = nil
	return p.text("kit_to_next", "score", noMinutes.ReplaceAllString(scoretext.Short(distance, display, p.tag), ""))
}

func (f *filler) rowView(r Row, display definition.Display) rowView {
	p := f.template.phrases
	v := rowView{Member: r.Member, Name: cmp.Or(r.Name, r.Member), Me: r.Me}
	v.Portrait = f.portrait(r.Member, v.Name, r.Avatar)
	if r.Rank == 0 {
		return v
	}
	v.Rank, v.Score = scoretext.Number(r.Rank), scoretext.Short(r.Score, display, p.tag)
	v.Exact = exact(r.Score, display, p.tag)
	v.Length = utf8.RuneCountInString(v.Score)
	if r.Rank <= 3 {
		v.Podium = r.Rank
	}
	return v
}

// exact returns the whole score, or "" if scoretext.Short does not abbreviate it.
func exact(score int64, display definition.Display, tag string) string {
	if exact := scoretext.Score(score, display, tag); exact != scoretext.Short(score, display, tag) {
		return exact
	}
	return ""
}
