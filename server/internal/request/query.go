package request

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// Query reads a request's parameters. The first invalid one sets Err.
type Query struct {
	Values map[string][]string
	Err    error
	key    []byte
}

// keyBytes is enough for the key of most requests.
const keyBytes = 96

// Key holds the path of the request, and all that the methods of q have read so far. A request that leaves a parameter
// with a default out, or empty, has the same key as one that gives the default.
func (q *Query) Key() string { return string(q.key) }

// note adds the value of a parameter to the key.
func (q *Query) note(name, value string) {
	if value != "" {
		q.key = strconv.AppendQuote(append(q.key, name...), value)
	}
}

// noQuery refuses a request that has parameters.
func noQuery(c *echo.Context) error {
	if c.Request().URL.RawQuery == "" {
		return nil
	}
	return ReadQuery(c).Err
}

// noParameters refuses a request that has parameters or a body.
func noParameters(c *echo.Context) error {
	if err := noQuery(c); err != nil {
		return err
	}
	return NoBody(c)
}

// WithoutQuery makes a handler refuse a request that has parameters.
func WithoutQuery(handler echo.HandlerFunc) echo.HandlerFunc { return after(noQuery, handler) }

// WithoutParameters makes a handler refuse a request that has parameters or a body.
func WithoutParameters(handler echo.HandlerFunc) echo.HandlerFunc {
	return after(noParameters, handler)
}

// after is a handler that first checks its request.
func after(check func(*echo.Context) error, handler echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		if err := check(c); err != nil {
			return err
		}
		return handler(c)
	}
}

// NoBody refuses a request that has a body.
func NoBody(c *echo.Context) error {
	body, err := ReadBody(c)
	if err != nil {
		return err
	}
	if len(body) > 0 {
		return definition.Invalid("body", "is not empty; this request takes none")
	}
	return nil
}

// ReadQuery reads the parameters of the names given. A parameter may occur more than once if its name
// ends in "*" here. Any other parameter sets Err.
func ReadQuery(c *echo.Context, names ...string) *Query {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return &Query{Err: definition.Invalid("query", "is malformed: "+err.Error())}
	}
	q := &Query{Values: values, key: make([]byte, 0, keyBytes)}
	q.key = append(append(q.key, c.Request().URL.EscapedPath()...), '?')
	for name, values := range q.Values {
		switch {
		case slices.Contains(names, name+"*"):
		case !slices.Contains(names, name):
			q.Err = definition.Invalid(cmp.Or(name, "query"), "is not a parameter of this resource")
		case len(values) > 1:
			q.Err = definition.Invalid(name, "occurs more than once")
		}
	}
	return q
}

// Get returns a parameter, and whether it is there.
func (q *Query) Get(name string) (string, bool) {
	v := q.Values[name]
	text := append(v, "")[0]
	q.note(name, text)
	return text, len(v) > 0
}

// OptionalText returns a parameter; "" without it. An empty parameter sets Err, as an empty field of a body is refused.
func (q *Query) OptionalText(name string) string {
	s, there := q.Get(name)
	if there && s == "" && q.Err == nil {
		q.Err = definition.Invalid(name, "is empty")
	}
	return s
}

// Integer reads an integer from low to high; otherwise without the parameter.
func (q *Query) Integer(name string, otherwise, low, high int64) int64 {
	n := otherwise
	if given := q.Values[name]; len(given) > 0 {
		var err error
		if n, err = strconv.ParseInt(given[0], 10, 64); (err != nil || n < low || n > high) && q.Err == nil {
			q.Err = definition.Invalid(name, fmt.Sprintf("is %.30q; want an integer from %d to %d", given[0], low, high))
		}
	}
	q.note(name, strconv.FormatInt(n, 10))
	return n
}

// Boolean reads true or false; false without the parameter.
func (q *Query) Boolean(name string) bool {
	s, ok := q.Get(name)
	if ok && s != "true" && s != "false" && q.Err == nil {
		q.Err = definition.Invalid(name, fmt.Sprintf("is %.30q; want true or false", s))
	}
	return s == "true"
}

// Score reads a score; nil without the parameter.
func (q *Query) Score(name string) *int64 {
	if len(q.Values[name]) == 0 {
		return nil
	}
	n := q.Integer(name, 0, -definition.MaxScore, definition.MaxScore)
	return &n
}

// Columns reads the values of columns, such as solved:5,penalty:320; nil without the parameter.
func (q *Query) Columns(name string) map[string]int64 {
	text, there := q.Get(name)
	if !there {
		return nil
	}
	values, err := definition.ParseColumns(name, text)
	q.Err = cmp.Or(q.Err, err)
	return values
}

// Time reads a time by RFC 3339; the zero time without the parameter.
func (q *Query) Time(name string) time.Time {
	s, ok := q.Get(name)
	if !ok {
		return time.Time{}
	}
	t, ok := definition.ParseTime(s)
	if !ok && q.Err == nil {
		const want = "want a time such as 2026-11-20T10:00:00Z, with at most milliseconds, in the years 1970 to 2199"
		q.Err = definition.Invalid(name, fmt.Sprintf("is %.40q; %s", s, want))
	}
	return t
}

// Duration reads a duration such as 5m, or a whole number of seconds; 0 without the parameter.
func (q *Query) Duration(name string) time.Duration {
	s, ok := q.Get(name)
	if !ok {
		return 0
	}
	d, ok := definition.ParseDuration(s)
	if !ok {
		d, ok = definition.ParseDuration(s + "s")
	}
	if !ok && q.Err == nil {
		q.Err = definition.Invalid(name, fmt.Sprintf("is %.30q; want a whole number of s, m, h or d, such as 5m or 1h, from 1s to 36600d", s))
	}
	return d
}

// Cursor reads the cursor of a page; nil without the parameter, and for an empty one, so that a
// caller's loop may begin with "".
func (q *Query) Cursor() *ranking.Cursor {
	text, _ := q.Get("cursor")
	if text == "" {
		return nil
	}
	c, err := ranking.ParseCursor(text)
	if q.Err == nil {
		q.Err = err
	}
	return &c
}
