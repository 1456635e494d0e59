// Package cards draws the pictures of boards that links to them show elsewhere.
package cards

import (
	"cmp"
	"context"
	"strings"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/scoretext"
	"rankcast/server/cards/internal/card"
)

// cardContent is what a card shows, and the key under which the node keeps it.
type cardContent struct {
	key  cardKey
	card card.Card
}

// read reads what the card of a board shows now. All empty boards of a definition share one card: anybody may
// name instances of a family, and none of them costs a card before it has a score.
func (c *Cards) read(ctx context.Context, name string) (cardContent, error) {
	board, err := c.store.About(ctx, name)
	if err != nil {
		return cardContent{}, err
	}
	page, err := c.store.Read(ctx, name, ranking.Query{Limit: card.MaxRows})
	if err != nil {
		return cardContent{}, err
	}
	if page.Total == 0 {
		return cardContent{cardKey{board.Definition.Name, true}, card.Card{Title: definitionTitle(board.Definition), Empty: "No scores yet"}}, nil
	}
	made := card.Card{Title: boardTitle(board), Subtitle: periodText(board), Left: scoretext.Number(page.Total) + " members"}
	if page.Total == 1 {
		made.Left = "1 member"
	}
	if now := c.store.Now(); !now.IsZero() {
		made.Right = cardTime(board.Definition, now)
	}
	if page.Final {
		made.Right = "Final, " + cardTime(board.Definition, page.Ends)
	}
	if page.Frozen != nil {
		made.Right = "Standings are frozen since " + cardTime(board.Definition, page.Frozen.Since)
	}
	for _, column := range page.Columns {
		made.Heads = append(made.Heads, scoretext.Head(column, cardLanguage))
	}
	for _, e := range c.entries.Entries(ctx, page.Kind, nil, page.Entries) {
		made.Rows = append(made.Rows, card.Row{
			Rank: scoretext.Number(e.Rank), Medal: int(min(e.Rank, card.MaxRows)), Name: e.Name, Member: e.Member,
			Score: scoretext.Score(e.Score, board.Definition.Display, cardLanguage), Values: scoretext.Columns(page.Columns, e.Score, cardLanguage),
		})
	}
	if page.Final && len(made.Rows) > 0 {
		nameWinner(&made, page, board.Definition.Display)
	}
	return cardContent{cardKey{board: name}, made}, nil
}

// nameWinner makes the card of a result one that says who has won, and by how much. A tie for first place has no winner.
func nameWinner(c *card.Card, page ranking.Page, d definition.Display) {
	entries := page.Entries
	if len(entries) > 1 && entries[1].Rank == 1 {
		return
	}
	c.Title, c.Subtitle = cmp.Or(c.Rows[0].Name, c.Rows[0].Member)+" wins", strings.TrimSuffix(c.Title+", "+c.Subtitle, ", ")
	if len(entries) > 1 && page.Columns == nil {
		lead := max(entries[0].Score, entries[1].Score) - min(entries[0].Score, entries[1].Score)
		c.Left += ", won by " + scoretext.Score(lead, d, cardLanguage)
	}
}

// zoneOf is the time zone of the periods of a board.
func zoneOf(d definition.Board) *time.Location {
	zone, err := time.LoadLocation(d.Timezone)
	if err != nil { // of a definition from a machine with other data
		return time.UTC
	}
	return zone
}

// cardTime is the text of a time on the card of a board, by the clock of its periods.
func cardTime(d definition.Board, t time.Time) string {
	zone := zoneOf(d)
	return t.In(zone).Format("2006-01-02 15:04 ") + zone.String()
}

// lastDay is so long before the end of a period of days: a week may end at any hour of the day on which the next one begins.
const lastDay = 18 * time.Hour

// periodText is the name of the period of a board for people, as periodText in web/kit/period.js writes it, with its year; "" for
// a board without periods.
func periodText(a ranking.About) string {
	zone := zoneOf(a.Definition)
	from, to := a.Opens.In(zone), a.Ends.Add(-lastDay).In(zone)
	switch every := a.Definition.Period; {
	case a.Period == "":
		return ""
	case every == "year":
		return from.Format("2006")
	case every == "month":
		return from.Format("January 2006")
	case every == "day":
		return from.Format("Jan 2, 2006")
	case a.Ends.Sub(a.Opens) < 24*time.Hour:
		return from.Format("Jan 2, 2006, 15:04")
	case from.Year() != to.Year():
		return from.Format("Jan 2, 2006") + " – " + to.Format("Jan 2, 2006")
	case from.Month() != to.Month():
		return from.Format("Jan 2") + " – " + to.Format("Jan 2, 2006")
	default:
		return from.Format("Jan 2") + " – " + to.Format("2, 2006")
	}
}

// cardLanguage is the language of all cards, so that one card serves everybody.
const cardLanguage = "en"

// boardTitle is the title of a board's card.
func boardTitle(a ranking.About) string { return cmp.Or(a.Title.In(cardLanguage), a.Instance) }

// definitionTitle is the title of the card of each empty board of a definition.
func definitionTitle(d definition.Board) string {
	base, _, family := strings.Cut(d.Name, ":")
	if title := d.Title.In(cardLanguage); title != "" && !family {
		return title
	}
	return base
}
