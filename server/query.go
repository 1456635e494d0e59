package server

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
)

// query reads a request's parameters. The first that is wrong sets err.
type query struct {
	values map[string][]string
	err    error
}

// readQuery takes a query of the parameters named, each there once at most
// unless its name ends in "*".
func readQuery(c echo.Context, names ...string) *query {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return &query{err: ranking.Invalid("query", "is not well-formed: "+err.Error())}
	}
	q := &query{values: values}
	for name, values := range q.values {
		switch {
		case slices.Contains(names, name+"*"):
		case !slices.Contains(names, name):
			q.err = ranking.Invalid(cmp.Or(name, "query"), "is not a parameter here")
		case len(values) > 1:
			q.err = ranking.Invalid(name, "is there more than once")
		}
	}
	return q
}

func (q *query) get(name string) (string, bool) {
	v := q.values[name]
	return append(v, "")[0], len(v) > 0
}

// integer reads a whole number within bounds.
func (q *query) integer(name string, otherwise, low, high int64) int64 {
	s, ok := q.get(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if (err != nil || n < low || n > high) && q.err == nil {
		q.err = ranking.Invalid(name, fmt.Sprintf("is %.30q; want an integer from %d to %d", s, low, high))
	}
	return n
}

// score reads a score; nil where there is none.
func (q *query) score(name string) *int64 {
	if _, there := q.get(name); !there {
		return nil
	}
	n := q.integer(name, 0, -ranking.MaxScore, ranking.MaxScore)
	return &n
}

// cursor reads where a page begins; nil where there is none.
func (q *query) cursor() *ranking.Cursor {
	text, there := q.get("cursor")
	if !there {
		return nil
	}
	c, err := ranking.ParseCursor(text)
	if q.err == nil {
		q.err = err
	}
	return &c
}
