package watch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// highlightFor is how long a change stays highlighted.
const highlightFor = 1500 * time.Millisecond

// model is the tea.Model of a board on the terminal. One goroutine calls it.
type model struct {
	board, server string
	me            string // "" for none
	around        int    // neighbours to show on each side of me

	width, height int
	shown         client.Board
	display       definition.Display // of shown
	columns       definition.Columns // likewise; nil: a score is one number
	places        map[string]place   // by member, of the last frame
	changes       map[string]change  // by member, highlighted now
	closing       string             // the result of the previous period; "" if its end was not seen
}

// place is a member's place in a frame. score is nil for a member that is not among the first entries.
type place struct {
	rank  int64
	score *int64
}

// change is how a member's row changed, highlighted until then.
type change struct {
	places int64 // up; negative: down
	entered,
	scored bool
	until time.Time
}

// fadeMsg ends highlights that have lasted for highlightFor.
type fadeMsg struct{}

func newModel(board, server, me string, around int) *model {
	return &model{board: board, server: server, me: me, around: around,
		shown: client.Board{Board: board, State: client.Connecting}, changes: make(map[string]change)}
}

func (s *model) Init() tea.Cmd { return nil }

func (s *model) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
	case tea.KeyPressMsg:
		switch m.String() {
		case "q", "Q", "esc", "ctrl+c", "ctrl+d":
			return s, tea.Quit
		case "ctrl+z":
			return s, tea.Suspend
		}
	case client.Board:
		if s.apply(m, time.Now()) {
			return s, tea.Tick(highlightFor, func(time.Time) tea.Msg { return fadeMsg{} })
		}
	case fadeMsg:
		now := time.Now()
		for member, move := range s.changes {
			if !now.Before(move.until) {
				delete(s.changes, member)
			}
		}
	}
	return s, nil
}

// apply replaces the board on the screen and reports whether a member changed.
func (s *model) apply(b client.Board, now time.Time) (moved bool) {
	before, places := s.places, make(map[string]place, len(b.Top)+1)
	if m := b.Me; m != nil && m.Rank != nil {
		places[m.Member] = place{rank: *m.Rank}
	}
	for _, e := range b.Top {
		places[e.Member] = place{e.Rank, &e.Score}
	}
	// The first frame, a frame after an outage and a new period highlight nothing.
	turned := b.Period != s.shown.Period
	if turned {
		s.closing = s.closingLine()
	}
	if before != nil && s.shown.State == client.Live && b.State == client.Live && b.Epoch == s.shown.Epoch && !turned {
		for member, is := range places {
			was, there := before[member]
			// The own rank arrives after the first entries: the member did not enter the board
			// then.
			change := change{entered: !there && (member != s.me || s.shown.Me != nil), until: now.Add(highlightFor)}
			if there {
				change.places = was.rank - is.rank
				change.scored = was.score != nil && is.score != nil && *was.score != *is.score
			}
			if change.entered || change.places != 0 || change.scored {
				s.changes[member] = change
				moved = true
			}
		}
	} else {
		clear(s.changes)
	}
	if b.State != client.Connecting {
		s.places = places
	}
	s.display, s.columns = definition.Display{}, nil
	_ = json.Unmarshal(b.Display, &s.display) // none, or that of a server which is newer: whole numbers
	_ = json.Unmarshal(b.Columns, &s.columns) // likewise
	b.Me = s.keepNeighbours(s.shown.Me, b.Me)
	s.shown = b
	return moved
}

// closingLine is the result of a period that has ended; "" if its end was not seen.
func (s *model) closingLine() string {
	switch b := s.shown; {
	case !b.Final:
		return ""
	case len(b.Top) == 0:
		return term.Printable(b.Period) + " is over"
	default:
		return fmt.Sprintf("%s is over: %s was first with %s", term.Printable(b.Period), term.Isolated(displayName(b.Top[0])),
			s.allColumns(s.scores(b.Top[0])))
	}
}

// keepNeighbours returns now with the neighbours of old, moved as the own change alone moves
// them. The server sends an own change at once and the neighbours a moment later. It returns
// now as it is where that would be a guess: members with equal scores share a rank, the member
// left its neighbourhood, or others moved too.
func (s *model) keepNeighbours(old, now *client.Me) *client.Me {
	if now == nil || now.Around != nil || now.Rank == nil || now.Score == nil || old == nil || len(old.Around) == 0 {
		return now
	}
	first, own := old.Around[0].Rank, slices.IndexFunc(old.Around, func(e client.Entry) bool { return e.Member == now.Member })
	to := int(*now.Rank - first)
	if own < 0 || to < 0 || to >= len(old.Around) {
		return now // the member left its neighbourhood
	}
	kept := *now
	kept.Around = slices.Insert(slices.Delete(slices.Clone(old.Around), own, own+1), to, old.Around[own])
	kept.Around[to].Score, kept.Around[to].Columns = *now.Score, now.Columns
	for i, e := range old.Around {
		if e.Rank != first+int64(i) || i != own && e.Score == *now.Score {
			return now
		}
		kept.Around[i].Rank = e.Rank
	}
	if !inOrder(descending, old.Around, kept.Around) && !inOrder(ascending, old.Around, kept.Around) {
		return now // other members moved too
	}
	if to > 0 {
		above := kept.Around[to-1].Score
		gap := max(above-*now.Score, *now.Score-above)
		kept.ToNext, kept.ToNextColumns = &gap, s.toNext(now.Columns, kept.Around[to-1].Columns)
	}
	return &kept
}

func ascending(a, b client.Entry) int { return cmp.Compare(a.Score, b.Score) }

func descending(a, b client.Entry) int { return ascending(b, a) }

// inOrder reports whether compare sorts both lists.
func inOrder(way func(a, b client.Entry) int, before, after []client.Entry) bool {
	return slices.IsSortedFunc(before, way) && slices.IsSortedFunc(after, way)
}

func (s *model) View() tea.View {
	v := tea.NewView(strings.Join(s.lines(), "\n"))
	v.AltScreen = true
	v.WindowTitle = term.Printable(s.board) + " · Rankcast"
	return v
}

// headerLines is the title and the header of the table.
const headerLines = 2

// lines returns what fits the terminal: the title, the first entries, always the own row, and
// a hint where there is room.
func (s *model) lines() []string {
	if s.width <= 0 || s.height <= 0 {
		return nil
	}
	room := s.height - headerLines
	hint := room >= 6
	if hint {
		room -= 2
	}
	rows, pinned := s.chooseRows(room)
	list := s.align(append(rows, pinned...))
	lines := []string{s.title()}
	if s.height > 1 {
		lines = append(lines, list[0])
	}
	lines = append(lines, list[1:1+len(rows)]...)
	if len(rows) == 0 && s.shown.Total == 0 && s.shown.State == client.Live && len(pinned) < room {
		lines = append(lines, ansi.NewStyle().Faint().Styled(ansi.Truncate("  no scores yet", s.width, "…")))
		room--
	}
	if len(pinned) > 0 && len(rows)+len(pinned) < room {
		lines = append(lines, ansi.NewStyle().Faint().Styled(ansi.Truncate("  ⋯", s.width, "")))
	}
	lines = append(lines, list[1+len(rows):]...)
	if len(lines) > s.height { // on one or two lines the own row takes precedence
		lines = lines[len(lines)-s.height:]
	}
	if hint {
		lines = append(lines, "", ansi.NewStyle().Faint().Styled(ansi.Truncate(s.hint(), s.width, "…")))
	}
	return lines
}

// title is the first line. It drops its parts one by one as the terminal gets narrower.
func (s *model) title() string {
	name, period, until := term.Printable(s.board), "", ""
	if term.HasRightToLeft(name) {
		name += brailleBlank
	}
	if s.shown.Period != "" && !strings.HasSuffix(s.board, "@"+s.shown.Period) {
		period = " · " + term.Printable(s.shown.Period)
	}
	if at := s.shown.Ends; !at.IsZero() {
		until = ", until "
		if s.shown.Final {
			until = ", ended "
		}
		until += clockTime(at.In(zoneOf(s.shown)), time.Now())
		if s.shown.Period == "" {
			until = " ·" + until[1:]
		}
	}
	state, style := s.state()
	members := ""
	if s.places != nil {
		members = term.Counted(s.shown.Total, "member") + " · "
	}
	for _, t := range [][2]string{{name + period + until, members + state}, {name + period, members + state},
		{name + period, state}, {name, state}} {
		if space := s.width - ansi.StringWidth(t[0]) - ansi.StringWidth(t[1]); space > 0 {
			return ansi.NewStyle().Bold().Styled(t[0]) + strings.Repeat(" ", space) + style.Styled(t[1])
		}
	}
	name = ansi.Truncate(name, max(1, s.width-ansi.StringWidth(state)-1), "…")
	return ansi.Truncate(ansi.NewStyle().Bold().Styled(name)+" "+style.Styled(state), s.width, "")
}

// zoneOf is the time zone in which a board's periods end, or else that of the terminal, as on the pages.
func zoneOf(b client.Board) *time.Location {
	if zone, err := time.LoadLocation(b.Timezone); b.Timezone != "" && err == nil {
		return zone
	}
	return time.Local
}

// clockTime formats a time as briefly as now allows: without the date today, by weekday this
// week, without the year this year. A time of day has the name of its zone. An abbreviation stands for the zone of the
// terminal alone: CST is a zone of China and one of America.
func clockTime(at, now time.Time) string {
	now = now.In(at.Location())
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, at.Location())
	text := at.Format("15:04")
	if at.Second() != 0 {
		text = at.Format(time.TimeOnly)
	}
	if zone := at.Location(); zone == time.Local || zone.String() == "" {
		text += at.Format(" MST")
	} else {
		text += " " + zone.String()
	}
	thisDay := !at.Before(today) && at.Before(today.AddDate(0, 0, 1))
	thisWeek := !at.Before(today.AddDate(0, 0, -6)) && at.Before(today.AddDate(0, 0, 7)) // each weekday once
	switch {
	case thisDay:
		return text
	case thisWeek:
		return at.Format("Mon ") + text
	case at.Year() == now.Year():
		return at.Format("2 Jan ") + text
	default:
		return at.Format("2 Jan 2006")
	}
}

// state says whether the board is current.
func (s *model) state() (string, ansi.Style) {
	since := ""
	if at := s.shown.AsOf; !at.IsZero() {
		since = " since " + at.Local().Format(time.TimeOnly)
	}
	warn := ansi.NewStyle().Bold().ForegroundColor(ansi.Yellow)
	switch s.shown.State {
	case client.Live:
		if s.shown.Final {
			return "final", ansi.NewStyle().Bold()
		}
		if f := s.shown.Frozen; f != nil {
			return "frozen since " + clockTime(f.Since.In(zoneOf(s.shown)), time.Now()), ansi.NewStyle().Bold().ForegroundColor(ansi.Cyan)
		}
		return "live", ansi.NewStyle().ForegroundColor(ansi.Green)
	case client.Stale:
		return "Redis away" + since, warn
	case client.Away:
		return "reconnecting" + strings.Replace(since, "since", "as of", 1), warn
	default:
		return "connecting", warn
	}
}

// hint is the last line.
func (s *model) hint() string {
	if err := s.shown.Err; err != nil {
		return term.Printable(fmt.Sprintf("%s: %v", s.server, term.Cause(err)))
	}
	if s.closing != "" {
		return s.closing + " · q quits"
	}
	return "q quits"
}
