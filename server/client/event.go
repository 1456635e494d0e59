package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxEventUpdates bounds the updates that a batch of events makes.
const MaxEventUpdates = 4096

// Event is one thing that happened. The server maps it onto updates of many boards.
type Event struct {
	// ID is like Update.ID, for all updates of the event. If the event is sent again with it,
	// the server applies the missing updates only.
	ID string
	// Data is a JSON object with the event's fields, without a field "id".
	Data jsontext.Value
}

// EventOutcome is the result or the error of one event.
type EventOutcome struct {
	// Results are the outcomes of its updates, in the order of the event's definition. If a board
	// refuses its update, the others still count. Each Result has its Board, also beside an
	// error. nil beside Err.
	Results []Outcome
	Err     error // nil, an *Error that refuses the whole event, or wraps ErrOutcomeUnknown
}

// Event sends one event. It returns the outcomes of the event's updates, like EventOutcome.Results. It
// retries and fails like Update.
func (c *Client) Event(ctx context.Context, name string, e Event) ([]Outcome, error) {
	body, err := e.body()
	if err != nil {
		return nil, fmt.Errorf("event %q: %w", name, err)
	}
	return call[eventOutcomes](ctx, c, http.MethodPost, c.writeURL(c.eventURL(name)), body, "event %q", name)
}

// Events sends 1 to MaxUpdates events of one name, with MaxEventUpdates updates at most: 128 events of
// 32 updates each. The server refuses a larger batch as a whole, with too_large. Events returns the
// outcome of each event, and retries and fails like Updates. The server applies the updates of one board
// in their order.
func (c *Client) Events(ctx context.Context, name string, events []Event) ([]EventOutcome, error) {
	outcomes := make([]EventOutcome, len(events))
	items := make([]item, len(events))
	for i, e := range events {
		body, err := e.body()
		if err != nil {
			return nil, fmt.Errorf("events[%d]: %w", i, err)
		}
		items[i] = item{i, body, (*eventOutcomes)(&outcomes[i].Results), &outcomes[i].Err}
	}
	if err := c.batch(ctx, c.writeURL(c.eventURL(name)), "events", items); err != nil {
		return nil, fmt.Errorf("event %q: %w", name, err)
	}
	return outcomes, nil
}

// EventDefinition reads the definition of an event as JSON: "event", its name, and "updates". It retries
// like Update. Its error wraps an *Error if the server refused, for example with unknown_event.
func (c *Client) EventDefinition(ctx context.Context, name string) (jsontext.Value, error) {
	return get[jsontext.Value](ctx, c, c.eventURL(name), nil, "read event %q", name)
}

func (c *Client) eventURL(name string) string { return c.base + "/v1/events/" + url.PathEscape(name) }

// body encodes an event: its fields and its id.
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

// eventOutcomes is the answer to one event: a result or an error for each of its updates.
type eventOutcomes []Outcome

// UnmarshalJSON decodes the answer.
func (o *eventOutcomes) UnmarshalJSON(b []byte) error {
	var body struct {
		Results []struct {
			Result
			Error *Error `json:"error"`
		} `json:"results"`
	}
	if err := json.Unmarshal(b, &body); err != nil {
		return err
	}
	*o = make([]Outcome, len(body.Results))
	for i, one := range body.Results {
		if (*o)[i].Result = one.Result; one.Error != nil {
			(*o)[i].Err = one.Error.outcome()
		}
	}
	return nil
}
