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
	made := card.Card{Title: boardTitle(board), Subtitle: page.Period, Left: scoretext.Number(page.Total) + " members"}
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
	return cardContent{cardKey{board: name}, made}, nil
}

// cardTime is the text of a time on the card of a board, by the clock of its periods.
func cardTime(d definition.Board, t time.Time) string {
	zone, err := time.LoadLocation(d.Timezone)
	if err != nil { // of a definition from a machine with other data
		zone = time.UTC
	}
	return t.In(zone).Format("2006-01-02 15:04 ") + zone.String()
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
