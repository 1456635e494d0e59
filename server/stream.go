package server

import (
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
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
	var err error
	if watch.Resume, err = resumeState(c.Request().Header.Get(lastEventID)); err != nil {
		return err
	}
	board, err := s.store.Board(c.Request().Context(), request.PathValue(c, "board"))
	if err != nil {
		return err
	}
	if withInfo {
		if watch.Info, err = live.EncodeInfo(c.Request().Context(), s.store, board.Name); err != nil {
			return err
		}
	}
	if err := endCount(c.Request()); err != nil {
		return err
	}
	return s.sessions.Stream(c.Response(), c.Request(), clientOf(c), callerOf(c), board, watch)
}

// resumeState reads the id of an event, epoch:seq; zero for none.
func resumeState(id string) (at ranking.State, err error) {
	if id == "" {
		return at, nil
	}
	epoch, seq, ok := strings.Cut(id, ":")
	at.Epoch = epoch
	if at.Seq, err = strconv.ParseInt(seq, 10, 64); !ok || epoch == "" || err != nil || live.CheckEpoch(epoch) != nil || at.Seq < 0 || at.Seq > definition.MaxScore {
		return ranking.State{}, ranking.Invalid(lastEventID, "is not an id of this server's events; want an epoch, a colon and a seq")
	}
	return at, nil
}
