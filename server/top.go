package server

import (
	"context"

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
	text := next.String()
	return &text
}

// limit reads the maximum number of entries of a page.
func (s *Server) limit(q *request.Query) int {
	return int(q.Integer("limit", int64(min(defaultTop, s.cfg.MaxTop)), 1, int64(s.cfg.MaxTop)))
}

// getTop answers a page of a board, or of its members within a range of scores.
func (s *Server) getTop(c *echo.Context) error {
	q := request.ReadQuery(c, "limit", "cursor", "from_rank", "min_score", "max_score")
	r := topRead{
		board: request.PathValue(c, "board"), limit: s.limit(q),
		fromRank: q.Integer("from_rank", 1, 1, definition.MaxScore), after: optionally(q.Cursor()),
		minScore: optionally(q.Score("min_score")), maxScore: optionally(q.Score("max_score")),
	}
	if _, jumps := q.Get("from_rank"); jumps && r.after.given && q.Err == nil {
		q.Err = definition.Invalid("from_rank", "cannot stand beside cursor")
	}
	if q.Err != nil {
		return q.Err
	}
	return s.okPage(c, r, r.limit)
}

type topRead struct {
	board              string
	limit              int
	fromRank           int64
	after              optional[ranking.Cursor]
	minScore, maxScore optional[int64]
}

type topJSON struct {
	entry.Head
	Total  int64         `json:"total"`
	Count  *int64        `json:"count,omitzero"` // with a range of scores
	Top    []entry.Entry `json:"top"`
	Cursor *string       `json:"cursor"`
}

func (r topRead) answer(ctx context.Context, s *Server) (any, error) {
	page, err := s.store.Read(ctx, r.board, ranking.Query{
		Limit: r.limit, FromRank: r.fromRank, After: r.after.pointer(), MinScore: r.minScore.pointer(), MaxScore: r.maxScore.pointer(),
	})
	if err != nil {
		return nil, err
	}
	answer := topJSON{
		Head: entry.NewHead(r.board, page.Period, page.Bounds), Total: page.Total,
		Top: s.entries.Entries(ctx, page.Kind, page.Entries), Cursor: cursorJSON(page.Next()),
	}
	if r.minScore.given || r.maxScore.given {
		answer.Count = &page.Count
	}
	return &answer, nil
}

// getAt answers the rank that a score would give now, and a page of the members with that score.
func (s *Server) getAt(c *echo.Context) error {
	q := request.ReadQuery(c, "score", "limit", "cursor")
	r := atRead{board: request.PathValue(c, "board"), limit: s.limit(q), after: optionally(q.Cursor())}
	score := q.Score("score")
	switch {
	case q.Err != nil:
		return q.Err
	case score == nil:
		return definition.Invalid("score", "is missing")
	}
	r.score = *score
	return s.okPage(c, r, r.limit)
}

type atRead struct {
	board string
	score int64
	limit int
	after optional[ranking.Cursor]
}

type atJSON struct {
	entry.Head
	Total   int64         `json:"total"`
	Score   int64         `json:"score"`
	Rank    int64         `json:"rank"`
	Count   int64         `json:"count"`
	Members []entry.Entry `json:"members"`
	Cursor  *string       `json:"cursor"`
}

func (r atRead) answer(ctx context.Context, s *Server) (any, error) {
	at, err := s.store.At(ctx, r.board, r.score, r.after.pointer(), r.limit)
	if err != nil {
		return nil, err
	}
	return &atJSON{
		Head: entry.NewHead(r.board, at.Period, at.Bounds), Total: at.Total, Score: r.score, Rank: at.Rank, Count: at.Count,
		Members: s.entries.Entries(ctx, at.Kind, at.Entries), Cursor: cursorJSON(at.Next()),
	}, nil
}

// getCount answers the number of members, in all and within a range of scores.
func (s *Server) getCount(c *echo.Context) error {
	q := request.ReadQuery(c, "min_score", "max_score")
	r := countRead{board: request.PathValue(c, "board"), minScore: optionally(q.Score("min_score")),
		maxScore: optionally(q.Score("max_score"))}
	if q.Err != nil {
		return q.Err
	}
	return s.okRead(c, r)
}

type countRead struct {
	board              string
	minScore, maxScore optional[int64]
}

type countJSON struct {
	entry.Head
	Total int64 `json:"total"`
	Count int64 `json:"count"`
}

func (r countRead) answer(ctx context.Context, s *Server) (any, error) {
	page, err := s.store.Read(ctx, r.board, ranking.Query{MinScore: r.minScore.pointer(), MaxScore: r.maxScore.pointer()})
	if err != nil {
		return nil, err
	}
	return &countJSON{entry.NewHead(r.board, page.Period, page.Bounds), page.Total, page.Count}, nil
}
