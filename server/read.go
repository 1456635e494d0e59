package server

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
)

const defaultTop = 10

type entryJSON struct {
	Rank   int64          `json:"rank"`
	Member string         `json:"member"`
	Score  int64          `json:"score"`
	Name   string         `json:"name,omitzero"` // of the member's profile, as is the avatar
	Avatar string         `json:"avatar,omitzero"`
	Data   jsontext.Value `json:"data,omitzero"`
}

// dataJSON is the data of an entry; nil for none.
func dataJSON(data string) jsontext.Value {
	if data == "" {
		return nil
	}
	return jsontext.Value(data)
}

// getTop reads a page of a board.
func (s *Server) getTop(c echo.Context) error {
	board := param(c, "board")
	q := readQuery(c, "limit", "cursor", "from_rank")
	limit := int(q.integer("limit", int64(min(defaultTop, s.cfg.MaxTop)), 1, int64(s.cfg.MaxTop)))
	query := ranking.Query{Limit: limit, FromRank: q.integer("from_rank", 1, 1, ranking.MaxScore)}
	cursor, paged := q.get("cursor")
	if _, jumps := q.get("from_rank"); jumps && paged && q.err == nil {
		q.err = ranking.Invalid("from_rank", "goes with no cursor")
	}
	if paged && q.err == nil {
		var after ranking.Cursor
		after, q.err = ranking.ParseCursor(cursor)
		query.After = &after
	}
	if q.err != nil {
		return q.err
	}
	page, err := s.store.Read(c.Request().Context(), board, query)
	if err != nil {
		return err
	}
	answer := struct {
		Board  string      `json:"board"`
		Period string      `json:"period"`
		Ends   *string     `json:"ends"`
		Final  bool        `json:"final"`
		Total  int64       `json:"total"`
		Top    []entryJSON `json:"top"`
		Cursor *string     `json:"cursor"`
	}{board, page.Period, timeJSON(page.Ends), page.Final, page.Total, s.entries(c, board, page.Entries), nil}
	if next := page.Next(); next != nil {
		text := next.String()
		answer.Cursor = &text
	}
	return ok(c, answer)
}

// getMember reads one member's place and its neighbours.
func (s *Server) getMember(c echo.Context) error {
	board := param(c, "board")
	q := readQuery(c, "around")
	around := int(q.integer("around", 0, 0, ranking.MaxAround))
	if q.err != nil {
		return q.err
	}
	n, err := s.store.Around(c.Request().Context(), board, param(c, "member"), around)
	if err != nil {
		return err
	}
	list := []ranking.Entry{n.Entry}
	if around > 0 {
		list = append(list, n.Around...)
	}
	entries := s.entries(c, board, list)
	answer := struct {
		Board  string  `json:"board"`
		Period string  `json:"period"`
		Ends   *string `json:"ends"`
		Final  bool    `json:"final"`
		entryJSON
		Total      int64       `json:"total"`
		Percentile float64     `json:"percentile"`
		ToNext     *int64      `json:"to_next"`
		Around     []entryJSON `json:"around,omitempty"`
	}{
		Board: board, Period: n.Period, Ends: timeJSON(n.Ends), Final: n.Final, entryJSON: entries[0],
		Total: n.Total, Percentile: n.Percentile(), ToNext: n.ToNext(),
	}
	answer.Around = entries[1:]
	return ok(c, answer)
}

// getMembers reads many members at once.
func (s *Server) getMembers(c echo.Context) error {
	q := readQuery(c, "id*")
	if q.err != nil {
		return q.err
	}
	members := q.values["id"]
	board := param(c, "board")
	found, err := s.store.Members(c.Request().Context(), board, members)
	if err != nil {
		return err
	}
	profiles := s.profiles(c, board, members)
	type memberJSON struct {
		Member string         `json:"member"`
		Rank   *int64         `json:"rank"`
		Score  *int64         `json:"score"`
		Name   string         `json:"name,omitzero"`
		Avatar string         `json:"avatar,omitzero"`
		Data   jsontext.Value `json:"data,omitzero"`
	}
	list := make([]memberJSON, len(members))
	for i, m := range members {
		list[i].Member, list[i].Name, list[i].Avatar = m, profiles[m].Name, profiles[m].Avatar
		if e, there := found[m]; there {
			list[i].Rank, list[i].Score, list[i].Data = &e.Rank, &e.Score, dataJSON(e.Data)
		}
	}
	return ok(c, struct {
		Members []memberJSON `json:"members"`
	}{list})
}
