package bench

import (
	"context"
	"net/url"

	"github.com/go-json-experiment/json"

	"rankcast/cmd/rankcast/internal/example"
	"rankcast/ranking/definition"
)

// board is the name on the target of a board of the command.
func (t *target) board(name string) string { return t.prefix + "-" + name }

// define defines a board of the command.
func (t *target) define(ctx context.Context, name, body string) error {
	name = t.board(name)
	if _, err := t.client.DefineBoard(ctx, name, []byte(body)); err != nil {
		return t.remote.Explain(err)
	}
	t.defined = append(t.defined, "/v1/boards/"+url.PathEscape(name))
	return nil
}

// defineGift defines the event gift of the examples' boards file, and its boards, under names of the command.
func (t *target) defineGift(ctx context.Context) (event string, err error) {
	file, err := definition.ParseFile(example.Boards)
	if err != nil {
		return "", err
	}
	gift := file.Events[0]
	gift.Show = nil // it names boards of the file
	counts := make(map[string]bool)
	for i, u := range gift.Updates {
		counts[u.Board] = true
		gift.Updates[i].Board = t.board(u.Board)
	}
	for _, b := range file.Boards {
		if !counts[b.Name] {
			continue
		}
		name := b.Name
		b.Name = t.board(name)
		body, err := json.Marshal(b)
		if err != nil {
			return "", err
		}
		if err := t.define(ctx, name, string(body)); err != nil {
			return "", err
		}
	}
	event = t.board(gift.Name)
	gift.Name = event
	body, err := json.Marshal(gift)
	if err != nil {
		return "", err
	}
	if _, err := t.client.DefineEvent(ctx, event, body); err != nil {
		return "", t.remote.Explain(err)
	}
	t.defined = append(t.defined, "/v1/events/"+event)
	return event, nil
}
