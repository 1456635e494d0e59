package server

import (
	"context"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/server/access"
	"rankcast/server/internal/request"
)

const defaultInstances = 100

// listInstances answers a page of the instances of a family that the caller may read, by name. total also counts
// those that the caller may not read.
func (s *Server) listInstances(c echo.Context) error {
	after, limit, err := readNamePage(c, defaultInstances, ranking.MaxInstancesPage)
	if err != nil {
		return err
	}
	family := request.PathValue(c, "board")
	page, err := s.readableInstances(c.Request().Context(), callerOf(c), family, after, limit)
	if err != nil {
		return err
	}
	return ok(c, struct {
		Board     string   `json:"board"`
		Total     int64    `json:"total"`
		Instances []string `json:"instances"`
		Cursor    *string  `json:"cursor"`
	}{family, page.Total, page.Names, newNameCursor(page.Next)})
}

// maxSkippedPages bounds the pages of ranking.MaxInstancesPage names that one request reads.
const maxSkippedPages = 50

// readableInstances is Store.Instances for what a caller may read. It reads on until the page is full: a cursor
// holds a name, so it must be one that the caller may read too.
func (s *Server) readableInstances(ctx context.Context, caller *access.Caller, family, after string, limit int) (ranking.Instances, error) {
	page, err := s.store.Instances(ctx, family, after, limit)
	if err != nil || caller.MayAll() {
		return page, err
	}
	readable := ranking.Instances{Names: []string{}, Total: page.Total}
	for range maxSkippedPages {
		for _, name := range page.Names {
			if !caller.May(access.ScopeRead, access.Board(name)) {
				continue
			}
			if len(readable.Names) == limit {
				readable.Next = readable.Names[limit-1]
				return readable, nil
			}
			readable.Names = append(readable.Names, name)
		}
		if page.Next == "" {
			return readable, nil
		}
		if page, err = s.store.Instances(ctx, family, page.Next, ranking.MaxInstancesPage); err != nil {
			return ranking.Instances{}, err
		}
	}
	return ranking.Instances{}, &ranking.FieldError{Field: "board", Reason: "has too many instances that the caller may not read; use a key that may read all of them", Kind: ranking.ErrTooLarge}
}
