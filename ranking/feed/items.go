package feed

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var errNotItems = errors.New("not a feed message")

// parseItems splits a feed message, which is a JSON array, into its items, which are objects.
func parseItems(payload string) ([][]byte, error) {
	d := jsontext.NewDecoder(strings.NewReader(payload))
	if start, err := d.ReadToken(); err != nil || start.Kind() != '[' {
		return nil, fmt.Errorf("%w: not an array", errNotItems)
	}
	var items [][]byte
	for d.PeekKind() == '{' {
		item, err := d.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("%w: item %d: %w", errNotItems, len(items), err)
		}
		items = append(items, item.Clone()) // the decoder reuses its memory at the next read
	}
	if end, err := d.ReadToken(); err != nil || end.Kind() != ']' {
		return nil, fmt.Errorf("%w: item %d is not an object", errNotItems, len(items))
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: more text after the array", errNotItems)
	}
	return items, nil
}
