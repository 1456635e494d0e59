package watch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rankcast/cmd/rankcast/internal/term"
	"rankcast/server/client"
)

// row is one line of the table.
type row struct {
	rank, member, note string
	scores             []string // one, or each column
	mine               bool
	style              ansi.Style
}

// chooseRows chooses the rows that fit into room lines: the first entries, and below a
// separator the own row and its neighbours where the first entries do not include it.
func (s *model) chooseRows(room int) (rows, pinned []row) {
	top := s.shown.Top
	isMine := func(e client.Entry) bool { return s.me != "" && e.Member == s.me }
	own := slices.IndexFunc(top, isMine)
	visible := min(len(top), max(room, 0))
	var below []client.Entry
	if s.me != "" && (own < 0 || own >= visible) {
		near := s.neighbours(own)
		at := slices.IndexFunc(near, isMine)
		if at < 0 {
			pinned, visible = []row{s.unrankedRow()}, min(len(top), max(0, room-2))
		}
		for k := s.around; at >= 0; k-- { // drop neighbours before the first entries get less than half of the room
			below = slices.Clone(near[max(0, at-k):min(len(near), at+k+1)])
			for visible = 0; visible < min(len(top), room-1-len(below)); visible++ { // an entry that fits above needs no room below
				// Equal members may share a rank: only the member id identifies an entry.
				below = slices.DeleteFunc(below, func(e client.Entry) bool { return e.Member == top[visible].Member })
			}
			if k == 0 || len(below) < room && visible >= min(len(top), room/2) {
				break
			}
		}
	}
	for _, e := range top[:visible] {
		rows = append(rows, s.newRow(e))
	}
	for _, e := range below {
		pinned = append(pinned, s.newRow(e))
	}
	return rows, pinned
}

// neighbours returns the known entries around the own one, in order and with it. own is its
// index in the first entries, or -1.
func (s *model) neighbours(own int) []client.Entry {
	if own >= 0 {
		top := s.shown.Top
		return top[max(0, own-s.around):min(len(top), own+s.around+1)]
	}
	m := s.shown.Me
	switch {
	case m == nil || m.Rank == nil || m.Score == nil:
		return nil
	case len(m.Around) > 0:
		return m.Around
	}
	return []client.Entry{{Rank: *m.Rank, Member: m.Member, Score: *m.Score, Columns: m.Columns}}
}

// displayName is the name in the member's profile, or else its id.
func displayName(e client.Entry) string { return cmp.Or(e.Name, e.Member) }

// unrankedRow is the own row of a member without a rank.
func (s *model) unrankedRow() row {
	note := "not on the board"
	if s.shown.Me == nil {
		note = "" // not known yet
	}
	none := slices.Repeat([]string{"–"}, len(s.heads()))
	return row{rank: "–", member: term.Printable(s.me), scores: none, note: note, mine: true, style: ansi.NewStyle().Bold()}
}

// newRow makes the row of an entry.
func (s *model) newRow(e client.Entry) row {
	r := row{rank: term.Thousands(e.Rank), member: term.Printable(displayName(e)), scores: s.scores(e),
		mine: s.me != "" && e.Member == s.me}
	style := ansi.NewStyle()
	if r.mine {
		style = style.Bold()
		if m := s.shown.Me; m != nil && m.ToNext != nil && m.Rank != nil && *m.Rank == e.Rank {
			r.note = s.gap(m) + " to next"
		}
	}
	if change, there := s.changes[e.Member]; there {
		sign := ""
		switch {
		case change.entered:
			style, sign = style.ForegroundColor(ansi.Cyan), "new"
		case change.places > 0:
			style, sign = style.ForegroundColor(ansi.Green), "▲"+term.Thousands(change.places)
		case change.places < 0:
			style, sign = style.ForegroundColor(ansi.Red), "▼"+term.Thousands(-change.places)
		default:
			style = style.ForegroundColor(ansi.Yellow)
		}
		r.note = strings.TrimSpace(sign + "  " + r.note)
	}
	r.style = style
	return r
}

// minMemberWidth is the least width of the column of members. It keeps the other columns in
// place while names change.
const minMemberWidth = 16

// align formats rows as lines of equal columns, the header first.
func (s *model) align(rows []row) []string {
	heads := s.heads()
	rank, member, note := len("rank"), minMemberWidth, 0
	scores := make([]int, len(heads))
	for i, head := range heads {
		scores[i] = ansi.StringWidth(head)
	}
	for _, r := range rows {
		rank = max(rank, ansi.StringWidth(r.rank))
		for i, text := range r.scores {
			scores[i] = max(scores[i], ansi.StringWidth(text))
		}
		member, note = max(member, ansi.StringWidth(r.member)), max(note, ansi.StringWidth(r.note))
	}
	const mark, gap = 2, 2
	over := mark + rank + gap + member + gap + note - s.width
	for _, width := range scores {
		over += gap + width
	}
	if over > 0 {
		member = max(4, member-over) // cut long names before anything else
	}
	lines := make([]string, 0, len(rows)+1)
	put := func(r row) {
		mark := "  "
		if r.mine {
			mark = "▸ "
		}
		text := mark + padLeft(r.rank, rank) + "  " + padRight(r.member, member) + gapAfter(r.member)
		for i, score := range r.scores {
			if i > 0 {
				text += "  "
			}
			text += padLeft(score, scores[i])
		}
		if r.note != "" {
			text += "  " + r.note
		}
		lines = append(lines, r.style.Styled(ansi.Truncate(text, s.width, "…")))
	}
	put(row{rank: "rank", member: "member", scores: heads, style: ansi.NewStyle().Faint()})
	for _, r := range rows {
		put(r)
	}
	return lines
}

// brailleBlank is a blank with a direction: from left to right.
const brailleBlank = "\u2800"

// gapAfter is the gap between a name and what stands on its right. After a name that is written from
// right to left it has a blank of the other direction. Otherwise a terminal that orders text by its
// direction moves digits on the right of the name to its left. The renderer drops the characters that
// isolate text, because they have no width.
func gapAfter(name string) string {
	if term.HasRightToLeft(name) {
		return brailleBlank + " "
	}
	return "  "
}

// padLeft and padRight fill text with spaces on that side, up to a width. padRight cuts text
// that is too wide.
func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(text))) + text
}

func padRight(text string, width int) string {
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}
