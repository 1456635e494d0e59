package feed

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var errNotItems = errors.New("not a message of a feed")

// parseItems splits a message of a feed, a JSON array of objects, into these.
func parseItems(payload string) ([][]byte, error) {
	d := jsontext.NewDecoder(strings.NewReader(payload))
	if start, err := d.ReadToken(); err != nil || start.Kind() != '[' {
		return nil, fmt.Errorf("%w: no array", errNotItems)
	}
	var items [][]byte
	for d.PeekKind() == '{' {
		item, err := d.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("%w: item %d: %w", errNotItems, len(items), err)
		}
		items = append(items, item.Clone()) // the decoder's own until the next read
	}
	if end, err := d.ReadToken(); err != nil || end.Kind() != ']' {
		return nil, fmt.Errorf("%w: item %d is no object", errNotItems, len(items))
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: more behind the array", errNotItems)
	}
	return items, nil
}
