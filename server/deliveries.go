package server

import (
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/respond"
)

const defaultDeliveries = 50

// deliveryJSON is a message for the webhook receiver that waits.
type deliveryJSON struct {
	ID       string  `json:"id"`
	Board    string  `json:"board"`
	Period   string  `json:"period"`
	Since    *string `json:"since"`
	Attempts int64   `json:"attempts"`
	Next     *string `json:"next"`
	Error    string  `json:"error,omitzero"`
}

// listDeliveries answers a page of the messages that wait for the webhook receiver, the oldest first. A page may have fewer
// than the limit, also before the last page.
func (s *Server) listDeliveries(c *echo.Context) error {
	after, limit, err := readNamePage(c, defaultDeliveries, ranking.MaxUndeliveredPage)
	if err != nil {
		return err
	}
	page, err := s.store.Undelivered(c.Request().Context(), after, limit)
	if err != nil {
		return err
	}
	list := make([]deliveryJSON, len(page.List))
	for i, d := range page.List {
		list[i] = deliveryJSON{d.ID, d.Board, d.Period, definition.FormatTime(d.Settled), d.Attempts, definition.FormatTime(d.Next), d.Failure}
	}
	return respond.OK(c, struct {
		Configured bool           `json:"configured"` // this node sends messages
		Total      int64          `json:"total"`
		Deliveries []deliveryJSON `json:"deliveries"`
		Cursor     *string        `json:"cursor"`
	}{s.store.Delivers(), page.Total, list, newNameCursor(page.Next)})
}
