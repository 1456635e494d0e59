package definition

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Value is one value of a file or a body, in YAML or JSON, and its path there.
type Value struct {
	Path   string
	Kind   jsontext.Kind // n, t, f, ", 0, [ or {
	Text   string        // the content of a string, or the digits of a number as written
	Items  []Value       // of a list
	Fields []FieldValue  // of an object, in order; no two have the same name
}

// FieldValue is one field of an object.
type FieldValue struct {
	Name string
	Value
}

// kinds are the kinds of values, as errors name them.
var kinds = map[jsontext.Kind]string{
	'n': "null", 'f': "a boolean", 't': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "a list",
}

// Refuse returns a FieldError at the path of v. The root has no path, see rooted.
func (v Value) Refuse(format string, args ...any) error {
	return Invalid(v.Path, fmt.Sprintf(format, args...))
}

// Want returns a FieldError that says what v should be. A field without quotes, such as {star}, is an object in YAML.
func (v Value) Want(what string) error {
	if v.Kind == '{' && what == "a string" && len(v.Fields) == 1 && v.Fields[0].Kind == 'n' {
		what = fmt.Sprintf("a string: put quotes around \"{%s}\"", Clip(v.Fields[0].Name))
	}
	return v.Refuse("is %s; want %s", kinds[v.Kind], what)
}

var (
	plainKey    = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	integerText = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
)

// FieldPath returns the path of a field within the object at path. It is boards.laps, or
// boards["fans:{star}"] when the name has characters other than a-z, A-Z, 0-9, _ and -.
func FieldPath(path, name string) string {
	switch {
	case !plainKey.MatchString(name):
		return path + "[" + strconv.Quote(Clip(name)) + "]"
	case path == "":
		return Clip(name)
	default:
		return path + "." + Clip(name)
	}
}

// ItemPath returns the path of item i, counted from 0, within the list at path: updates[1].
func ItemPath(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// Rooted gives an error at the root, which has no path, the name file or body.
func Rooted(root string, err error) error {
	if fe, ok := errors.AsType[*FieldError](err); ok && fe.Field == "" {
		return &FieldError{Field: root, Reason: fe.Reason, Kind: fe.Kind}
	}
	return err
}

// ReadText reads a string that is not empty.
func ReadText[S ~string](v Value, s *S) error {
	if v.Kind != '"' {
		return v.Want("a string")
	}
	if v.Text == "" {
		return v.Refuse("is empty; omit it for the default")
	}
	*s = S(v.Text)
	return nil
}

// FieldReader reads a field of an object into a T. The tables of readers never change, so that decoding allocates none.
type FieldReader[T any] struct {
	Name   string
	Read   func(*T, Value) error
	isName bool // the field holds the name of the definition, so errors do not list it
}

// ReadFields reads the fields of an object into a T, in their order, until one is wrong. want says in an error what the
// value should be when it is not an object, and what names the object.
func ReadFields[T any](v Value, to *T, want, what string, readers []FieldReader[T]) error {
	if v.Kind != '{' {
		return v.Want(want)
	}
	for _, f := range v.Fields {
		i := slices.IndexFunc(readers, func(r FieldReader[T]) bool { return r.Name == f.Name })
		if i < 0 {
			return f.unknown(what, strings.Join(namesOf(readers), ", "))
		}
		if err := readers[i].Read(to, f.Value); err != nil {
			return err
		}
	}
	return nil
}

// unknown refuses a field that the object does not have. what names the object, and fields are those that the object has.
func (f FieldValue) unknown(what, fields string) error {
	if strings.ContainsAny(f.Name, " :=") { // {mode best}, {mode:best} and {mode = best} are names of YAML
		fields += `; between a field and its value want ": "`
	}
	return f.Refuse("is not a field of %s; want %s", what, fields)
}

// namesOf lists the fields that an error offers.
func namesOf[T any](readers []FieldReader[T]) (names []string) {
	for _, r := range readers {
		if !r.isName {
			names = append(names, r.Name)
		}
	}
	return names
}

// readOptional reads a value that a definition may leave out.
func readOptional[T any](v Value, optional **T, read func(Value, *T) error) error {
	*optional = new(T)
	return read(v, *optional)
}

// readInteger reads a whole number that is at least least. A caller passes 1 for a field whose
// zero value means that it was not given.
func readInteger[N int | int64](v Value, n *N, least int64) error {
	if v.Kind != '0' {
		return v.Want("an integer")
	}
	if !integerText.MatchString(v.Text) {
		return v.Refuse("is %s; %s", Clip(v.Text), wantInteger)
	}
	i, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil { // the caller checks the field's own range
		return v.Refuse("is %s; want an integer within ±%d", Clip(v.Text), int64(MaxScore))
	}
	if i < least {
		return v.Refuse("is %d; want at least %d", i, least)
	}
	*n = N(i)
	return nil
}

func readDuration(v Value, d *time.Duration) error {
	return ReadParsed(v, d, "a duration as a string, such as 7d", wantDuration, ParseDuration)
}

func readTime(v Value, t *time.Time) error {
	return ReadParsed(v, t, "a time as a string, such as 2026-01-01T00:00:00Z", wantTime, ParseTime)
}

// ReadParsed reads a string by parse. In an error, want says what a value that is no string should be, and form what
// the text of a string should be.
func ReadParsed[T any](v Value, to *T, want, form string, parse func(string) (T, bool)) error {
	if v.Kind != '"' {
		return v.Want(want)
	}
	var ok bool
	if *to, ok = parse(v.Text); !ok {
		return v.Refuse("is %q; %s", Clip(v.Text), form)
	}
	return nil
}
