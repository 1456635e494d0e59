package server

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/request"
)

const defaultTop = 10

// cursorJSON encodes the cursor of the next page; null for none.
func cursorJSON(next *ranking.Cursor) *string {
	if next == nil {
		return nil
	}
	return new(next.String())
}

// limit reads the maximum number of entries of a page.
func (s *Server) limit(q *request.Query) int {
	return int(q.Integer("limit", int64(min(defaultTop, s.cfg.MaxTop)), 1, int64(s.cfg.MaxTop)))
}

// getTop answers a page of a board, or of its members within a range of scores.
func (s *Server) getTop(c *echo.Context) error {
	q := request.ReadQuery(c, "limit", "cursor", "from_rank", "min_score", "max_score", "min_columns", "max_columns")
	board := request.PathValue(c, "board")
	query := ranking.Query{
		Limit: s.limit(q), FromRank: q.Integer("from_rank", 1, 1, definition.MaxScore), After: q.Cursor(),
		MinScore: q.Score("min_score"), MaxScore: q.Score("max_score"),
		MinColumns: q.Columns("min_columns"), MaxColumns: q.Columns("max_columns"),
	}
	if _, jumps := q.Values["from_rank"]; jumps && query.After != nil && q.Err == nil {
		q.Err = definition.Invalid("from_rank", "cannot stand beside cursor")
	}
	if q.Err != nil {
		return q.Err
	}
	return s.okPage(c, q.Key(), query.Limit, func(ctx context.Context) (any, error) { return s.top(ctx, board, query) })
}

type topJSON struct {
	entry.Head
	Total  int64         `json:"total"`
	Count  *int64        `json:"count,omitzero"` // with a range of scores
	Top    []entry.Entry `json:"top"`
	Cursor *string       `json:"cursor"`
}

// top reads a page of a board.
func (s *Server) top(ctx context.Context, board string, query ranking.Query) (any, error) {
	page, err := s.store.Read(ctx, board, query)
	if err != nil {
		return nil, err
	}
	answer := topJSON{
		Head: entry.NewHead(board, page.Period, page.Bounds), Total: page.Total,
		Top: s.entries.Entries(ctx, page.Kind, page.Columns, page.Entries), Cursor: cursorJSON(page.Next()),
	}
	if query.MinScore != nil || query.MaxScore != nil || query.MinColumns != nil || query.MaxColumns != nil {
		answer.Count = &page.Count
	}
	return &answer, nil
}

// getAt answers the rank that a score would give now, and a page of the members with that score.
func (s *Server) getAt(c *echo.Context) error {
	q := request.ReadQuery(c, "score", "columns", "limit", "cursor")
	board, limit, after, score, columns := request.PathValue(c, "board"), s.limit(q), q.Cursor(), q.Score("score"), q.Columns("columns")
	switch {
	case q.Err != nil:
		return q.Err
	case score == nil && columns == nil:
		return definition.Invalid("score", missingScore)
	case score != nil && columns != nil:
		return definition.ErrTwoScores
	}
	return s.okPage(c, q.Key(), limit, func(ctx context.Context) (any, error) {
		var at ranking.ScorePosition
		var err error
		if columns != nil {
			at, err = s.store.AtColumns(ctx, board, columns, after, limit)
		} else {
			at, err = s.store.At(ctx, board, *score, after, limit)
		}
		if err != nil {
			return nil, err
		}
		return &atJSON{
			Head: entry.NewHead(board, at.Period, at.Bounds), Total: at.Total, Score: at.Score, Columns: at.Columns.JSON(at.Score),
			Rank: at.Rank, Count: at.Count, Members: s.entries.Entries(ctx, at.Kind, at.Columns, at.Entries), Cursor: cursorJSON(at.Next()),
		}, nil
	})
}

type atJSON struct {
	entry.Head
	Total   int64          `json:"total"`
	Score   int64          `json:"score"`
	Columns jsontext.Value `json:"columns,omitzero"`
	Rank    int64          `json:"rank"`
	Count   int64          `json:"count"`
	Members []entry.Entry  `json:"members"`
	Cursor  *string        `json:"cursor"`
}

// getCount answers the number of members, in all and within a range of scores.
func (s *Server) getCount(c *echo.Context) error {
	q := request.ReadQuery(c, "min_score", "max_score", "min_columns", "max_columns")
	board, query := request.PathValue(c, "board"), ranking.Query{MinScore: q.Score("min_score"), MaxScore: q.Score("max_score"),
		MinColumns: q.Columns("min_columns"), MaxColumns: q.Columns("max_columns")}
	if q.Err != nil {
		return q.Err
	}
	return s.okRead(c, q.Key(), func(ctx context.Context) (any, error) {
		page, err := s.store.Read(ctx, board, query)
		if err != nil {
			return nil, err
		}
		return &countJSON{entry.NewHead(board, page.Period, page.Bounds), page.Total, page.Count}, nil
	})
}

type countJSON struct {
	entry.Head
	Total int64 `json:"total"`
	Count int64 `json:"count"`
}
