package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// item is one item of a batch, with its result.
type item struct {
	index int // in the caller's batch
	body  jsontext.Value
	into  any    // its result is decoded into this
	err   *error // set to why it has no result
}

// batch sends items as a list of that name, and sends items again that the server could not take. It
// returns an error if no item has a known outcome; else each item holds its own error.
func (c *Client) batch(ctx context.Context, url, name string, items []item) error {
	if n := len(items); n == 0 || n > MaxUpdates {
		return fmt.Errorf("a batch of %d items; want 1 to %d", n, MaxUpdates)
	}
	pending := items
	err := c.retry(ctx, http.MethodPost, func(ctx context.Context) error {
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
		var again []item
		var why error
		for i, it := range pending {
			refused, err := readItem(answer.Results[i], it.into)
			switch {
			case err != nil:
				return err
			case refused == nil:
				*it.err = nil
				continue
			}
			refused.Field = renumber(refused.Field, name, i, it.index)
			refused.Message = renumber(refused.Message, name, i, it.index)
			*it.err = refused.outcome()
			if isTemporary(refused) {
				again, why = append(again, it), refused
			}
		}
		pending = again
		return why
	})
	if len(pending) == len(items) {
		return err
	}
	// Some items have results, which the caller gets. The others get the error that ended the
	// retries.
	for _, it := range pending {
		*it.err = err
	}
	return nil
}

// renumber replaces the index of an item as sent by its index in the caller's batch. The two differ
// after a retry, which sends some of the items only.
func renumber(text, name string, from, to int) string {
	if rest, ok := strings.CutPrefix(text, fmt.Sprintf("%s[%d]", name, from)); ok {
		return fmt.Sprintf("%s[%d]%s", name, to, rest)
	}
	return text
}

// readItem decodes one item of a batch's answer: a refusal, or the result, into result.
func readItem(raw jsontext.Value, result any) (refused *Error, err error) {
	var body struct {
		Error *Error `json:"error"`
	}
	if err := decode(raw, &body); err != nil || body.Error != nil {
		return body.Error, err
	}
	return nil, decode(raw, result)
}
