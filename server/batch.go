package server

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/request"
)

// batch answers each item of a list by itself: one that is refused keeps no other back.
// read reads an item, of the id that its request gives it, and do carries out those
// that nothing is wrong with; it gives the answer to each, or why it was refused.
func batch[T any](field string, list jsontext.Value, most int, key string,
	read func(o request.Object, key string) (T, error), do func([]T) (answer func(int) (any, error), err error)) (resultsJSON, error) {
	items, err := request.ReadList(field, list, most)
	if err != nil {
		return resultsJSON{}, err
	}
	results := make([]any, len(items))
	right, place := make([]T, 0, len(items)), make([]int, 0, len(items))
	for i, item := range items {
		name := fmt.Sprintf("%s[%d]", field, i)
		fields, err := request.ParseObject(name, item)
		var one T
		if err == nil {
			if one, err = read(fields, itemKey(key, i)); err != nil {
				err = problem.At(name, err)
			}
		}
		if err != nil {
			results[i] = newRefusal(err)
			continue
		}
		right, place = append(right, one), append(place, i)
	}
	answer, err := do(right)
	if err != nil {
		return resultsJSON{}, err
	}
	for j, i := range place {
		if results[i], err = answer(j); err != nil {
			results[i] = newRefusal(problem.InItem(fmt.Sprintf("%s[%d]", field, i), err))
		}
	}
	return resultsJSON{results}, nil
}

type resultsJSON struct {
	Results []any `json:"results"`
}

// itemKey is the id that such a header gives an item of a batch.
func itemKey(key string, i int) string {
	if key == "" {
		return ""
	}
	return fmt.Sprintf("%s#%d", key, i)
}

// errConflictingIDs is what has an id of its own beside that of its request.
var errConflictingIDs = ranking.Invalid("id", "differs from the id that Idempotency-Key gives")
