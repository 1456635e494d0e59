package client

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// DefineBoard defines a board such as "stars", or a family such as "fans:{star}", or replaces its
// definition. definition is a JSON object with the fields of a board; fields that it omits have their
// defaults, and {} has all defaults. Scores stay. DefineBoard returns the definition as the server keeps
// it, with its name and all defaults. It retries and fails like Update: the same definition twice is
// the same as once. Its error wraps an *Error if the server refused: Field names the wrong field, and the code
// conflict means that the board's data do not allow the change.
func (c *Client) DefineBoard(ctx context.Context, board string, definition jsontext.Value) (jsontext.Value, error) {
	return c.define(ctx, fmt.Sprintf("board %q", board), c.boardURL(board), definition)
}

// DefineEvent defines an event, or replaces its definition. definition is a JSON object with updates, a
// list of 1 to 32, and optionally with sender, fields, ids and show. The boards of the updates must be defined before.
// DefineEvent retries and fails like DefineBoard.
func (c *Client) DefineEvent(ctx context.Context, event string, definition jsontext.Value) (jsontext.Value, error) {
	return c.define(ctx, fmt.Sprintf("event %q", event), c.eventURL(event), definition)
}

func (c *Client) define(ctx context.Context, what, url string, definition jsontext.Value) (d jsontext.Value, err error) {
	if err = c.call(ctx, http.MethodPut, url, definition, &d); err != nil {
		return nil, fmt.Errorf("define %s: %w", what, err)
	}
	return d, nil
}

// BoardDefinition reads the definition of a board or a family as JSON, as DefineBoard returns it. It retries
// like Update. Its error wraps an *Error if the server refused, for example with unknown_board.
func (c *Client) BoardDefinition(ctx context.Context, board string) (jsontext.Value, error) {
	var answer struct {
		Definition jsontext.Value `json:"definition"`
	}
	if err := c.get(ctx, c.boardURL(board), nil, &answer); err != nil {
		return nil, fmt.Errorf("read board %q: %w", board, err)
	}
	return answer.Definition, nil
}
