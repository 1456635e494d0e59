package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// timeJSON is a time as the wire has it; null for none.
func timeJSON(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(definition.TimeForm)
	return &text
}

// listBoards tells what boards and families are defined.
func (s *Server) listBoards(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	boards, err := s.store.Boards(c.Request().Context())
	if err != nil {
		return err
	}
	return ok(c, struct {
		Boards []definition.Board `json:"boards"`
	}{boards})
}

// getBoard tells what a board is and how it stands; of a family, named as it was
// defined, how many instances it has.
func (s *Server) getBoard(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	board := param(c, "board")
	if isFamily(board) {
		return s.getFamily(c, board)
	}
	info, err := s.store.Info(c.Request().Context(), board)
	if err != nil {
		return err
	}
	answer := struct {
		headJSON
		Total         int64            `json:"total"`
		Epoch         string           `json:"epoch"`
		Seq           int64            `json:"seq"`
		LastChange    *string          `json:"last_change"`
		Memory        int64            `json:"memory"`
		TieResolution *int64           `json:"tie_resolution_us"`
		Definition    definition.Board `json:"definition"`
	}{
		headJSON: newHead(board, info.Period, info.Bounds), Total: info.Total, Epoch: info.Epoch, Seq: info.Seq,
		LastChange: timeJSON(info.LastChange), Memory: info.Memory, Definition: info.Definition,
	}
	if us := info.TieResolution.Microseconds(); us > 0 {
		answer.TieResolution = &us
	}
	return ok(c, answer)
}

func (s *Server) getFamily(c echo.Context, family string) error {
	d, err := s.store.Definition(c.Request().Context(), family)
	if err != nil {
		return err
	}
	instances, err := s.store.Instances(c.Request().Context(), family, "", 1)
	if err != nil {
		return err
	}
	return ok(c, struct {
		Board      string           `json:"board"`
		Instances  int64            `json:"instances"`
		Definition definition.Board `json:"definition"`
	}{family, instances.Total, d})
}

// putBoard defines a board or family, or changes it.
func (s *Server) putBoard(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	board := param(c, "board")
	d, err := definition.ParseBoard(board, body)
	if err != nil {
		return err
	}
	_, err = s.store.Definition(c.Request().Context(), board)
	status := created(err, ranking.ErrUnknownBoard)
	if err := s.store.DefineBoard(c.Request().Context(), d); err != nil {
		return err
	}
	return writeJSON(c, status, echo.MIMEApplicationJSON, d)
}

// created is the status of a definition, as it was there before or unknown.
func created(err, unknown error) int {
	if errors.Is(err, unknown) {
		return http.StatusCreated
	}
	return http.StatusOK
}

// deleteBoard takes a board or family away with all its data, or the data of one
// instance.
func (s *Server) deleteBoard(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	if err := s.store.Delete(c.Request().Context(), param(c, "board")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

type periodJSON struct {
	Period string  `json:"period"`
	Opens  *string `json:"opens"`
	Ends   *string `json:"ends"`
	Final  bool    `json:"final"`
	Total  int64   `json:"total"`
}

// listPeriods tells which periods of a board there are, the newest first.
func (s *Server) listPeriods(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	board := param(c, "board")
	periods, err := s.store.Periods(c.Request().Context(), board)
	if err != nil {
		return err
	}
	list := make([]periodJSON, len(periods))
	for i, p := range periods {
		list[i] = periodJSON{p.Period, timeJSON(p.Opens), timeJSON(p.Ends), p.Final, p.Total}
	}
	return ok(c, struct {
		Board   string       `json:"board"`
		Periods []periodJSON `json:"periods"`
	}{board, list})
}

const defaultInstances = 100

// listInstances tells which instances of a family there are, by name.
func (s *Server) listInstances(c echo.Context) error {
	after, limit, err := readNames(c, defaultInstances, ranking.MaxInstancesPage)
	if err != nil {
		return err
	}
	family := param(c, "board")
	page, err := s.store.Instances(c.Request().Context(), family, after, limit)
	if err != nil {
		return err
	}
	answer := struct {
		Board     string   `json:"board"`
		Total     int64    `json:"total"`
		Instances []string `json:"instances"`
		Cursor    *string  `json:"cursor"`
	}{Board: family, Total: page.Total, Instances: page.Names}
	if page.Next != "" {
		answer.Cursor = nameCursor(page.Next)
	}
	return ok(c, answer)
}
