package server

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
	"rankcast/server/overview"
)

// getOverview answers the state of the boards that the caller may read, and the number of instances of the
// families.
func (s *Server) getOverview(c *echo.Context) error {
	o, err := s.overviews.All(c.Request().Context())
	if err != nil {
		return err
	}
	caller := gate.Caller(c)
	return respond.OK(c, struct {
		Now      *string        `json:"now"` // by the clock of Redis: pages set their clocks by it
		Boards   jsontext.Value `json:"boards"`
		Families jsontext.Value `json:"families"`
		LeftOff  int            `json:"left_off,omitzero"`
	}{definition.FormatTime(s.store.Now()), o.Boards.For(caller), o.Families.For(caller), o.LeftOffFor(caller)})
}

// maxFamilyPage bounds the instances in one answer, because each of them costs a read.
const maxFamilyPage = 100

// instancesPerToken is the number of instances that a caller reads for a further token of its rate.
const instancesPerToken = 10

// getFamilyOverview answers the state of a page of a family's instances that the caller may read, by name. total also
// counts those that the caller may not read.
func (s *Server) getFamilyOverview(c *echo.Context) error {
	after, limit, err := readNamePage(c, overview.FamilyPage, maxFamilyPage)
	if err != nil {
		return err
	}
	family := request.PathValue(c, "board")
	ctx := c.Request().Context()
	page, err := s.overviews.ReadableNames(ctx, gate.Caller(c), family, after, limit)
	if err != nil {
		return err
	}
	if err := s.gate.TakeRate(c, len(page.Names)/instancesPerToken); err != nil {
		return err
	}
	o, err := s.overviews.Instances(ctx, family, page.Names)
	if err != nil {
		return err
	}
	return respond.OK(c, struct {
		Now    *string        `json:"now"` // by the clock of Redis
		Board  string         `json:"board"`
		Total  int64          `json:"total"`
		Boards jsontext.Value `json:"boards"`
		Cursor *string        `json:"cursor"`
	}{definition.FormatTime(s.store.Now()), family, page.Total, o.Boards.Whole(), newNameCursor(page.Next)})
}

const defaultInstances = 100

// listInstances answers a page of the instances of a family that the caller may read, by name. total also counts
// those that the caller may not read.
func (s *Server) listInstances(c *echo.Context) error {
	after, limit, err := readNamePage(c, defaultInstances, ranking.MaxInstancesPage)
	if err != nil {
		return err
	}
	family := request.PathValue(c, "board")
	page, err := s.overviews.ReadableNames(c.Request().Context(), gate.Caller(c), family, after, limit)
	if err != nil {
		return err
	}
	return respond.OK(c, struct {
		Board     string   `json:"board"`
		Total     int64    `json:"total"`
		Instances []string `json:"instances"`
		Cursor    *string  `json:"cursor"`
	}{family, page.Total, page.Names, newNameCursor(page.Next)})
}
