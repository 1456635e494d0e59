package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/scoretext"
	"rankcast/server/access"
	"rankcast/server/internal/card"
	"rankcast/server/internal/request"
)

// cardPath is of the picture of a board; pages.CardPath is the path of one.
const cardPath = "/boards/:board/card.png"

// errNoCard is the answer about a board that does not exist, and about one that the caller may not read. It does not
// tell them apart.
var errNoCard error = &ranking.FieldError{Field: "board", Reason: "does not exist, or is not one that you may read", Kind: ranking.ErrUnknownBoard}

// getCard answers the card of a board, as PNG. A query changes nothing, so that a link may carry one.
func (s *Server) getCard(c echo.Context) error {
	if err := s.takeRate(c, 1); err != nil {
		return err
	}
	board := request.PathValue(c, "board")
	resource := access.Board(board)
	public := s.guard.Anonymous().May(access.ScopeRead, resource)
	if !public && !callerOf(c).May(access.ScopeRead, resource) {
		return errNoCard
	}
	drawn, err := s.cards.get(c.Request().Context(), board, clientOf(c))
	switch {
	case errors.Is(err, ranking.ErrUnknownBoard), errors.Is(err, ranking.ErrInvalid):
		return errNoCard
	case err != nil:
		return err
	}
	h := c.Response().Header()
	h.Set("Content-Type", "image/png")
	h.Set("ETag", drawn.etag)
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // pages of other sites may show it
	h.Set("Cache-Control", "private, max-age=5")
	if public {
		h.Set("Cache-Control", "public, max-age=5") // cardMaxAge
	}
	http.ServeContent(c.Response(), c.Request(), "", time.Time{}, bytes.NewReader(drawn.png))
	return nil
}

// cardContent is what a card shows, and the key under which the node keeps it.
type cardContent struct {
	key  cardKey
	card card.Card
}

// readCard reads what the card of a board shows now. All empty boards of a definition share one card: anybody may
// name instances of a family, and none of them costs a card before it has a score.
func (s *Server) readCard(ctx context.Context, name string) (cardContent, error) {
	board, err := s.store.About(ctx, name)
	if err != nil {
		return cardContent{}, err
	}
	page, err := s.store.Read(ctx, name, ranking.Query{Limit: card.MaxRows})
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
	if now := s.store.Now(); !now.IsZero() {
		made.Right = cardTime(board.Definition, now)
	}
	if page.Final {
		made.Right = "Final, " + cardTime(board.Definition, page.Ends)
	}
	for _, e := range s.entries(ctx, page.Kind, page.Entries) {
		made.Rows = append(made.Rows, card.Row{
			Rank: scoretext.Number(e.Rank), Medal: int(min(e.Rank, card.MaxRows)), Name: e.Name, Member: e.Member, Score: scoretext.Score(e.Score, board.Definition.Display, cardLanguage),
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
