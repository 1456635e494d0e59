package definition

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// value is one value of a file or a body, in YAML or JSON, and its path there.
type value struct {
	path   string
	kind   jsontext.Kind // n, t, f, ", 0, [ or {
	text   string        // the content of a string, or the digits of a number as written
	items  []value       // of a list
	fields []field       // of an object, in order; no two have the same name
	line   int           // in YAML, from 1; 0 in JSON
}

// field is one field of an object.
type field struct {
	name string
	value
}

// kinds are the kinds of values, as errors name them.
var kinds = map[jsontext.Kind]string{
	'n': "null", 'f': "a boolean", 't': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "a list",
}

// refuse returns a FieldError at the path of v. The root has no path, see rooted.
func (v value) refuse(format string, args ...any) error {
	return Invalid(v.path, fmt.Sprintf(format, args...))
}

// object calls read for each field of an object, in order, until read returns an error. want
// says in the error what the value should be when it is not an object, and fields are the names
// that read knows.
func (v value) object(want string, fields []string, read func(field) error) error {
	if v.kind != '{' {
		if err := v.lacksColon(v.path, v.text, fields); err != nil && v.kind == '"' {
			return err
		}
		return v.want(want)
	}
	for _, f := range v.fields {
		if err := read(f); err != nil {
			return err
		}
	}
	return nil
}

// want returns a FieldError that says what v should be.
func (v value) want(what string) error {
	return v.refuse("is %s; want %s%s", kinds[v.kind], what, v.hint(what))
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

// rooted gives an error at the root, which has no path, the name file or body.
func rooted(root string, err error) error {
	if fe, ok := errors.AsType[*FieldError](err); ok && fe.Field == "" {
		return &FieldError{Field: root, Reason: fe.Reason, Kind: fe.Kind}
	}
	return err
}

// readText reads a string that is not empty.
func readText[S ~string](v value, s *S) error {
	if v.kind != '"' {
		return v.want("a string")
	}
	if v.text == "" {
		return v.refuse("is empty; omit it for the default")
	}
	*s = S(v.text)
	return nil
}

// readInteger reads a whole number that is at least least. A caller passes 1 for a field whose
// zero value means that it was not given.
func readInteger[N int | int64](v value, n *N, least int64) error {
	if v.kind != '0' {
		return v.want("an integer")
	}
	if !integerText.MatchString(v.text) {
		return v.refuse("is %s; want an integer in plain digits, without a fraction or an exponent", Clip(v.text))
	}
	i, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil { // the caller checks the field's own range
		return v.refuse("is %s; want an integer within ±%d", Clip(v.text), int64(MaxScore))
	}
	if i < least {
		return v.refuse("is %d; want at least %d", i, least)
	}
	*n = N(i)
	return nil
}

func readDuration(v value, d *time.Duration) error {
	if v.kind != '"' {
		return v.want("a duration as a string, such as 7d")
	}
	var ok bool
	if *d, ok = parseDuration(v.text); !ok {
		return v.refuse("is %q; %s", Clip(v.text), wantDuration)
	}
	return nil
}

func readTime(v value, t *time.Time) error {
	if v.kind != '"' {
		return v.want("a time as a string, such as 2026-01-01T00:00:00Z")
	}
	var ok bool
	if *t, ok = parseTime(v.text); !ok {
		return v.refuse("is %q; %s", Clip(v.text), wantTime)
	}
	return nil
}
