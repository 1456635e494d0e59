package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// maxBody bounds a request's body, in bytes.
const maxBody = 1 << 20

// param gives a part of the path, decoded: Echo leaves it as it came where it
// holds an escaped slash.
func param(c echo.Context, name string) string {
	s := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return s
	}
	if decoded, err := url.PathUnescape(s); err == nil {
		return decoded
	}
	return s
}

// object is a JSON object whose fields are still to be read.
type object map[string]jsontext.Value

// readObject reads a request's body, one JSON object and nothing after it.
func readObject(c echo.Context) (object, error) {
	body, err := readBody(c)
	if err != nil {
		return nil, err
	}
	return parseObject("body", body)
}

// readBody reads a request's body.
func readBody(c echo.Context) ([]byte, error) {
	if err := checkEncoding(c); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, c.Request().Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, &ranking.FieldError{Field: "body", Reason: "has over 1 MiB", Kind: ranking.ErrTooLarge}
	}
	if err != nil {
		return nil, ranking.Invalid("body", "ended early")
	}
	return body, nil
}

// checkEncoding refuses a body that is compressed.
func checkEncoding(c echo.Context) error {
	if encoding := c.Request().Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return ranking.Invalid("Content-Encoding", "want none")
	}
	return nil
}

// readList reads the items of a batch.
func readList(field string, list jsontext.Value, most int) (items []jsontext.Value, err error) {
	if list.Kind() != '[' || json.Unmarshal(list, &items) != nil {
		return nil, ranking.Invalid(field, "is "+kinds[list.Kind()]+"; want a list")
	}
	switch n := len(items); {
	case n == 0:
		return nil, ranking.Invalid(field, "is empty")
	case n > most:
		return nil, &ranking.FieldError{Field: field, Reason: fmt.Sprintf("has %d; want %d at most", n, most), Kind: ranking.ErrTooLarge}
	}
	return items, nil
}

// idempotencyKey is the id that a request's header gives; "" for none.
func idempotencyKey(c echo.Context) (string, error) {
	keys, there := c.Request().Header["Idempotency-Key"]
	if there && (keys[0] == "" || len(keys) > 1) {
		return "", ranking.Invalid("Idempotency-Key", "is empty, or there more than once")
	}
	return append(keys, "")[0], nil
}

// itemKey is the id that such a header gives an item of a batch.
func itemKey(key string, i int) string {
	if key == "" {
		return ""
	}
	return fmt.Sprintf("%s#%d", key, i)
}

// errTwoIDs is what has an id of its own beside that of its request.
var errTwoIDs = ranking.Invalid("id", "differs from the id that Idempotency-Key gives")

// parseObject takes an object apart. JSON that is not valid, text after it, a
// name that is there twice and invalid UTF-8 are all refused.
func parseObject(field string, b []byte) (object, error) {
	var o object
	err := json.Unmarshal(b, &o)
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		return nil, ranking.Invalid(field, fmt.Sprintf("is not valid JSON: %v at byte %d", syntax.Err, syntax.ByteOffset))
	case err != nil || o == nil:
		return nil, ranking.Invalid(field, "is not a JSON object")
	}
	return o, nil
}

// only refuses fields beyond those named.
func (o object) only(names ...string) error {
	for name := range o {
		if !slices.Contains(names, name) {
			return ranking.Invalid(name, "is not a field here")
		}
	}
	return nil
}

// kinds names the kinds of JSON values in errors.
var kinds = map[jsontext.Kind]string{
	'n': "null", 'f': "a boolean", 't': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "a list",
}

// text reads a string; "" where the field is missing.
func (o object) text(name string) (string, error) {
	v, ok := o[name]
	if !ok {
		return "", nil
	}
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		return "", ranking.Invalid(name, "is "+kinds[v.Kind()]+"; want a string")
	}
	return s, nil
}

// required reads a string that must be there.
func (o object) required(name string) (string, error) {
	if _, there := o[name]; !there {
		return "", ranking.Invalid(name, "is missing")
	}
	return o.text(name)
}

// optional reads a string that says something if it is there.
func (o object) optional(name string) (string, error) {
	s, err := o.text(name)
	if _, there := o[name]; there && err == nil && s == "" {
		err = ranking.Invalid(name, "is empty")
	}
	return s, err
}

// object reads an object that must be there.
func (o object) object(name string) (object, error) {
	v, there := o[name]
	if !there {
		return nil, ranking.Invalid(name, "is missing")
	}
	return parseObject(name, v)
}

// integer reads a whole number.
func (o object) integer(name string) (int64, error) {
	v, ok := o[name]
	switch {
	case !ok:
		return 0, ranking.Invalid(name, "is missing")
	case v.Kind() != '0':
		return 0, ranking.Invalid(name, "is "+kinds[v.Kind()]+"; want an integer")
	}
	return parseInteger(name, string(v))
}

// parseInteger reads the digits of a whole number.
func parseInteger(name, digits string) (int64, error) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, &ranking.FieldError{Field: name, Reason: fmt.Sprintf("is %.30s; want an integer within ±%d", digits, int64(definition.MaxScore)), Kind: ranking.ErrOutOfRange}
	}
	if err != nil {
		return 0, ranking.Invalid(name, fmt.Sprintf("is %.30s; want an integer, without fraction or exponent", digits))
	}
	return n, nil
}

// within reads a whole number within bounds, if there is one.
func (o object) within(name string, otherwise, low, high int64) (int64, error) {
	if _, there := o[name]; !there {
		return otherwise, nil
	}
	n, err := o.integer(name)
	if err == nil && (n < low || n > high) {
		err = ranking.Invalid(name, fmt.Sprintf("is %d; want %d to %d", n, low, high))
	}
	return n, err
}

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
	n := q.integer(name, 0, -definition.MaxScore, definition.MaxScore)
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

// writeJSON answers with a value.
func writeJSON(c echo.Context, status int, contentType string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	c.Response().Header().Set(echo.HeaderContentType, contentType) // over what a library may have set
	return c.Blob(status, contentType, append(b, '\n'))
}

func ok(c echo.Context, v any) error { return writeJSON(c, http.StatusOK, echo.MIMEApplicationJSON, v) }
