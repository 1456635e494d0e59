package request

import (
	"errors"
	"io"
	"net/http"

	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
)

// MaxBody bounds a request's body, in bytes.
const MaxBody = 1 << 20

// ReadObject reads a request's body: one JSON object, and nothing after it.
func ReadObject(c *echo.Context) (Object, error) {
	body, err := ReadBody(c)
	if err != nil {
		return nil, err
	}
	return ParseObject("body", body)
}

// ReadFields reads a request's body, an object that has fields of these names only.
func ReadFields(c *echo.Context, names ...string) *Fields {
	o, err := ReadObject(c)
	if err != nil {
		return &Fields{Err: err}
	}
	return o.Fields(names...)
}

// Turn is a body whose request waits for its turn once the body has arrived: before that it would wait for
// its client, and then the server decodes the body.
type Turn interface {
	// Begin waits for the turn of a body of so many bytes. It may shorten the time of the request.
	Begin(c *echo.Context, bytes int) error
}

// ReadBody reads a request's body, up to MaxBody, and waits for the turn of the request. RequireJSON has
// checked the type of the body.
func ReadBody(c *echo.Context) ([]byte, error) {
	body, err := readAll(c.Request())
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &definition.FieldError{Field: "body", Reason: "is larger than 1 MiB", Kind: definition.ErrTooLarge}
	}
	if err != nil {
		return nil, definition.Invalid("body", "ended early")
	}
	if turn, ok := c.Request().Body.(Turn); ok {
		return body, turn.Begin(c, len(body))
	}
	return body, nil
}

// trustedBody is the length of a body for which the server takes memory before the body has arrived, in bytes.
const trustedBody = 4 << 10

// readAll reads a body. Its memory grows with what has arrived, to the length of the body if that is known: the HTTP
// server ends it there.
func readAll(r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > MaxBody {
		return io.ReadAll(http.MaxBytesReader(nil, r.Body, MaxBody))
	}
	length := int(r.ContentLength)
	all := make([]byte, min(length, trustedBody))
	for arrived := 0; ; {
		n, err := io.ReadFull(r.Body, all[arrived:])
		if arrived += n; err != nil || arrived == length {
			return all[:arrived], err
		}
		larger := make([]byte, min(length, 4*arrived))
		copy(larger, all)
		all = larger
	}
}

// IdempotencyKey is the header that gives the id of an update or event, or the start of the ids
// of a batch.
const IdempotencyKey = "Idempotency-Key"

// readIdempotencyKey returns the request's Idempotency-Key, which is a valid id; "" for none.
func readIdempotencyKey(c *echo.Context) (string, error) {
	keys, there := c.Request().Header[IdempotencyKey]
	if !there {
		return "", nil
	}
	if keys[0] == "" || len(keys) > 1 {
		return "", definition.Invalid(IdempotencyKey, "is empty, or occurs more than once")
	}
	return keys[0], definition.CheckText(IdempotencyKey, keys[0])
}

// Post is a request that writes scores.
type Post struct {
	Body   Object
	Key    string // its Idempotency-Key; "" for none
	Ranked bool   // the answer has ranks also where they have to be counted: the parameter rank
}

// ReadPost reads a request that writes scores.
func ReadPost(c *echo.Context) (p Post, err error) {
	if c.Request().URL.RawQuery != "" {
		q := ReadQuery(c, "rank")
		if p.Ranked = q.Boolean("rank"); q.Err != nil {
			return p, q.Err
		}
	}
	if p.Body, err = ReadObject(c); err != nil {
		return p, err
	}
	p.Key, err = readIdempotencyKey(c)
	return p, err
}
