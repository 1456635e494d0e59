package definition

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// value is one value of a file or a body, YAML or JSON alike, and its path there.
type value struct {
	path   string
	kind   jsontext.Kind // n, t, f, ", 0, [ or {
	text   string        // of a string: itself; of a number: its digits as written
	items  []value       // of a list
	fields []field       // of an object, in order; no two have the same name
}

type field struct {
	name string
	value
}

var kinds = map[jsontext.Kind]string{
	'n': "null", 'f': "a boolean", 't': "a boolean", '"': "a text", '0': "a number", '{': "an object", '[': "a list",
}

// refuse is a FieldError at v; the root has no path, see rooted.
func (v value) refuse(format string, args ...any) error {
	return Invalid(v.path, fmt.Sprintf(format, args...))
}

// object reads the fields of an object in order, up to the first that is wrong.
func (v value) object(want string, read func(field) error) error {
	if v.kind != '{' {
		return v.want(want)
	}
	for _, f := range v.fields {
		if err := read(f); err != nil {
			return err
		}
	}
	return nil
}

func (v value) want(what string) error { return v.refuse("is %s; want %s", kinds[v.kind], what) }

var (
	plainKey    = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	integerText = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
)

// FieldPath is the path of a field within an object: boards.laps, and
// boards["fans:{star}"] where the name has other characters.
func FieldPath(path, name string) string {
	switch {
	case !plainKey.MatchString(name):
		return path + "[" + strconv.Quote(Clip(name)) + "]"
	case path == "":
		return name
	default:
		return path + "." + name
	}
}

func ItemPath(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// rooted gives an error at the root, which has no path, a name: file or body.
func rooted(root string, err error) error {
	if fe, ok := errors.AsType[*FieldError](err); ok && fe.Field == "" {
		return &FieldError{Field: root, Reason: fe.Reason, Kind: fe.Kind}
	}
	return err
}

// readText reads a text that says something.
func readText[S ~string](v value, s *S) error {
	if v.kind != '"' {
		return v.want("a text")
	}
	if v.text == "" {
		return v.refuse("is empty; leave it away for the default")
	}
	*s = S(v.text)
	return nil
}

// readInteger reads a whole number; a zero would be taken for none given where
// least is 1.
func readInteger[N int | int64](v value, n *N, least int64) error {
	if v.kind != '0' {
		return v.want("an integer")
	}
	if !integerText.MatchString(v.text) {
		return v.refuse("is %s; want an integer in plain digits, without fraction or exponent", Clip(v.text))
	}
	i, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil { // each field has a range of its own within these
		return v.refuse("is %s; want an integer within ±%d", Clip(v.text), int64(MaxScore))
	}
	if i < least {
		return v.refuse("is %d; want %d at least", i, least)
	}
	*n = N(i)
	return nil
}

func readDuration(v value, d *time.Duration) error {
	if v.kind != '"' {
		return v.want("a duration in text, such as 7d")
	}
	var ok bool
	if *d, ok = parseDuration(v.text); !ok {
		return v.refuse("is %q; %s", Clip(v.text), wantDuration)
	}
	return nil
}

func readTime(v value, t *time.Time) error {
	if v.kind != '"' {
		return v.want("a time in text, such as 2026-01-01T00:00:00Z")
	}
	var ok bool
	if *t, ok = parseTime(v.text); !ok {
		return v.refuse("is %q; %s", Clip(v.text), wantTime)
	}
	return nil
}
