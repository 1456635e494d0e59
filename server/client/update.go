package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxUpdates bounds a batch, of updates or of events.
const MaxUpdates = 1000

// MaxEventUpdates bounds what a batch of events may come to, in updates.
const MaxEventUpdates = 4096

// MaxScore bounds a score on either side: 2^53−1.
const MaxScore = 1<<53 - 1

// Op is what an update's score does to the member's.
type Op string

const (
	Sum  Op = "sum"  // is added
	Best Op = "best" // replaces one that ranks lower
	Last Op = "last" // replaces
)

// Condition says for which members an update is.
type Condition string

const (
	Exists Condition = "exists" // those on the board already
	Absent Condition = "absent" // those not on it yet
)

// Update is one thing that happened to one member's score.
type Update struct {
	// Member is 1 to 128 bytes of UTF-8 without control characters.
	Member string `json:"member"`
	// Score is within ±MaxScore.
	Score int64 `json:"score"`
	// Op is for this update alone. Default: the board's mode.
	Op Op `json:"op,omitempty"`
	// If is for which members the update is. For another it changes nothing,
	// and its Result is the standing as it is. Default: all.
	If Condition `json:"if,omitempty"`
	// Data is any JSON to be with the member's entry, up to 256 bytes without
	// white space; null takes it away. It is set where the score is: with Best,
	// only where that is kept. Default: what is there stays.
	Data jsontext.Value `json:"data,omitzero"`
	// At is when it was, on a board with a window, from when on it counts: within
	// that, and five seconds ahead at most. Another board refuses it. Default: when it
	// comes.
	At time.Time `json:"at,omitzero"`
	// ID makes it count once, however often it is sent in ten minutes: 1 to 128
	// bytes, as Member. Default: one made up for this call. Give one of your own
	// where you may have to send the update in another call, or by another
	// process.
	ID string `json:"id,omitempty"`
}

// Standing is a score and the rank it gives, from 1; 0 for a member that is hidden.
type Standing struct {
	Score int64 `json:"score"`
	Rank  int64 `json:"rank"`
}

// Result is what an update did.
type Result struct {
	Board  string `json:"board"`
	Period string `json:"period"` // that it counted in; "" on a board without periods
	Member string `json:"member"`
	// Score and Rank are the member's right after the update, nil where it has
	// none: its If did not hold, or a board with a limit did not keep it; and on a
	// board with a window that is not live, where updates show later. Rank alone is nil
	// where the member is hidden.
	Score *int64 `json:"score"`
	Rank  *int64 `json:"rank"`
	// Previous is where the member stood before, nil for a new one, and where updates
	// show later.
	Previous *Standing `json:"previous"`
	// Duplicate says that the id was seen before, and this is the result of
	// that first time. An update that this very call had to send twice may be
	// such a one.
	Duplicate bool `json:"duplicate"`
	// TakenBack says that the event which it was of was taken back since.
	TakenBack bool `json:"taken_back"`
}

// Outcome is one update's result, or why it was not taken.
type Outcome struct {
	Result Result
	Err    error // nil, an *Error that refuses it, or an ErrOutcomeUnknown
}

// Update sends one update to a board and returns what it did. It is sent again,
// with the same id, while the server or the way to it is down (connection
// errors, time-outs, 408, 425, 429, 502, 503, 504), until ctx or Config.RetryFor
// ends it: then, and after any answer that does not tell, the error is an
// ErrOutcomeUnknown. Any other error is a refusal, an *Error: nothing was applied.
func (c *Client) Update(ctx context.Context, board string, u Update) (Result, error) {
	if u.ID == "" {
		u.ID = rand.Text()
	}
	var r Result
	body, err := json.Marshal(u)
	if err != nil {
		return r, fmt.Errorf("update: %w", err)
	}
	err = c.retry(ctx, func(ctx context.Context) error {
		r = Result{}
		return c.do(ctx, http.MethodPost, c.boardURL(board, "scores"), body, &r)
	})
	if err != nil {
		return Result{}, fmt.Errorf("update board %q: %w", board, outcome(err))
	}
	return r, nil
}

// Updates sends a batch of 1 to MaxUpdates, which are applied in their order,
// and returns each one's outcome. It is retried as Update is, the whole of it or
// what the server could not take of it. An error means that no update has an
// outcome of its own; where some have, the others have that error.
func (c *Client) Updates(ctx context.Context, board string, updates []Update) ([]Outcome, error) {
	results := make([]Result, len(updates))
	items := make([]item, len(updates))
	for i, u := range updates {
		if u.ID == "" {
			u.ID = rand.Text()
		}
		body, err := json.Marshal(u)
		if err != nil {
			return nil, fmt.Errorf("updates[%d]: %w", i, err)
		}
		items[i] = item{place: i, body: body, into: &results[i]}
	}
	if err := c.batch(ctx, c.boardURL(board, "scores"), "updates", items); err != nil {
		return nil, fmt.Errorf("update board %q: %w", board, err)
	}
	outcomes := make([]Outcome, len(updates))
	for i := range items {
		outcomes[i] = Outcome{Result: results[i], Err: outcome(items[i].err)}
	}
	return outcomes, nil
}

// Event is one thing that happened, which the server maps onto many boards.
type Event struct {
	// ID is as an Update's, for all that the event makes of boards: sent again
	// with it, what is missing is done and nothing is repeated.
	ID string
	// Data is a JSON object, the event's fields, without an id of its own.
	Data jsontext.Value
}

// EventOutcome is what an event did, or why it was not taken.
type EventOutcome struct {
	// Results are the outcomes of its updates, in the order of the event's
	// definition. A board that refuses its update keeps no other back. Each
	// Result has its Board, also beside an error.
	Results []Outcome
	Err     error // nil, an *Error that refuses all of it, or an ErrOutcomeUnknown
}

// Event sends one event of a name, and returns the outcomes of the updates that it
// made of it, as EventOutcome.Results. It retries and fails as Update does.
func (c *Client) Event(ctx context.Context, name string, e Event) ([]Outcome, error) {
	body, err := e.body()
	if err != nil {
		return nil, fmt.Errorf("event %q: %w", name, err)
	}
	var a eventAnswer
	err = c.retry(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodPost, c.eventURL(name), body, &a)
	})
	if err != nil {
		return nil, fmt.Errorf("event %q: %w", name, outcome(err))
	}
	return a.results, nil
}

// Events sends 1 to MaxUpdates events of one name, which may come to
// MaxEventUpdates updates: of an event that makes 32, 128 at once. More are refused
// as a whole, too_large. It returns each one's outcome, and retries and fails as
// Updates does. Updates that they make of one board are applied in their order.
func (c *Client) Events(ctx context.Context, name string, events []Event) ([]EventOutcome, error) {
	answers := make([]eventAnswer, len(events))
	items := make([]item, len(events))
	for i, e := range events {
		body, err := e.body()
		if err != nil {
			return nil, fmt.Errorf("events[%d]: %w", i, err)
		}
		items[i] = item{place: i, body: body, into: &answers[i]}
	}
	if err := c.batch(ctx, c.eventURL(name), "events", items); err != nil {
		return nil, fmt.Errorf("event %q: %w", name, err)
	}
	outcomes := make([]EventOutcome, len(events))
	for i := range items {
		outcomes[i] = EventOutcome{Results: answers[i].results, Err: outcome(items[i].err)}
	}
	return outcomes, nil
}

// EventDefinition reads what an event is, as the JSON that defines it: its name
// as event, and the updates that it makes. It is tried again as Update is. An
// error is an *Error where the server refused, unknown_event for one.
func (c *Client) EventDefinition(ctx context.Context, name string) (jsontext.Value, error) {
	var def jsontext.Value
	if err := c.get(ctx, c.eventURL(name), &def); err != nil {
		return nil, fmt.Errorf("read event %q: %w", name, err)
	}
	return def, nil
}

func (c *Client) eventURL(name string) string { return c.base + "/v1/events/" + url.PathEscape(name) }

// body is an event as it is sent: its fields and its id.
func (e Event) body() (jsontext.Value, error) {
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(e.Data, &fields); err != nil {
		return nil, fmt.Errorf("data is not a JSON object: %w", err)
	}
	if fields == nil {
		return nil, errors.New("data is null; want a JSON object")
	}
	if _, there := fields["id"]; there {
		return nil, errors.New("data has an id of its own")
	}
	id, err := json.Marshal(cmp.Or(e.ID, rand.Text()))
	if err != nil {
		return nil, fmt.Errorf("id: %w", err)
	}
	fields["id"] = id
	return json.Marshal(fields, json.Deterministic(true))
}

// eventAnswer is the answer to one event: a result or an error for each of its
// updates.
type eventAnswer struct{ results []Outcome }

// UnmarshalJSON reads the answer.
func (a *eventAnswer) UnmarshalJSON(b []byte) error {
	var body struct {
		Results []jsontext.Value `json:"results"`
	}
	if err := json.Unmarshal(b, &body); err != nil {
		return err
	}
	a.results = make([]Outcome, len(body.Results))
	for i, raw := range body.Results {
		o := &a.results[i]
		refused, err := readItem(raw, &o.Result)
		if err != nil {
			return err
		}
		if refused != nil {
			o.Err = outcome(refused)
			if err := json.Unmarshal(raw, &o.Result); err != nil { // its board, which is beside the error
				return err
			}
		}
	}
	return nil
}
