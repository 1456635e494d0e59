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

// defaultHistory is the number of steps of an answer without a limit.
const defaultHistory = 500

// getHistory answers steps of a board's history, of its first ten entries or of one member.
func (s *Server) getHistory(c *echo.Context) error {
	q := request.ReadQuery(c, "from", "to", "step", "member", "limit", "cursor")
	board := request.PathValue(c, "board")
	query := ranking.HistoryQuery{
		From: q.Time("from"), To: q.Time("to"), Step: q.Duration("step"),
		Limit: int(q.Integer("limit", defaultHistory, 1, ranking.MaxHistoryPage)),
	}
	if member, given := q.Get("member"); given {
		query.Member = member
		if err := definition.CheckMember(member); err != nil && q.Err == nil {
			q.Err = err
		}
	}
	if cursor, _ := q.Get("cursor"); cursor != "" && q.Err == nil {
		after, err := ranking.ParseHistoryCursor(cursor)
		query.After, q.Err = &after, err
	}
	if q.Err != nil {
		return q.Err
	}
	weight := query.Limit
	if query.Step > 0 || query.Member != "" { // it reads more steps than it answers
		weight = ranking.MaxHistoryPage
	}
	return s.okPage(c, q.Key(), weight, func(ctx context.Context) (any, error) { return s.history(ctx, board, query) })
}

// historyHead and historyTail are the first and the last fields of an answer with a history.
type historyHead struct {
	entry.Head
	Step  *string `json:"step"`
	Until *string `json:"until"`
}

type historyTail struct {
	Profiles map[string]ranking.Profile `json:"profiles"`
	Cursor   *string                    `json:"cursor"`
}

// boardHistoryJSON answers the history of the first ten entries.
type boardHistoryJSON struct {
	historyHead
	Steps []stepJSON `json:"steps"`
	historyTail
}

type stepJSON struct {
	At      *string       `json:"at"`
	GapFrom *string       `json:"gap_from,omitzero"`
	Entries []entry.Entry `json:"entries"`
}

// memberHistoryJSON answers the history of one member.
type memberHistoryJSON struct {
	historyHead
	Member string           `json:"member"`
	Best   *bestJSON        `json:"best"`
	Steps  []memberStepJSON `json:"steps"`
	historyTail
}

type memberStepJSON struct {
	At      *string        `json:"at"`
	GapFrom *string        `json:"gap_from,omitzero"`
	Rank    *int64         `json:"rank"` // null: it is not among the first ten; Score likewise
	Score   *int64         `json:"score"`
	Columns jsontext.Value `json:"columns,omitzero"`
}

type bestJSON struct {
	Rank   int64   `json:"rank"`
	At     *string `json:"at"`
	Period string  `json:"period"`
}

// history reads steps of a board's history.
func (s *Server) history(ctx context.Context, board string, query ranking.HistoryQuery) (any, error) {
	h, err := s.store.History(ctx, board, query)
	if err != nil {
		return nil, err
	}
	head := historyHead{Head: entry.NewHead(board, h.Period, h.Bounds), Until: definition.FormatTime(h.Until)}
	tail := historyTail{Profiles: s.entries.History(ctx, h)}
	if h.Step > 0 {
		head.Step = new(definition.FormatDuration(h.Step))
	}
	if h.Next != nil {
		tail.Cursor = new(h.Next.String())
	}
	if query.Member == "" {
		answer := &boardHistoryJSON{head, make([]stepJSON, len(h.Steps)), tail}
		for i, st := range h.Steps {
			answer.Steps[i] = stepJSON{definition.FormatTime(st.At), definition.FormatTime(st.Gap), entry.Join(st.Entries, h.Columns, nil)}
		}
		return answer, nil
	}
	answer := &memberHistoryJSON{head, query.Member, nil, make([]memberStepJSON, len(h.Steps)), tail}
	if h.Best != nil {
		answer.Best = &bestJSON{h.Best.Rank, definition.FormatTime(h.Best.At), h.Best.Period}
	}
	for i, st := range h.Steps {
		answer.Steps[i] = memberStepJSON{At: definition.FormatTime(st.At), GapFrom: definition.FormatTime(st.Gap)}
		if len(st.Entries) > 0 {
			answer.Steps[i].Rank, answer.Steps[i].Score = &st.Entries[0].Rank, &st.Entries[0].Score
			answer.Steps[i].Columns = h.Columns.JSON(st.Entries[0].Score)
		}
	}
	return answer, nil
}
