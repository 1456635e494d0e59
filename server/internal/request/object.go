package request

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
)

// Object is a JSON object with undecoded fields. Fields decodes them.
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
		return nil, definition.Invalid(field, "is not a JSON object")
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
			return definition.Invalid(definition.FieldPath("", name), "is not a field of this object; want "+strings.Join(names, ", ")+form)
		}
	}
	return nil
}

// Fields reads the fields of an object, as a Query reads parameters. The first invalid one sets Err, which names it.
type Fields struct {
	Err    error
	object Object
}

// FieldsOf reads an object of any fields.
func FieldsOf(o Object) *Fields { return &Fields{object: o} }

// Fields reads an object that has fields of these names only.
func (o Object) Fields(names ...string) *Fields { return &Fields{o.Only(names...), o} }

// FieldsOr is Fields for an object that may also have another form, as OnlyOr has it.
func (o Object) FieldsOr(form string, names ...string) *Fields {
	return &Fields{o.OnlyOr(form, names...), o}
}

// Value is a field as it stands; nil without it.
func (f *Fields) Value(name string) jsontext.Value { return f.object[name] }

// Has reports whether the object has a field.
func (f *Fields) Has(name string) bool {
	_, there := f.object[name]
	return there
}

// Check sets Err, unless err is nil or an error came before.
func (f *Fields) Check(err error) { f.Err = cmp.Or(f.Err, err) }

// refuse is Check for a field that is not valid.
func (f *Fields) refuse(name, reason string) { f.Check(definition.Invalid(name, reason)) }

// require reports whether the object has a field. If it has none, require sets Err.
func (f *Fields) require(name string) bool {
	there := f.Has(name)
	if !there {
		f.refuse(name, "is missing")
	}
	return there
}

// kinds are the names of the kinds of JSON values in errors.
var kinds = map[jsontext.Kind]string{
	'n': "null", 'f': "a boolean", 't': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "a list",
}

// Text decodes a string; "" without the field.
func (f *Fields) Text(name string) string {
	v, there := f.object[name]
	if !there {
		return ""
	}
	if v.Kind() == '"' && bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		f.refuse(name, "is "+kinds[v.Kind()]+"; want a string")
	}
	return s
}

// RequiredText decodes a string; an error without the field.
func (f *Fields) RequiredText(name string) string {
	f.require(name)
	return f.Text(name)
}

// OptionalText decodes a string; "" without the field, and an error for an empty string.
func (f *Fields) OptionalText(name string) string {
	s := f.Text(name)
	if s == "" && f.Err == nil && f.Has(name) {
		f.refuse(name, "is empty")
	}
	return s
}

// Object decodes an object within the object; an error without the field.
func (f *Fields) Object(name string) Object {
	if !f.require(name) {
		return nil
	}
	o, err := ParseObject(name, f.object[name])
	f.Check(err)
	return o
}

// Score decodes a score; an error without the field.
func (f *Fields) Score(name string) (score int64) {
	digits, err := f.digits(name)
	if err == nil {
		score, err = definition.ParseScore(name, digits)
	}
	f.Check(err)
	return score
}

// Columns decodes the values of columns, by their names; nil without the field.
func (f *Fields) Columns(name string) map[string]int64 {
	if !f.Has(name) {
		return nil
	}
	if k := f.object[name].Kind(); k != '{' {
		f.refuse(name, "is "+kinds[k]+"; want an object with the value of each column")
		return nil
	}
	o, err := ParseObject(name, f.object[name])
	f.Check(err)
	values := make(map[string]int64, len(o))
	for _, column := range slices.Sorted(maps.Keys(o)) {
		path := definition.FieldPath(name, column)
		digits, err := digitsOf(path, o[column])
		if err == nil {
			values[column], err = definition.ParseScore(path, digits)
		}
		f.Check(err)
	}
	return values
}

// Integer decodes an integer from low to high; an error without the field.
func (f *Fields) Integer(name string, low, high int64) int64 {
	digits, err := f.digits(name)
	f.Check(err)
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < low || n > high {
		f.refuse(name, fmt.Sprintf("is %s; want an integer from %d to %d", definition.Clip(digits), low, high))
	}
	return n
}

// OptionalInteger decodes an integer from low to high; otherwise without the field.
func (f *Fields) OptionalInteger(name string, otherwise, low, high int64) int64 {
	if !f.Has(name) {
		return otherwise
	}
	return f.Integer(name, low, high)
}

// OptionalBoolean decodes a boolean; false without the field.
func (f *Fields) OptionalBoolean(name string) bool {
	v, there := f.object[name]
	if there && v.Kind() != 't' && v.Kind() != 'f' {
		f.refuse(name, "is "+kinds[v.Kind()]+"; want true or false")
	}
	return there && v.Kind() == 't'
}

// digits are the text of a number; an error without the field.
func (f *Fields) digits(name string) (string, error) {
	v, there := f.object[name]
	if !there {
		return "", definition.Invalid(name, "is missing")
	}
	return digitsOf(name, v)
}

// digitsOf are the text of a number.
func digitsOf(name string, v jsontext.Value) (string, error) {
	switch {
	case v.Kind() == '"':
		return "", definition.Invalid(name, "is a string; want an integer, without quotes")
	case v.Kind() != '0':
		return "", definition.Invalid(name, "is "+kinds[v.Kind()]+"; want an integer")
	}
	return string(v), nil
}

// ReadList decodes the items of a batch, 1 to most. They are parts of list, which is a value of an Object.
func ReadList(field string, list jsontext.Value, most int) (items []jsontext.Value, err error) {
	if list.Kind() != '[' {
		return nil, definition.Invalid(field, "is "+kinds[list.Kind()]+"; want a list")
	}
	if items, err = scanList(list); err != nil {
		return nil, fmt.Errorf("split the list %s: %w", field, err)
	}
	switch n := len(items); {
	case n == 0:
		return nil, definition.Invalid(field, "is empty")
	case n > most:
		return nil, &definition.FieldError{Field: field, Reason: fmt.Sprintf("has %d items; want %d at most", n, most),
			Kind: definition.ErrTooLarge}
	}
	return items, nil
}
