package definition

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// template is a text that contains fields: "car {number}".
type template []piece

// piece is either text, or a field that its value replaces.
type piece struct{ text, field string }

// reservedFields are the fields of a request that are not fields of an event: its id, and the
// list that makes it a batch.
var reservedFields = []string{"id", "events"}

// parseTemplate finds the fields of an event in a text. Braces have no other use, so a single one is
// an error.
func parseTemplate(s string) (template, error) {
	p, err := parsePlaceholders(s)
	for field := range p.fields() {
		if slices.Contains(reservedFields, field) {
			return nil, fmt.Errorf("has the field {%s}, a name that is reserved for requests; choose another name", field)
		}
	}
	return p, err
}

// parsePlaceholders is parseTemplate for a text about a family, in which any placeholder may stand.
func parsePlaceholders(s string) (template, error) {
	var p template
	for s != "" {
		open := strings.IndexAny(s, "{}")
		if open < 0 {
			return append(p, piece{text: s}), nil
		}
		if open > 0 {
			p = append(p, piece{text: s[:open]})
		}
		name, rest, closed := strings.Cut(s[open+1:], "}")
		switch {
		case s[open] == '}' || !closed:
			return nil, errors.New("has an unmatched brace; use braces only around a field, such as {star}")
		case !placeholder.MatchString(name):
			return nil, fmt.Errorf("has the field {%s}; in the braces %s", Clip(name), wantPlaceholder)
		}
		p = append(p, piece{field: name})
		s = rest
	}
	return p, nil
}

// fields yields the name of each field, as often as the field occurs.
func (p template) fields() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, piece := range p {
			if piece.field != "" && !yield(piece.field) {
				return
			}
		}
	}
}

// shortest is an expanded text of the least length: no field is empty.
func (p template) shortest() string { return p.expand(func(string) string { return "x" }) }

// expand replaces the fields by their values.
func (p template) expand(value func(field string) string) string {
	if len(p) == 1 && p[0].field != "" {
		return value(p[0].field)
	}
	var b strings.Builder
	for _, piece := range p {
		if piece.field != "" {
			b.WriteString(value(piece.field))
		} else {
			b.WriteString(piece.text)
		}
	}
	return b.String()
}

// dataIn returns the data of an update as JSON in which fields stand. A string that is a single field becomes that field.
func dataIn(v Value) (template, error) {
	if v.Kind != '{' {
		return nil, v.Want("an object, such as {user: \"{user}\"}")
	}
	return v.appendTo(nil)
}

// appendTo appends v to p as compact JSON. It refuses numbers of YAML that JSON does not have.
func (v Value) appendTo(p template) (template, error) {
	var err error
	switch v.Kind {
	case '{':
		before := "{"
		for _, f := range v.Fields {
			if strings.ContainsAny(f.Name, "{}") {
				return nil, f.Refuse("has a brace in its name; use a field only as a value")
			}
			if p, err = f.appendQuoted(p.then(before), f.Name); err != nil {
				return nil, err
			}
			if p, err = f.appendTo(p.then(":")); err != nil {
				return nil, err
			}
			before = ","
		}
		return p.then(strings.TrimPrefix(before, ",")).then("}"), nil
	case '[':
		before := "["
		for _, item := range v.Items {
			if p, err = item.appendTo(p.then(before)); err != nil {
				return nil, err
			}
			before = ","
		}
		return p.then(strings.TrimPrefix(before, ",")).then("]"), nil
	case '"':
		text, err := parseTemplate(v.Text)
		if err != nil {
			return nil, v.Refuse("%v", err)
		}
		if len(text) == 1 && text[0].field != "" {
			return append(p, text[0]), nil
		}
		if strings.Contains(v.Text, "{") {
			return nil, v.Refuse("has a field among other text; a string in data is either a single field or has no field")
		}
		return v.appendQuoted(p, v.Text)
	case '0':
		if !jsontext.Value(v.Text).IsValid() {
			return nil, v.Refuse("is %s; want a number in the form of JSON, such as 1.5", Clip(v.Text))
		}
		return p.then(v.Text), nil
	case 'n':
		return nil, v.Refuse("is null; omit it")
	}
	return p.then(strconv.FormatBool(v.Kind == 't')), nil
}

// appendQuoted appends s to p as a JSON string; an error has the path of v.
func (v Value) appendQuoted(p template, s string) (template, error) {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return nil, v.Refuse("is not valid UTF-8")
	}
	return p.then(string(b)), nil
}

// source is the JSON of dataIn with its fields as strings: {"user":"{user}"}.
func (p template) source() jsontext.Value {
	return jsontext.Value(p.expand(func(field string) string { return `"{` + field + `}"` }))
}

// then appends text to p.
func (p template) then(text string) template {
	if n := len(p); n > 0 && p[n-1].field == "" {
		p[n-1].text += text
		return p
	}
	return append(p, piece{text: text})
}
