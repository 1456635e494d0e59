package request

import (
	"errors"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// MaxBody bounds a request's body, in bytes.
const MaxBody = 1 << 20

// ReadObject reads a request's body: one JSON object, and nothing after it.
func ReadObject(c echo.Context) (Object, error) {
	body, err := ReadBody(c)
	if err != nil {
		return nil, err
	}
	return ParseObject("body", body)
}

// ReadBody reads a request's body, up to MaxBody. RequireJSON has checked its type.
func ReadBody(c echo.Context) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, c.Request().Body, MaxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, &ranking.FieldError{Field: "body", Reason: "is larger than 1 MiB", Kind: ranking.ErrTooLarge}
	}
	if err != nil {
		return nil, ranking.Invalid("body", "ended early")
	}
	return body, nil
}

// IdempotencyKey is the header that gives the id of an update or event, or the start of the ids
// of a batch.
const IdempotencyKey = "Idempotency-Key"

// readIdempotencyKey returns the request's Idempotency-Key, which is a valid id; "" for none.
func readIdempotencyKey(c echo.Context) (string, error) {
	keys, there := c.Request().Header[IdempotencyKey]
	if !there {
		return "", nil
	}
	if keys[0] == "" || len(keys) > 1 {
		return "", ranking.Invalid(IdempotencyKey, "is empty, or occurs more than once")
	}
	return keys[0], definition.CheckNewText(IdempotencyKey, keys[0])
}

// ReadPost reads a request without parameters: its body, and its Idempotency-Key, "" for none.
func ReadPost(c echo.Context) (body Object, key string, err error) {
	if err := NoQuery(c); err != nil {
		return nil, "", err
	}
	if body, err = ReadObject(c); err != nil {
		return nil, "", err
	}
	key, err = readIdempotencyKey(c)
	return body, key, err
}
