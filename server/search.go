package server

import (
	"context"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/request"
)

const defaultFound = 10

// getSearch answers the members of a board whose names or ids match a text.
func (s *Server) getSearch(c *echo.Context) error {
	q := request.ReadQuery(c, "q", "limit")
	board, limit := request.PathValue(c, "board"), int(q.Integer("limit", defaultFound, 1, ranking.MaxFound))
	text, given := q.Get("q")
	switch {
	case q.Err != nil:
		return q.Err
	case !given:
		return definition.Invalid("q", "is missing")
	}
	return s.okRead(c, q.Key(), func(ctx context.Context) (any, error) {
		found, err := s.store.Search(ctx, board, text, limit)
		if err != nil {
			return nil, err
		}
		entries := make([]entry.Entry, len(found.List))
		for i, f := range found.List {
			entries[i] = entry.Entry{Rank: f.Rank, Member: f.Member, Score: f.Score, Name: f.Profile.Name, Avatar: f.Profile.Avatar,
				Data: entry.Data(f.Data)}
		}
		return &searchJSON{entry.NewHead(board, found.Period, found.Bounds), found.Total, found.Complete, entries}, nil
	})
}

type searchJSON struct {
	entry.Head
	Total    int64         `json:"total"`
	Complete bool          `json:"complete"`
	Entries  []entry.Entry `json:"entries"`
}
