package request

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// Object is a JSON object with undecoded fields. Its methods decode one field each; their errors name
// the field.
type Object map[string]jsontext.Value

// ParseObject decodes an object. It refuses invalid JSON, text after the object, a repeated name and
// invalid UTF-8. A text that is not well formed, such as "\ud83d", half of an emoji, is told by the path of its field;
// beside that error ParseObject returns the object all the same, for its other fields.
//
// The values are parts of b: nobody may change b while the object is in use.
func ParseObject(field string, b []byte) (Object, error) {
	if o := scanObject(b); o != nil {
		return o, nil
	}
	var o Object
	err := json.Unmarshal(b, &o)
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		if json.Unmarshal(b, &o, jsontext.AllowInvalidUTF8(true)) != nil {
			o = nil
		}
		return o, definition.Rooted(field, definition.SyntaxFault("", b, syntax))
	case err != nil || o == nil:
		return nil, ranking.Invalid(field, "is not a JSON object")
	}
	return o, nil
}

// ParseItem is ParseObject for the item i of a batch.
func ParseItem(list string, i int, b []byte) (Object, error) {
	if o := scanObject(b); o != nil {
		return o, nil
	}
	return ParseObject(definition.ItemPath(list, i), b)
}

// Only refuses fields other than those named. The error names all of these.
func (o Object) Only(names ...string) error { return o.OnlyOr("", names...) }

// OnlyOr is Only for an object that may also have another form. The error names that form after the fields.
func (o Object) OnlyOr(form string, names ...string) error {
	for name := range o {
		if !slices.Contains(names, name) {
			return ranking.Invalid(definition.FieldPath("", name), "is not a field of this object; want "+strings.Join(names, ", ")+form)
		}
	}
	return nil
}

// kinds are the names of the kinds of JSON values in errors.
var kinds = map[jsontext.Kind]string{
	'n': "null", 'f': "a boolean", 't': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "a list",
}

// Text decodes a string; "" without the field.
func (o Object) Text(name string) (string, error) {
	v, ok := o[name]
	if !ok {
		return "", nil
	}
	if v.Kind() == '"' && bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1]), nil
	}
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		return "", ranking.Invalid(name, "is "+kinds[v.Kind()]+"; want a string")
	}
	return s, nil
}

// RequiredText decodes a string; an error without the field.
func (o Object) RequiredText(name string) (string, error) {
	if _, there := o[name]; !there {
		return "", ranking.Invalid(name, "is missing")
	}
	return o.Text(name)
}

// OptionalText decodes a string; "" without the field, and an error for an empty string.
func (o Object) OptionalText(name string) (string, error) {
	s, err := o.Text(name)
	if _, there := o[name]; there && err == nil && s == "" {
		err = ranking.Invalid(name, "is empty")
	}
	return s, err
}

// Object decodes an object; an error without the field.
func (o Object) Object(name string) (Object, error) {
	v, there := o[name]
	if !there {
		return nil, ranking.Invalid(name, "is missing")
	}
	return ParseObject(name, v)
}

// Score decodes a score; an error without the field.
func (o Object) Score(name string) (int64, error) {
	digits, err := o.digits(name)
	if err != nil {
		return 0, err
	}
	return definition.ParseScore(name, digits)
}

// Integer decodes an integer from low to high; an error without the field.
func (o Object) Integer(name string, low, high int64) (int64, error) {
	digits, err := o.digits(name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < low || n > high {
		return 0, ranking.Invalid(name, fmt.Sprintf("is %s; want an integer from %d to %d", definition.Clip(digits), low, high))
	}
	return n, nil
}

// OptionalInteger decodes an integer from low to high; otherwise without the field.
func (o Object) OptionalInteger(name string, otherwise, low, high int64) (int64, error) {
	if _, there := o[name]; !there {
		return otherwise, nil
	}
	return o.Integer(name, low, high)
}

// OptionalBoolean decodes a boolean; false without the field.
func (o Object) OptionalBoolean(name string) (bool, error) {
	v, there := o[name]
	switch {
	case !there:
		return false, nil
	case v.Kind() != 't' && v.Kind() != 'f':
		return false, ranking.Invalid(name, "is "+kinds[v.Kind()]+"; want true or false")
	}
	return v.Kind() == 't', nil
}

// digits are the text of a number; an error without the field.
func (o Object) digits(name string) (string, error) {
	v, ok := o[name]
	switch {
	case !ok:
		return "", ranking.Invalid(name, "is missing")
	case v.Kind() == '"':
		return "", ranking.Invalid(name, "is a string; want an integer, without quotes")
	case v.Kind() != '0':
		return "", ranking.Invalid(name, "is "+kinds[v.Kind()]+"; want an integer")
	}
	return string(v), nil
}

// ReadList decodes the items of a batch, 1 to most. They are parts of list, which is a value of an Object.
func ReadList(field string, list jsontext.Value, most int) (items []jsontext.Value, err error) {
	if list.Kind() != '[' {
		return nil, ranking.Invalid(field, "is "+kinds[list.Kind()]+"; want a list")
	}
	if items, err = scanList(list); err != nil {
		return nil, fmt.Errorf("split the list %s: %w", field, err)
	}
	switch n := len(items); {
	case n == 0:
		return nil, ranking.Invalid(field, "is empty")
	case n > most:
		return nil, &ranking.FieldError{Field: field, Reason: fmt.Sprintf("has %d items; want %d at most", n, most), Kind: ranking.ErrTooLarge}
	}
	return items, nil
}
