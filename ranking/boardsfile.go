package ranking

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"
)

// ParseBoards reads a boards file:
//
//	boards:
//	  stars: {}                            # sum, desc, first: the defaults
//	  laps:  {mode: best, order: asc}
//
// What is wrong is a FieldError that names the field by its path, such as
// boards.laps.mode.
func ParseBoards(file []byte) ([]Definition, error) {
	var doc map[string]any
	if len(bytes.TrimSpace(file)) == 0 {
		return nil, Invalid("file", "is empty")
	}
	if err := yaml.Load(file, &doc); err != nil {
		return nil, Invalid("file", fmt.Sprintf("is not YAML with a map at its top: %v", err))
	}
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		if name != "boards" {
			return nil, Invalid(name, "is not a field here; want boards")
		}
	}
	boards, ok := doc["boards"].(map[string]any)
	if !ok || len(boards) == 0 {
		return nil, Invalid("boards", "want a map of names to fields, such as {stars: {}}")
	}
	var definitions []Definition
	for _, name := range slices.Sorted(maps.Keys(boards)) {
		d, err := parseDefinition(name, boards[name])
		if err != nil {
			return nil, err
		}
		definitions = append(definitions, d)
	}
	return definitions, nil
}

func parseDefinition(name string, value any) (Definition, error) {
	path := "boards." + name
	d := Definition{Board: name}
	fields, ok := value.(map[string]any)
	if !ok && value != nil {
		return d, Invalid(path, "has no fields; want {} for the defaults")
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		text, ok := fields[field].(string)
		if !ok || text == "" {
			return d, Invalid(path+"."+field, "want a word")
		}
		switch field {
		case "mode":
			d.Mode = Mode(text)
		case "order":
			d.Order = Order(text)
		case "ties":
			d.Ties = Ties(text)
		default:
			return d, Invalid(path+"."+field, "is not a field of a board; want mode, order or ties")
		}
	}
	d, err := d.Normalize()
	if fe, ok := err.(*FieldError); ok {
		if fe.Field == "board" {
			return d, Invalid(path, "is no name for a board: "+fe.Reason)
		}
		return d, Invalid(path+"."+fe.Field, fe.Reason)
	}
	return d, err
}
