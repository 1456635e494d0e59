package server

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
)

// getMember answers one member's entry and its neighbours.
func (s *Server) getMember(c *echo.Context) error {
	q := request.ReadQuery(c, "around")
	board, member := request.PathValue(c, "board"), request.PathValue(c, "member")
	around := int(q.Integer("around", 0, 0, ranking.MaxAround))
	if q.Err != nil {
		return q.Err
	}
	return s.okRead(c, q.Key(), func(ctx context.Context) (any, error) {
		n, err := s.store.Around(ctx, board, member, around)
		if err != nil {
			return nil, err
		}
		list := []ranking.Entry{n.Entry}
		if around > 0 {
			list = append(list, n.Around...)
		}
		entries := s.entries.Entries(ctx, n.Kind, n.Columns, list)
		return &placeJSON{
			Head: entry.NewHead(board, n.Period, n.Bounds), Entry: entries[0],
			Total: n.Total, Percentile: n.Percentile(), ToNext: n.ToNext(), ToNextColumns: n.ToNextColumns(n.Columns), Around: entries[1:],
		}, nil
	})
}

type placeJSON struct {
	entry.Head
	entry.Entry
	Total         int64          `json:"total"`
	Percentile    float64        `json:"percentile"`
	ToNext        *int64         `json:"to_next"`
	ToNextColumns jsontext.Value `json:"to_next_columns,omitzero"`
	Around        []entry.Entry  `json:"around,omitempty"`
}

// getMembers answers the entries of many members, and their ranks among themselves. Callers ask for their own
// friends, so no two share a read.
func (s *Server) getMembers(c *echo.Context) error {
	board := request.PathValue(c, "board")
	q := request.ReadQuery(c, "id*", "sort")
	sort, sorted := q.Get("sort")
	if sorted && sort != "rank" && q.Err == nil {
		q.Err = definition.Invalid("sort", "want rank; without sort, members come in the order of the request")
	}
	if q.Err != nil {
		return q.Err
	}
	m, err := s.store.Members(c.Request().Context(), board, q.Values["id"])
	if err != nil {
		return err
	}
	members := m.List
	if sorted {
		members = m.ByRank()
	}
	profiles := s.entries.Profiles(c.Request().Context(), m.Kind, s.namedMembers(gate.Caller(c), m))
	type memberJSON struct {
		Member  string         `json:"member"`
		Rank    *int64         `json:"rank"`
		Among   *int64         `json:"among"`
		Score   *int64         `json:"score"`
		Columns jsontext.Value `json:"columns,omitzero"`
		Name    string         `json:"name,omitzero"`
		Avatar  string         `json:"avatar,omitzero"`
		Data    jsontext.Value `json:"data,omitzero"`
	}
	list := make([]memberJSON, len(members))
	for i, e := range members {
		list[i].Member, list[i].Name, list[i].Avatar = e.Member, profiles[e.Member].Name, profiles[e.Member].Avatar
		if e.Rank > 0 {
			list[i].Rank, list[i].Among, list[i].Score, list[i].Data = &e.Rank, &e.Among, &e.Score, entry.Data(e.Data)
			list[i].Columns = m.Columns.JSON(e.Score)
		}
	}
	return respond.OK(c, struct {
		entry.Head
		Total   int64        `json:"total"`
		Members []memberJSON `json:"members"`
	}{entry.NewHead(board, m.Period, m.Bounds), m.Total, list})
}

// namedMembers are the members of an answer whose profiles the caller may read: those that the board shows, and with a
// right to read the kind all.
func (s *Server) namedMembers(caller *access.Caller, m ranking.Members) []string {
	all := caller.MayReadKind(m.Kind)
	var members []string
	for _, e := range m.List {
		if all || e.Rank > 0 {
			members = append(members, e.Member)
		}
	}
	return members
}

// deleteMember removes a member from a board.
func (s *Server) deleteMember(c *echo.Context) error {
	board, member := request.PathValue(c, "board"), request.PathValue(c, "member")
	r, err := s.store.Remove(c.Request().Context(), board, member)
	return respond.Answer(c, newResult(board, member, r), err)
}
