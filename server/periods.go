package server

import (
	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
)

type periodJSON struct {
	Period string        `json:"period"`
	Opens  *string       `json:"opens"`
	Ends   *string       `json:"ends"`
	Final  bool          `json:"final"`
	Frozen *entry.Frozen `json:"frozen,omitzero"`
	Total  int64         `json:"total"`
}

// listPeriods answers the periods of a board, the newest first.
func (s *Server) listPeriods(c *echo.Context) error {
	board := request.PathValue(c, "board")
	periods, err := s.store.Periods(gate.AsCaller(c), board)
	if err != nil {
		return err
	}
	list := make([]periodJSON, len(periods))
	for i, p := range periods {
		list[i] = periodJSON{p.Period, definition.FormatTime(p.Opens), definition.FormatTime(p.Ends), p.Final, entry.NewFrozen(p.Frozen),
			p.Total}
	}
	return respond.OK(c, struct {
		Board   string       `json:"board"`
		Periods []periodJSON `json:"periods"`
	}{board, list})
}
