package server

import (
	"context"
	"strconv"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
)

const defaultFound = 10

// readSearch reads what a request searches for.
func readSearch(c *echo.Context) (q *request.Query, text string, limit int) {
	q = request.ReadQuery(c, "q", "limit")
	limit = int(q.Integer("limit", defaultFound, 1, ranking.MaxFound))
	text, given := q.Get("q")
	if q.Err == nil && !given {
		q.Err = definition.Invalid("q", "is missing")
	}
	return q, text, limit
}

// getSearch answers the members of a board whose names or ids match a text.
func (s *Server) getSearch(c *echo.Context) error {
	q, text, limit := readSearch(c)
	if q.Err != nil {
		return q.Err
	}
	board := request.PathValue(c, "board")
	return s.okRead(c, q.Key(), func(ctx context.Context) (any, error) {
		found, err := s.store.Search(ctx, board, text, limit)
		if err != nil {
			return nil, err
		}
		entries := make([]entry.Entry, len(found.List))
		for i, f := range found.List {
			entries[i] = entry.Entry{Rank: f.Rank, Member: f.Member, Score: f.Score, Columns: found.Columns.JSON(f.Score),
				Name: f.Profile.Name, Avatar: f.Profile.Avatar, Data: entry.Data(f.Data)}
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

// searchMembers answers the members of a kind whose names or ids match a text. Only a caller that may moderate the kind gets
// members that are hidden on all its boards.
func (s *Server) searchMembers(c *echo.Context) error {
	q, text, limit := readSearch(c)
	if q.Err != nil {
		return q.Err
	}
	kind := request.PathValue(c, "kind")
	moderates := gate.Caller(c).May(access.ScopeModerate, access.Kind(kind))
	return s.okRead(c, q.Key()+strconv.FormatBool(moderates), func(ctx context.Context) (any, error) {
		found, err := s.store.SearchMembers(ctx, kind, ranking.MembersQuery{Text: text, Limit: limit, Hidden: moderates})
		if err != nil {
			return nil, err
		}
		members := make([]foundMemberJSON, len(found.List))
		for i, m := range found.List {
			members[i] = foundMemberJSON{m.Member, m.Profile, m.Hidden}
		}
		return &struct {
			Kind     string            `json:"kind"`
			Complete bool              `json:"complete"`
			Members  []foundMemberJSON `json:"members"`
		}{kind, found.Complete, members}, nil
	})
}

// foundMemberJSON is a member of a kind that a search has found.
type foundMemberJSON struct {
	Member string `json:"member"`
	ranking.Profile
	Hidden bool `json:"hidden,omitzero"` // on all boards of the kind
}
