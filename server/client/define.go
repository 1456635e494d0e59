package client

import (
	"context"
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
	return call[jsontext.Value](ctx, c, http.MethodPut, c.boardURL(board), definition, "define board %q", board)
}

// DefineEvent defines an event, or replaces its definition. definition is a JSON object with updates, a
// list of 1 to 32, and optionally with sender, fields, ids and show. The boards of the updates must be defined before.
// DefineEvent retries and fails like DefineBoard.
func (c *Client) DefineEvent(ctx context.Context, event string, definition jsontext.Value) (jsontext.Value, error) {
	return call[jsontext.Value](ctx, c, http.MethodPut, c.eventURL(event), definition, "define event %q", event)
}

// BoardDefinition reads the definition of a board or a family as JSON, as DefineBoard returns it. It retries
// like Update. Its error wraps an *Error if the server refused, for example with unknown_board.
func (c *Client) BoardDefinition(ctx context.Context, board string) (jsontext.Value, error) {
	type defined struct {
		Definition jsontext.Value `json:"definition"`
	}
	answer, err := get[defined](ctx, c, c.boardURL(board), nil, "read board %q", board)
	return answer.Definition, err
}
