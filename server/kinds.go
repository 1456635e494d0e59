package server

import (
	"maps"
	"slices"

	"github.com/labstack/echo/v5"

	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/respond"
)

// listKinds answers the kinds of the boards that the caller may read, and those whose members the caller may read.
func (s *Server) listKinds(c *echo.Context) error {
	boards, err := s.store.Boards(c.Request().Context())
	if err != nil {
		return err
	}
	caller, kinds := gate.Caller(c), make(map[string]bool)
	for _, b := range boards {
		if caller.May(access.ScopeRead, access.Board(b.Name)) || caller.MayReadKind(b.Kind) {
			kinds[b.Kind] = true
		}
	}
	names := slices.AppendSeq([]string{}, maps.Keys(kinds))
	slices.Sort(names)
	return respond.OK(c, struct {
		Kinds []string `json:"kinds"`
	}{names})
}
