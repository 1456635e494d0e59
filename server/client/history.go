package client

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// HistoryQuery selects steps of a board's history. The zero value selects the first 500 steps of the
// period.
type HistoryQuery struct {
	// From and To bound the times of the steps, both included, to the millisecond. The first step is the
	// one in force at From, so it may be older. Default: all steps of the period.
	From, To time.Time
	// Step leaves of all steps within one multiple of Step only the last. Whole seconds, at least the step
	// at which the board records; the server refuses any other. Default: all steps.
	Step time.Duration
	// Limit is the maximum number of steps, 1 to 1,000. Default 500. A page also ends before the step with
	// which it would name more than 2,048 members.
	Limit int
	// Cursor is the Cursor of the page before, which had the same query. Default: the first page.
	Cursor string
}

func (q HistoryQuery) values() url.Values {
	v := url.Values{}
	for name, t := range map[string]time.Time{"from": q.From, "to": q.To} {
		if !t.IsZero() {
			v.Set(name, t.UTC().Format("2006-01-02T15:04:05.000Z"))
		}
	}
	if q.Step != 0 {
		step := q.Step.String() // with a fraction of a second, the server refuses it
		if q.Step%time.Second == 0 {
			step = strconv.FormatInt(int64(q.Step/time.Second), 10)
		}
		v.Set("step", step)
	}
	set(v, "limit", q.Limit)
	set(v, "cursor", q.Cursor)
	return v
}

// HistoryHead is the part that histories of boards and of members have in common.
type HistoryHead struct {
	Head
	// Step is at which the server records this period, as definitions write it: 1m; "": it records no more.
	Step string `json:"step"`
	// Until is the time until which the last step is in force at least; zero: nothing is recorded yet.
	Until time.Time `json:"until"`
	// Profiles are those of the members in the steps, by id. Members without a profile are not among them.
	Profiles map[string]Profile `json:"profiles"`
	Cursor   string             `json:"cursor"` // of the next page; "" on the last
}

// HistoryEntry is one of the first ten entries of a step.
type HistoryEntry struct {
	Rank    int64   `json:"rank"` // from 1
	Member  string  `json:"member"`
	Score   int64   `json:"score"`
	Columns Columns `json:"columns,omitzero"` // like Entry's
}

// HistoryStep is the first ten entries from At on, until the next step.
type HistoryStep struct {
	At time.Time `json:"at"`
	// GapFrom, if not zero, begins a gap: from then until At the server did not look at the board.
	GapFrom time.Time      `json:"gap_from"`
	Entries []HistoryEntry `json:"entries"`
}

// History is a page of the history of a board.
type History struct {
	HistoryHead
	Steps []HistoryStep `json:"steps"`
}

// History reads steps of the history of a board that is defined with history. Members that are hidden
// are left out. It retries like Update. Its error wraps an *Error if the server refused:
// unknown_history for a board, or a period, that has no history.
func (c *Client) History(ctx context.Context, board string, q HistoryQuery) (History, error) {
	return readBoard[History](ctx, c, board, "history", q.values())
}

// MemberStep is the place of a member from At on, until the next step.
type MemberStep struct {
	At      time.Time `json:"at"`
	GapFrom time.Time `json:"gap_from"` // like HistoryStep's
	Rank    *int64    `json:"rank"`     // from 1; nil while the member is not among the first ten; Score likewise
	Score   *int64    `json:"score"`
	Columns Columns   `json:"columns,omitzero"` // like Entry's
}

// BestRank is the best rank of a member at the steps of all kept periods.
type BestRank struct {
	Rank   int64     `json:"rank"`
	At     time.Time `json:"at"`     // of the first step at which the member had it
	Period string    `json:"period"` // "" on a board without periods
}

// MemberHistory is a page of the history of one member on a board.
type MemberHistory struct {
	HistoryHead
	Member string       `json:"member"`
	Best   *BestRank    `json:"best"`  // nil: the member was never among the first ten of a step
	Steps  []MemberStep `json:"steps"` // those at which its rank or its score has changed
}

// MemberHistory is History for one member.
func (c *Client) MemberHistory(ctx context.Context, board, member string, q HistoryQuery) (MemberHistory, error) {
	v := q.values()
	v.Set("member", member)
	return readBoard[MemberHistory](ctx, c, board, "history", v)
}
