package server

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/request"
)

// batch carries out a list of items and answers each: a refused item does not hold up the others.
// of is the caller, whose rate pays for each item. read decodes an item; key is the id that the request's
// Idempotency-Key gives the item. do carries out all valid items and returns the answer, or the refusal, of each.
func batch[T any](field string, list jsontext.Value, most int, key string, of batchCaller,
	read func(o request.Object, key string) (T, error), do func([]T) (answer func(int) (any, error), err error)) (resultsJSON, error) {
	items, err := request.ReadList(field, list, most)
	if err != nil {
		return resultsJSON{}, err
	}
	if err := checkItemKeys(key, len(items)); err != nil {
		return resultsJSON{}, err
	}
	if err := of.take(len(items) - 1); err != nil {
		return resultsJSON{}, err
	}
	results := make([]any, len(items))
	valid, index := make([]T, 0, len(items)), make([]int, 0, len(items))
	for i, item := range items {
		fields, err := request.ParseItem(field, i, item)
		var one T
		if err == nil {
			if one, err = read(fields, itemKey(key, i)); err != nil {
				err = problem.At(definition.ItemPath(field, i), err)
			}
		}
		if err != nil {
			results[i] = newRefusal(of.caller, err)
			continue
		}
		valid, index = append(valid, one), append(index, i)
	}
	answer, err := do(valid)
	if err != nil {
		return resultsJSON{}, err
	}
	for j, i := range index {
		if results[i], err = answer(j); err != nil {
			results[i] = newRefusal(of.caller, problem.InItem(definition.ItemPath(field, i), err))
		}
	}
	return resultsJSON{results}, nil
}

// checkItemKeys refuses an Idempotency-Key that gives any of n items an id that is too long. Then the
// server takes or refuses the batch as a whole: a retry with another key would count twice what
// the first key has let through.
func checkItemKeys(key string, n int) error {
	last := len(itemKey(key, n-1)) - len(key)
	if most := definition.MaxIDBytes - last; key != "" && len(key) > most {
		return definition.Invalid(request.IdempotencyKey,
			fmt.Sprintf("has %d bytes; want 1 to %d for a batch of %d, which adds an item's number to the key", len(key), most, n))
	}
	return nil
}

// itemKey is the id that an Idempotency-Key gives the item i of a batch; "" without a key.
func itemKey(key string, i int) string {
	if key == "" {
		return ""
	}
	return key + "#" + strconv.Itoa(i)
}

// errConflictingIDs refuses an item whose id differs from the one of its request's header.
var errConflictingIDs = definition.Invalid("id", "differs from the id that Idempotency-Key gives")

// batchCaller is the caller of a batch, of whose rate authorize has taken one token.
type batchCaller struct {
	caller *access.Caller
	take   func(n int) error // takes n tokens more
}

func (s *Server) batchOf(c *echo.Context) batchCaller {
	return batchCaller{gate.Caller(c), func(n int) error { return s.gate.TakeRate(c, n) }}
}
