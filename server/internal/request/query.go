package request

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// Query reads a request's parameters. The first invalid one sets Err.
type Query struct {
	Values map[string][]string
	Err    error
}

// NoQuery refuses a request that has parameters.
func NoQuery(c echo.Context) error {
	if c.Request().URL.RawQuery == "" {
		return nil
	}
	return ReadQuery(c).Err
}

// ReadQuery reads the parameters of the names given. A parameter may occur more than once if its name
// ends in "*" here. Any other parameter sets Err.
func ReadQuery(c echo.Context, names ...string) *Query {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return &Query{Err: ranking.Invalid("query", "is malformed: "+err.Error())}
	}
	q := &Query{Values: values}
	for name, values := range q.Values {
		switch {
		case slices.Contains(names, name+"*"):
		case !slices.Contains(names, name):
			q.Err = ranking.Invalid(cmp.Or(name, "query"), "is not a parameter of this resource")
		case len(values) > 1:
			q.Err = ranking.Invalid(name, "occurs more than once")
		}
	}
	return q
}

// Get returns a parameter, and whether it is there.
func (q *Query) Get(name string) (string, bool) {
	v := q.Values[name]
	return append(v, "")[0], len(v) > 0
}

// Integer reads an integer from low to high; otherwise without the parameter.
func (q *Query) Integer(name string, otherwise, low, high int64) int64 {
	s, ok := q.Get(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if (err != nil || n < low || n > high) && q.Err == nil {
		q.Err = ranking.Invalid(name, fmt.Sprintf("is %.30q; want an integer from %d to %d", s, low, high))
	}
	return n
}

// Boolean reads true or false; false without the parameter.
func (q *Query) Boolean(name string) bool {
	s, ok := q.Get(name)
	if ok && s != "true" && s != "false" && q.Err == nil {
		q.Err = ranking.Invalid(name, fmt.Sprintf("is %.30q; want true or false", s))
	}
	return s == "true"
}

// Score reads a score; nil without the parameter.
func (q *Query) Score(name string) *int64 {
	if _, there := q.Get(name); !there {
		return nil
	}
	n := q.Integer(name, 0, -definition.MaxScore, definition.MaxScore)
	return &n
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
