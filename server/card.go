package server

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
)

// cardPath is of the picture of a board; pages.CardPath is the path of one.
const cardPath = "/boards/:board/card.png"

// errNoCard is the answer about a board that does not exist, and about one that the caller may not read. It does not
// tell them apart.
var errNoCard error = &definition.FieldError{Field: "board", Reason: "does not exist, or is not one that you may read",
	Kind: definition.ErrUnknownBoard}

// getCard answers the card of a board, as PNG. A query changes nothing, so that a link may carry one.
func (s *Server) getCard(c *echo.Context) error {
	if err := s.gate.TakeRate(c, 1); err != nil {
		return err
	}
	board := request.PathValue(c, "board")
	resource := access.Board(board)
	public := s.guard.Anonymous().May(access.ScopeRead, resource)
	if !public && !gate.Caller(c).May(access.ScopeRead, resource) {
		return errNoCard
	}
	drawn, err := s.cards.Get(c.Request().Context(), board, gate.Client(c))
	switch {
	case errors.Is(err, definition.ErrUnknownBoard), errors.Is(err, definition.ErrInvalid):
		return errNoCard
	case err != nil:
		return err
	}
	h := c.Response().Header()
	h.Set("Content-Type", "image/png")
	h.Set("ETag", drawn.ETag)
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // pages of other sites may show it
	h.Set("Cache-Control", "private, max-age=5")
	if public {
		h.Set("Cache-Control", "public, max-age=5") // cards.MaxAge
	}
	http.ServeContent(c.Response(), c.Request(), "", time.Time{}, bytes.NewReader(drawn.PNG))
	return nil
}
