// Package respond encodes the answers of handlers, and writes them.
package respond

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v5"
)

// Appender is an answer that encodes itself. For the answers that a busy node gives most, reflection takes ten
// times as long.
type Appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

// ownBytes is the size of the buffer of an answer that encodes itself. It is enough for the result of an update.
const ownBytes = 512

// Marshal encodes an answer. The bytes may have spare capacity.
func Marshal(answer any) ([]byte, error) {
	if own, ok := answer.(Appender); ok {
		return own.AppendJSON(make([]byte, 0, ownBytes))
	}
	return json.Marshal(answer)
}

// Encode encodes the body of an answer.
func Encode(v any) ([]byte, error) {
	b, err := Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	return append(b, '\n'), nil
}

// JSON answers with a value as JSON.
func JSON(c *echo.Context, status int, contentType string, v any) error {
	b, err := Encode(v)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentType, contentType) // a library may have set another
	c.Response().WriteHeader(status)
	_, err = c.Response().Write(b)
	return err
}

// HasBegun reports whether the answer to a request has begun: its status is sent.
func HasBegun(c *echo.Context) bool {
	answer, err := echo.UnwrapResponse(c.Response())
	return err == nil && answer.Committed
}

// OK answers with status 200.
func OK(c *echo.Context, v any) error { return JSON(c, http.StatusOK, echo.MIMEApplicationJSON, v) }

// Answer is OK for a result, or returns err.
func Answer(c *echo.Context, v any, err error) error {
	if err != nil {
		return err
	}
	return OK(c, v)
}

// Nothing answers with status 204, or returns err.
func Nothing(c *echo.Context, err error) error {
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// jsonContentType is the field Content-Type of an answer to a read. All answers share it.
var jsonContentType = []string{echo.MIMEApplicationJSON}

// Encoded answers with encoded JSON. Other answers may share the bytes.
func Encoded(c *echo.Context, b []byte) error {
	w := c.Response()
	w.Header()[echo.HeaderContentType] = jsonContentType
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(b)
	return err
}
