package server

import (
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/request"
)

const defaultTop = 10

// cursorJSON encodes the cursor of the next page; null for none.
func cursorJSON(next *ranking.Cursor) *string {
	if next == nil {
		return nil
	}
	text := next.String()
	return &text
}

// limit reads the maximum number of entries of a page.
func (s *Server) limit(q *request.Query) int {
	return int(q.Integer("limit", int64(min(defaultTop, s.cfg.MaxTop)), 1, int64(s.cfg.MaxTop)))
}

// getTop answers a page of a board, or of its members within a range of scores.
func (s *Server) getTop(c echo.Context) error {
	board := request.PathValue(c, "board")
	q := request.ReadQuery(c, "limit", "cursor", "from_rank", "min_score", "max_score")
	query := ranking.Query{
		Limit: s.limit(q), FromRank: q.Integer("from_rank", 1, 1, definition.MaxScore), After: q.Cursor(),
		MinScore: q.Score("min_score"), MaxScore: q.Score("max_score"),
	}
	if _, jumps := q.Get("from_rank"); jumps && query.After != nil && q.Err == nil {
		q.Err = ranking.Invalid("from_rank", "cannot stand beside cursor")
	}
	if q.Err != nil {
		return q.Err
	}
	page, err := s.store.Read(asCaller(c), board, query)
	if err != nil {
		return err
	}
	answer := struct {
		headJSON
		Total  int64       `json:"total"`
		Count  *int64      `json:"count,omitzero"`
		Top    []entryJSON `json:"top"`
		Cursor *string     `json:"cursor"`
	}{newHead(board, page.Period, page.Bounds), page.Total, nil, s.entries(c.Request().Context(), c, page.Kind, page.Entries), cursorJSON(page.Next())}
	if query.MinScore != nil || query.MaxScore != nil {
		answer.Count = &page.Count
	}
	return ok(c, answer)
}

// getAt answers the rank that a score would give now, and a page of the members with that score.
func (s *Server) getAt(c echo.Context) error {
	board := request.PathValue(c, "board")
	q := request.ReadQuery(c, "score", "limit", "cursor")
	limit, after, score := s.limit(q), q.Cursor(), q.Score("score")
	switch {
	case q.Err != nil:
		return q.Err
	case score == nil:
		return ranking.Invalid("score", "is missing")
	}
	at, err := s.store.At(asCaller(c), board, *score, after, limit)
	if err != nil {
		return err
	}
	return ok(c, struct {
		headJSON
		Total   int64       `json:"total"`
		Score   int64       `json:"score"`
		Rank    int64       `json:"rank"`
		Count   int64       `json:"count"`
		Members []entryJSON `json:"members"`
		Cursor  *string     `json:"cursor"`
	}{newHead(board, at.Period, at.Bounds), at.Total, *score, at.Rank, at.Count, s.entries(c.Request().Context(), c, at.Kind, at.Entries), cursorJSON(at.Next())})
}

// getCount answers the number of members, in all and within a range of scores.
func (s *Server) getCount(c echo.Context) error {
	board := request.PathValue(c, "board")
	q := request.ReadQuery(c, "min_score", "max_score")
	query := ranking.Query{MinScore: q.Score("min_score"), MaxScore: q.Score("max_score")}
	if q.Err != nil {
		return q.Err
	}
	page, err := s.store.Read(c.Request().Context(), board, query)
	if err != nil {
		return err
	}
	return ok(c, struct {
		headJSON
		Total int64 `json:"total"`
		Count int64 `json:"count"`
	}{newHead(board, page.Period, page.Bounds), page.Total, page.Count})
}
