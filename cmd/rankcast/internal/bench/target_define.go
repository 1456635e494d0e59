package bench

import (
	"context"
	"net/url"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/cmd/rankcast/internal/example"
	"rankcast/ranking/definition"
)

// board is the name on the target of a board of the command.
func (t *target) board(name string) string { return t.prefix + "-" + name }

// define defines a board or an event, whose route begins with a path, by the method of the client for it.
func (t *target) define(ctx context.Context, path, name string, definition any,
	put func(context.Context, string, jsontext.Value) (jsontext.Value, error)) error {
	body, err := json.Marshal(definition)
	if err != nil {
		return err
	}
	if _, err := put(ctx, name, body); err != nil {
		return t.remote.Explain(err)
	}
	t.defined = append(t.defined, path+url.PathEscape(name))
	return nil
}

const (
	boardsPath = "/v1/boards/"
	eventsPath = "/v1/events/"
)

// defineGift defines the event gift of the examples' boards file, and its boards, under names of the command.
func (t *target) defineGift(ctx context.Context) (event string, err error) {
	file, err := definition.ParseFile(example.Boards)
	if err != nil {
		return "", err
	}
	gift := file.Events[0]
	gift.Show = nil // it names boards of the file
	// The figures are of the five boards of stars and users, without the total.
	gift.Updates = slices.DeleteFunc(gift.Updates, func(u definition.Target) bool { return u.Board == "total" })
	counts := make(map[string]bool)
	for i, u := range gift.Updates {
		counts[u.Board] = true
		gift.Updates[i].Board = t.board(u.Board)
	}
	for _, b := range file.Boards {
		if !counts[b.Name] {
			continue
		}
		b.Name = t.board(b.Name)
		if err := t.define(ctx, boardsPath, b.Name, b, t.client.DefineBoard); err != nil {
			return "", err
		}
	}
	gift.Name = t.board(gift.Name)
	return gift.Name, t.define(ctx, eventsPath, gift.Name, gift, t.client.DefineEvent)
}
