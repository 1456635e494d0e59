package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// item is one of a batch: what is sent, and what came back.
type item struct {
	place int // in the caller's batch
	body  jsontext.Value
	into  any   // where its result goes
	err   error // why it has none: an *Error if it was refused; or nil
}

// batch sends items as the list of that name, and what the server could not take
// of them again. It returns an error when of none the outcome is known; else what
// is wrong with each is in it.
func (c *Client) batch(ctx context.Context, url, name string, items []item) error {
	if n := len(items); n == 0 || n > MaxUpdates {
		return fmt.Errorf("a batch of %d; want 1 to %d", n, MaxUpdates)
	}
	pending := make([]*item, len(items))
	for i := range items {
		pending[i] = &items[i]
	}
	some := false
	err := c.retry(ctx, func(ctx context.Context) error {
		list := make([]jsontext.Value, len(pending))
		for i, it := range pending {
			list[i] = it.body
		}
		body, err := json.Marshal(map[string][]jsontext.Value{name: list})
		if err != nil {
			return err
		}
		var answer struct {
			Results []jsontext.Value `json:"results"`
		}
		if err := c.do(ctx, http.MethodPost, url, body, &answer); err != nil {
			return err
		}
		if len(answer.Results) != len(pending) {
			return fmt.Errorf("%w: %d results for %d %s", errAnswer, len(answer.Results), len(pending), name)
		}
		var again []*item
		var why *Error
		for i, it := range pending {
			refused, err := readItem(answer.Results[i], it.into)
			if err != nil {
				return err
			}
			if refused != nil {
				refused.Field = renumber(refused.Field, name, i, it.place)
				refused.Message = renumber(refused.Message, name, i, it.place)
			}
			switch {
			case refused == nil:
				it.err = nil
			case temporary(refused):
				it.err, why = refused, refused
				again = append(again, it)
			default:
				it.err = refused
			}
		}
		some = some || len(again) < len(pending)
		pending = again
		if len(again) > 0 {
			return why
		}
		return nil
	})
	if err == nil || !some {
		return outcome(err)
	}
	// Some have their results, and the caller is to get those. What ended the
	// tries of the others is theirs.
	for _, it := range pending {
		it.err = err
	}
	return nil
}

// renumber makes text about the item at one place of what was sent speak of its
// place in the caller's batch: only some items are sent again.
func renumber(text, name string, from, to int) string {
	if rest, ok := strings.CutPrefix(text, fmt.Sprintf("%s[%d]", name, from)); ok {
		return fmt.Sprintf("%s[%d]%s", name, to, rest)
	}
	return text
}

// readItem reads one item of a batch's answer: a refusal, or the result, which
// goes into result.
func readItem(raw jsontext.Value, result any) (refused *Error, err error) {
	var body struct {
		Error *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Field   string `json:"field"`
		} `json:"error"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, fmt.Errorf("%w: %w", errAnswer, err)
	}
	if e := body.Error; e != nil {
		return &Error{Code: e.Code, Message: e.Message, Field: e.Field}, nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return nil, fmt.Errorf("%w: %w", errAnswer, err)
	}
	return nil, nil
}
