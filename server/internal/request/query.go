package request

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
)

// Query reads a request's parameters. The first that is wrong sets err.
type Query struct {
	Values map[string][]string
	Err    error
}

// NoQuery refuses a request that has parameters.
func NoQuery(c echo.Context) error { return ReadQuery(c).Err }

// ReadQuery takes a query of the parameters named, each there once at most
// unless its name ends in "*".
func ReadQuery(c echo.Context, names ...string) *Query {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return &Query{Err: ranking.Invalid("query", "is not well-formed: "+err.Error())}
	}
	q := &Query{Values: values}
	for name, values := range q.Values {
		switch {
		case slices.Contains(names, name+"*"):
		case !slices.Contains(names, name):
			q.Err = ranking.Invalid(cmp.Or(name, "query"), "is not a parameter here")
		case len(values) > 1:
			q.Err = ranking.Invalid(name, "is there more than once")
		}
	}
	return q
}

func (q *Query) Get(name string) (string, bool) {
	v := q.Values[name]
	return append(v, "")[0], len(v) > 0
}

// Integer reads a whole number within bounds.
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

// Score reads a score; nil where there is none.
func (q *Query) Score(name string) *int64 {
	if _, there := q.Get(name); !there {
		return nil
	}
	n := q.Integer(name, 0, -ranking.MaxScore, ranking.MaxScore)
	return &n
}

// Cursor reads where a page begins; nil where there is none.
func (q *Query) Cursor() *ranking.Cursor {
	text, there := q.Get("cursor")
	if !there {
		return nil
	}
	c, err := ranking.ParseCursor(text)
	if q.Err == nil {
		q.Err = err
	}
	return &c
}
