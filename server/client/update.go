package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxUpdates bounds a batch of updates or of events.
const MaxUpdates = 1000

// MaxScore bounds a score on either side: 2^53−1.
const MaxScore = 1<<53 - 1

// Op is the effect of an update's score on the member's.
type Op string

const (
	Sum  Op = "sum"  // adds to it
	Best Op = "best" // replaces it if the new score ranks higher
	Last Op = "last" // replaces it
)

// Condition restricts an update to some members.
type Condition string

const (
	Exists Condition = "exists" // members on the board
	Absent Condition = "absent" // members not on the board
)

// Update changes the score of one member.
type Update struct {
	// Member is 1 to 128 bytes of UTF-8, without control characters and characters that change the
	// lines or the direction of the text around them.
	Member string `json:"member"`
	// Score is within ±MaxScore.
	Score int64 `json:"score"`
	// Columns takes the place of Score on a board with columns. With Sum, columns may be left out. nil on other boards.
	Columns Columns `json:"columns,omitzero"`
	// Op overrides the board's mode for this update. Default: the board's mode.
	Op Op `json:"op,omitempty"`
	// If restricts the update. If the member does not meet the condition, the update changes
	// nothing, and its Result is the unchanged standing. Default: no condition.
	If Condition `json:"if,omitempty"`
	// Data is any JSON for the member's entry, up to 256 bytes without white space; null deletes
	// it. The update sets Data together with the score: with Best, only if the new score ranks
	// higher. Default: Data stays.
	Data jsontext.Value `json:"data,omitzero"`
	// At is the time from which the update counts, on a board with a window: within the window,
	// and at most five seconds in the future. Other boards refuse it. Default: the time of
	// arrival.
	At time.Time `json:"at,omitzero"`
	// ID makes the update count once, however often it is sent within ten minutes: 1 to 128
	// bytes, like Member. Default: a random id for this call. Set it if another call or process
	// may send the update again.
	ID string `json:"id,omitempty"`
}

// MarshalJSON leaves Score out where Columns takes its place.
func (u Update) MarshalJSON() ([]byte, error) {
	type plain Update // without this method
	if u.Columns == nil {
		return json.Marshal(plain(u))
	}
	return json.Marshal(struct {
		plain
		Score int64 `json:"score,omitzero"`
	}{plain: plain(u)})
}

// Standing is a score and its rank, from 1; 0 for a hidden member, and on a board with shards.
type Standing struct {
	Score   int64   `json:"score"`
	Columns Columns `json:"columns,omitzero"` // of Score; nil on a board without columns
	Rank    int64   `json:"rank"`
}

// Result is the effect of an update.
type Result struct {
	Board  string `json:"board"`
	Period string `json:"period"` // the period that counts it; "" on a board without periods
	Member string `json:"member"`
	// Score and Rank are the member's right after the update. They are nil if the member has
	// none: its If did not hold, or a board with a limit did not keep it. They are nil too on a
	// board with a window that is not live, where updates show later. Rank alone is nil for a
	// hidden member. It is nil on a board with shards too, unless Config.CountRanks is set and all shards answer.
	Score   *int64  `json:"score"`
	Columns Columns `json:"columns,omitzero"` // of Score; nil on a board without columns
	Rank    *int64  `json:"rank"`
	// Previous is the member's standing before the update. It is nil for a new member, and on a
	// board where updates show later.
	Previous *Standing `json:"previous"`
	// Duplicate reports that the server knew the id already; this is the result of the first
	// time. It may be true if this call retried.
	Duplicate bool `json:"duplicate"`
	// TakenBack reports that the update's event was taken back later.
	TakenBack bool `json:"taken_back,omitzero"`
	// Frozen reports that the board is frozen: the update counts, and nobody sees it yet. Period is "" then, and Score, Rank and
	// Previous are nil.
	Frozen bool `json:"frozen,omitzero"`
}

// Outcome is the result or the error of one update.
type Outcome struct {
	Result Result
	Err    error // nil, an *Error that refuses it, or wraps ErrOutcomeUnknown
}

// Update sends one update to a board and returns its result. While the server or the network is down
// (connection errors, timeouts, 408, 425, 429, 502, 503, 504), Update sends it again with the same id,
// until ctx or Config.RetryFor ends the retries. Then, and after an answer that leaves the outcome open,
// the error wraps ErrOutcomeUnknown. If no attempt got a connection, it wraps ErrNotSent instead. Any
// other error means that the server applied nothing: it refused the update, or answered each attempt that reached it
// with an error that says so.
func (c *Client) Update(ctx context.Context, board string, u Update) (Result, error) {
	u.ID = cmp.Or(u.ID, rand.Text())
	body, err := json.Marshal(u)
	if err != nil {
		return Result{}, fmt.Errorf("update: %w", err)
	}
	return call[Result](ctx, c, http.MethodPost, c.writeURL(c.boardURL(board, "scores")), body, "update board %q", board)
}

// Updates sends a batch of 1 to MaxUpdates updates, which the server applies in their order. It returns
// the outcome of each. It retries like Update, with the whole batch or with the updates that the server
// could not take. It returns an error if no update has an outcome of its own; if only some have, that
// error is the outcome of the others.
func (c *Client) Updates(ctx context.Context, board string, updates []Update) ([]Outcome, error) {
	outcomes := make([]Outcome, len(updates))
	items := make([]item, len(updates))
	for i, u := range updates {
		u.ID = cmp.Or(u.ID, rand.Text())
		body, err := json.Marshal(u)
		if err != nil {
			return nil, fmt.Errorf("updates[%d]: %w", i, err)
		}
		items[i] = item{i, body, &outcomes[i].Result, &outcomes[i].Err}
	}
	if err := c.batch(ctx, c.writeURL(c.boardURL(board, "scores")), "updates", items); err != nil {
		return nil, fmt.Errorf("update board %q: %w", board, err)
	}
	return outcomes, nil
}
