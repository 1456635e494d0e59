package server

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
	"rankcast/server/overview"
)

// getOverview answers the state of the boards that the caller may read, and the number of instances of the
// families: of all, up to a bound, or with parameters of a page of those that match.
func (s *Server) getOverview(c *echo.Context) error {
	if c.Request().URL.RawQuery != "" {
		return s.getOverviewPage(c)
	}
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

const (
	// maxOverviewPage bounds the boards in a page of an overview, because each of them costs a read.
	maxOverviewPage     = 100
	defaultOverviewPage = 50
	// boardsPerToken is the number of boards that a caller reads for a further token of its rate.
	boardsPerToken = 10
)

// getOverviewPage answers the state of a page of the boards and families that the caller may read and that match, by name.
func (s *Server) getOverviewPage(c *echo.Context) error {
	q := request.ReadQuery(c, "limit", "cursor", "search")
	after, limit := namePageOf(q, defaultOverviewPage, maxOverviewPage)
	text := q.OptionalText("search")
	if q.Err != nil {
		return q.Err
	}
	if reason := definition.UTF8Fault(text, ranking.MaxQueryBytes); text != "" && reason != "" {
		return definition.Invalid("search", reason)
	}
	ctx, caller := c.Request().Context(), gate.Caller(c)
	page, err := s.overviews.Match(ctx, caller, overview.Query{Search: text, After: after, Limit: limit})
	if err != nil {
		return err
	}
	if err := s.gate.TakeRate(c, page.Len()/boardsPerToken); err != nil {
		return err
	}
	o, err := s.overviews.Page(ctx, page)
	if err != nil {
		return err
	}
	return respond.OK(c, struct {
		Now      *string        `json:"now"` // by the clock of Redis
		Total    int            `json:"total"`
		Boards   jsontext.Value `json:"boards"`
		Families jsontext.Value `json:"families"`
		Cursor   *string        `json:"cursor"`
	}{definition.FormatTime(s.store.Now()), page.Total, o.Boards.For(caller), o.Families.For(caller), newNameCursor(page.Next)})
}

// getFamilyOverview answers the state of a page of a family's instances that the caller may read, by name. total also
// counts those that the caller may not read.
func (s *Server) getFamilyOverview(c *echo.Context) error {
	family, page, err := s.readInstances(c, overview.FamilyPage, maxOverviewPage)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if err := s.gate.TakeRate(c, len(page.Names)/boardsPerToken); err != nil {
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
	family, page, err := s.readInstances(c, defaultInstances, ranking.MaxInstancesPage)
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

// readInstances reads the page of instances that a request asks for, of those that the caller may read.
func (s *Server) readInstances(c *echo.Context, otherwise, most int64) (family string, page ranking.Instances, err error) {
	q := request.ReadQuery(c, "limit", "cursor", "prefix")
	after, limit := namePageOf(q, otherwise, most)
	family = request.PathValue(c, "board")
	asked := ranking.InstancesQuery{Prefix: q.OptionalText("prefix"), After: after, Limit: limit,
		Pending: gate.Caller(c).May(access.ScopeModerate, access.Board(family))}
	if q.Err != nil {
		return "", page, q.Err
	}
	page, err = s.overviews.ReadableNames(c.Request().Context(), gate.Caller(c), family, asked)
	return family, page, err
}
