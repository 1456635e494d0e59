package server

import (
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"rankcast/hub"
	"rankcast/server/internal/request"
	"rankcast/server/live"
)

// lastEventID is the header by which a browser resumes an event stream.
const lastEventID = "Last-Event-ID"

// getStream serves a board as server-sent events.
func (s *Server) getStream(c echo.Context) error {
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
		if watch.Info, err = live.EncodeInfo(c.Request().Context(), s.store, callerOf(c), board.Name); err != nil {
			return err
		}
	}
	if err := endCount(c.Request()); err != nil {
		return err
	}
	return s.sessions.Stream(c.Response(), c.Request(), clientOf(c), callerOf(c), board, watch)
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
