package feed

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var errNotItems = errors.New("not a feed message")

// parseItems splits a feed message, which is a JSON array, into its items, which are objects.
func parseItems(payload string) ([][]byte, error) {
	var values []jsontext.Value
	if err := json.Unmarshal([]byte(payload), &values); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotItems, err)
	}
	if values == nil {
		return nil, fmt.Errorf("%w: null in place of an array", errNotItems)
	}
	items := make([][]byte, len(values))
	for i, v := range values {
		if v.Kind() != '{' {
			return nil, fmt.Errorf("%w: item %d is not an object", errNotItems, i)
		}
		items[i] = v
	}
	return items, nil
}
