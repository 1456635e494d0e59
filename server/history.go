package server

import (
	"context"
	"time"

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
	r := historyRead{
		board: request.PathValue(c, "board"), from: q.Time("from"), to: q.Time("to"), step: q.Duration("step"),
		limit: int(q.Integer("limit", defaultHistory, 1, ranking.MaxHistoryPage)),
	}
	if member, given := q.Get("member"); given {
		r.member = member
		if err := definition.CheckMember(member); err != nil && q.Err == nil {
			q.Err = err
		}
	}
	if cursor, _ := q.Get("cursor"); cursor != "" && q.Err == nil {
		after, err := ranking.ParseHistoryCursor(cursor)
		r.after, q.Err = optional[ranking.HistoryCursor]{after, true}, err
	}
	if q.Err != nil {
		return q.Err
	}
	weight := r.limit
	if r.step > 0 || r.member != "" { // it reads more steps than it answers
		weight = ranking.MaxHistoryPage
	}
	return s.okPage(c, r, weight)
}

type historyRead struct {
	board, member string
	from, to      time.Time
	step          time.Duration
	limit         int
	after         optional[ranking.HistoryCursor]
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
	At      *string            `json:"at"`
	GapFrom *string            `json:"gap_from,omitzero"`
	Entries []historyEntryJSON `json:"entries"`
}

type historyEntryJSON struct {
	Rank   int64  `json:"rank"`
	Member string `json:"member"`
	Score  int64  `json:"score"`
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
	At      *string `json:"at"`
	GapFrom *string `json:"gap_from,omitzero"`
	Rank    *int64  `json:"rank"` // null: it is not among the first ten; Score likewise
	Score   *int64  `json:"score"`
}

type bestJSON struct {
	Rank   int64   `json:"rank"`
	At     *string `json:"at"`
	Period string  `json:"period"`
}

func (r historyRead) answer(ctx context.Context, s *Server) (any, error) {
	h, err := s.store.History(ctx, r.board, ranking.HistoryQuery{From: r.from, To: r.to, Step: r.step, Member: r.member,
		After: r.after.pointer(), Limit: r.limit})
	if err != nil {
		return nil, err
	}
	head := historyHead{Head: entry.NewHead(r.board, h.Period, h.Bounds), Until: definition.FormatTime(h.Until)}
	tail := historyTail{Profiles: s.entries.History(ctx, h)}
	if h.Step > 0 {
		head.Step = new(definition.FormatDuration(h.Step))
	}
	if h.Next != nil {
		tail.Cursor = new(h.Next.String())
	}
	if r.member == "" {
		answer := &boardHistoryJSON{head, make([]stepJSON, len(h.Steps)), tail}
		for i, st := range h.Steps {
			entries := make([]historyEntryJSON, len(st.Entries))
			for j, e := range st.Entries {
				entries[j] = historyEntryJSON{e.Rank, e.Member, e.Score}
			}
			answer.Steps[i] = stepJSON{definition.FormatTime(st.At), definition.FormatTime(st.Gap), entries}
		}
		return answer, nil
	}
	answer := &memberHistoryJSON{head, r.member, nil, make([]memberStepJSON, len(h.Steps)), tail}
	if h.Best != nil {
		answer.Best = &bestJSON{h.Best.Rank, definition.FormatTime(h.Best.At), h.Best.Period}
	}
	for i, st := range h.Steps {
		answer.Steps[i] = memberStepJSON{At: definition.FormatTime(st.At), GapFrom: definition.FormatTime(st.Gap)}
		if len(st.Entries) > 0 {
			answer.Steps[i].Rank, answer.Steps[i].Score = &st.Entries[0].Rank, &st.Entries[0].Score
		}
	}
	return answer, nil
}
