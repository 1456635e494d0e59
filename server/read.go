package server

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
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

// headJSON is what each answer to a read begins with.
type headJSON struct {
	Board  string  `json:"board"`
	Period string  `json:"period"`
	Ends   *string `json:"ends"`
	Final  bool    `json:"final"`
}

func newHead(board, period string, b ranking.Bounds) headJSON {
	return headJSON{board, period, timeJSON(b.Ends), b.Final}
}

// cursorJSON is where the next page begins; null for none.
func cursorJSON(next *ranking.Cursor) *string {
	if next == nil {
		return nil
	}
	text := next.String()
	return &text
}

// limit reads how many entries a page is to have at most.
func (s *Server) limit(q *query) int {
	return int(q.integer("limit", int64(min(defaultTop, s.cfg.MaxTop)), 1, int64(s.cfg.MaxTop)))
}

// getTop reads a page of a board, or of its members with some scores.
func (s *Server) getTop(c echo.Context) error {
	board := param(c, "board")
	q := readQuery(c, "limit", "cursor", "from_rank", "min_score", "max_score")
	query := ranking.Query{
		Limit: s.limit(q), FromRank: q.integer("from_rank", 1, 1, definition.MaxScore), After: q.cursor(),
		MinScore: q.score("min_score"), MaxScore: q.score("max_score"),
	}
	if _, jumps := q.get("from_rank"); jumps && query.After != nil && q.err == nil {
		q.err = ranking.Invalid("from_rank", "goes with no cursor")
	}
	if q.err != nil {
		return q.err
	}
	page, err := s.store.Read(c.Request().Context(), board, query)
	if err != nil {
		return err
	}
	answer := struct {
		headJSON
		Total  int64       `json:"total"`
		Count  *int64      `json:"count,omitzero"`
		Top    []entryJSON `json:"top"`
		Cursor *string     `json:"cursor"`
	}{newHead(board, page.Period, page.Bounds), page.Total, nil, s.entries(c, page.Kind, page.Entries), cursorJSON(page.Next())}
	if query.MinScore != nil || query.MaxScore != nil {
		answer.Count = &page.Count
	}
	return ok(c, answer)
}

// getAt tells what rank a score would give now, and reads a page of who has it.
func (s *Server) getAt(c echo.Context) error {
	board := param(c, "board")
	q := readQuery(c, "score", "limit", "cursor")
	limit, after, score := s.limit(q), q.cursor(), q.score("score")
	switch {
	case q.err != nil:
		return q.err
	case score == nil:
		return ranking.Invalid("score", "is missing")
	}
	at, err := s.store.At(c.Request().Context(), board, *score, after, limit)
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
	}{newHead(board, at.Period, at.Bounds), at.Total, *score, at.Rank, at.Count, s.entries(c, at.Kind, at.Entries), cursorJSON(at.Next())})
}

// getCount tells how many members there are, or how many of them have some scores.
func (s *Server) getCount(c echo.Context) error {
	board := param(c, "board")
	q := readQuery(c, "min_score", "max_score")
	query := ranking.Query{MinScore: q.score("min_score"), MaxScore: q.score("max_score")}
	if q.err != nil {
		return q.err
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
	entries := s.entries(c, n.Kind, list)
	answer := struct {
		headJSON
		entryJSON
		Total      int64       `json:"total"`
		Percentile float64     `json:"percentile"`
		ToNext     *int64      `json:"to_next"`
		Around     []entryJSON `json:"around,omitempty"`
	}{
		headJSON: newHead(board, n.Period, n.Bounds), entryJSON: entries[0],
		Total: n.Total, Percentile: n.Percentile(), ToNext: n.ToNext(),
	}
	answer.Around = entries[1:]
	return ok(c, answer)
}

// getMembers reads many members at once, and their order among themselves.
func (s *Server) getMembers(c echo.Context) error {
	board := param(c, "board")
	q := readQuery(c, "id*", "sort")
	sort, sorted := q.get("sort")
	if sorted && sort != "rank" && q.err == nil {
		q.err = ranking.Invalid("sort", "want rank, or none for the order asked")
	}
	if q.err != nil {
		return q.err
	}
	m, err := s.store.Members(c.Request().Context(), board, q.values["id"])
	if err != nil {
		return err
	}
	members := m.List
	if sorted {
		members = m.ByRank()
	}
	profiles := s.profiles(c.Request().Context(), c, m.Kind, q.values["id"])
	type memberJSON struct {
		Member string         `json:"member"`
		Rank   *int64         `json:"rank"`
		Among  *int64         `json:"among"`
		Score  *int64         `json:"score"`
		Name   string         `json:"name,omitzero"`
		Avatar string         `json:"avatar,omitzero"`
		Data   jsontext.Value `json:"data,omitzero"`
	}
	list := make([]memberJSON, len(members))
	for i, e := range members {
		list[i].Member, list[i].Name, list[i].Avatar = e.Member, profiles[e.Member].Name, profiles[e.Member].Avatar
		if e.Rank > 0 {
			list[i].Rank, list[i].Among, list[i].Score, list[i].Data = &e.Rank, &e.Among, &e.Score, dataJSON(e.Data)
		}
	}
	return ok(c, struct {
		headJSON
		Total   int64        `json:"total"`
		Members []memberJSON `json:"members"`
	}{newHead(board, m.Period, m.Bounds), m.Total, list})
}
