package definition

import (
	"bytes"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Change is a field in which two definitions differ.
type Change struct {
	Field string         `json:"field"` // as a boards file names it
	Was   jsontext.Value `json:"was"`   // JSON; nil where the first definition has no such field
	Now   jsontext.Value `json:"now"`   // likewise of the second one
}

// Changes lists the fields in which two normalized definitions differ, by name. Both are a Board, or both an Event.
func Changes(was, now any) []Change {
	changes := []Change{}
	old, current := fieldsOf(was), fieldsOf(now)
	all := maps.Clone(old)
	maps.Copy(all, current)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !bytes.Equal(old[name], current[name]) {
			changes = append(changes, Change{name, old[name], current[name]})
		}
	}
	return changes
}

// fieldsOf are the fields of a normalized definition, as JSON.
func fieldsOf(definition any) (fields map[string]jsontext.Value) {
	encoded, err := json.Marshal(definition, json.Deterministic(true))
	if err == nil {
		err = json.Unmarshal(encoded, &fields)
	}
	if err != nil {
		panic("a normalized definition is not JSON: " + err.Error())
	}
	return fields
}
