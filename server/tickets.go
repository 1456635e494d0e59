package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/request"
)

// postTickets answers a ticket for one socket or event stream. A browser can send no credentials with those,
// and a ticket may stand in an address: it works once, and for a short time.
func (s *Server) postTickets(c echo.Context) error {
	if err := request.NoParameters(c); err != nil {
		return err
	}
	about, err := callerOf(c).EncodeForTicket()
	if err != nil {
		return err
	}
	ticket := access.NewTicket()
	expires, err := s.store.SaveTicket(c.Request().Context(), access.HashTicket(ticket), about, access.TicketTime)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return writeJSON(c, http.StatusCreated, echo.MIMEApplicationJSON, ticketJSON{ticket, expires.Format(definition.TimeForm)})
}

type ticketJSON struct {
	Ticket  string `json:"ticket"`
	Expires string `json:"expires"` // by the clock of Redis
}
