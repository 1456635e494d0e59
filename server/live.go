package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v5"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
	"rankcast/server/live"
)

// live turns a WebSocket handshake into a session. A ticket in the address replaces the caller of the request.
func (s *Server) live(c *echo.Context) error {
	find := func() (*access.Caller, error) { return gate.Caller(c), nil }
	if ticket, ok := gate.TicketIn(c); ok {
		find = func() (*access.Caller, error) { return s.gate.CallerOfTicket(c.Request().Context(), ticket) }
	}
	return s.sessions.Accept(c.Response(), c.Request(), gate.Client(c), find)
}

// socketUpdater applies the updates and events that come over sockets.
type socketUpdater struct{ store *ranking.Store }

func (s socketUpdater) Update(ctx context.Context, board string, update request.Object) ([]byte, error) {
	answer, err := applyUpdate(ctx, s.store, board, update.Fields(updateFields...), "")
	return encoded(answer, err)
}

func (s socketUpdater) Event(ctx context.Context, caller *access.Caller, event string, fields request.Object) ([]byte, error) {
	answer, err := applyEvent(ctx, s.store, caller, event, request.Post{Body: fields})
	return encoded(answer, err)
}

// encoded is an answer as JSON, unless there is an error.
func encoded(answer any, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return respond.Marshal(answer)
}

// postTickets answers a ticket for one socket or event stream. A browser can send no credentials with those,
// and a ticket may stand in an address: it works once, and for a short time.
func (s *Server) postTickets(c *echo.Context) error {
	about, err := gate.Caller(c).EncodeForTicket()
	if err != nil {
		return err
	}
	ticket := access.NewTicket()
	expires, err := s.store.SaveTicket(c.Request().Context(), access.HashSecret(ticket), about, access.TicketTime)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return respond.JSON(c, http.StatusCreated, echo.MIMEApplicationJSON, ticketJSON{ticket, expires.Format(definition.TimeForm)})
}

type ticketJSON struct {
	Ticket  string `json:"ticket"`
	Expires string `json:"expires"` // by the clock of Redis
}

// lastEventID is the header by which a browser resumes an event stream.
const lastEventID = "Last-Event-ID"

// getStream serves a board as server-sent events.
func (s *Server) getStream(c *echo.Context) error {
	q := request.ReadQuery(c, "top", "me", "around", "info", "ticket")
	most := int64(s.cfg.MaxTop)
	watch := hub.Watch{Top: int(q.Integer("top", min(defaultTop, most), 0, most)), Around: int(q.Integer("around", 0, 0, hub.MaxAround))}
	watch.Me, _ = q.Get("me")
	withInfo := q.Boolean("info")
	if q.Err != nil {
		return q.Err
	}
	if err := live.CheckWatch(watch); err != nil {
		return err
	}
	watch.Resume = resumePosition(c.Request().Header.Get(lastEventID))
	board, err := s.store.Board(c.Request().Context(), request.PathValue(c, "board"))
	if err != nil {
		return err
	}
	if withInfo {
		if watch.Info, err = live.EncodeInfo(c.Request().Context(), s.store, gate.Caller(c), board.Name); err != nil {
			return err
		}
	}
	if err := gate.EndCount(c.Request()); err != nil {
		return err
	}
	return s.sessions.Stream(c.Response(), c.Request(), gate.Client(c), gate.Caller(c), board, watch)
}

// resumePosition reads the id of an event, life:seq. An id that is not one of a node's events is no position: with
// an error, a browser would give the stream up for ever.
func resumePosition(id string) hub.Position {
	life, number, _ := strings.Cut(id, ":")
	seq, err := strconv.ParseInt(number, 10, 64)
	if at := (hub.Position{Life: life, Seq: seq}); err == nil && live.CheckPosition(at) == nil {
		return at
	}
	return hub.Position{}
}
