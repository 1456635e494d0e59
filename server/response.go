package server

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"
)

// encodeJSON encodes the body of an answer.
func encodeJSON(v any) ([]byte, error) {
	b, err := marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	return append(b, '\n'), nil
}

// writeJSON answers with a value as JSON.
func writeJSON(c echo.Context, status int, contentType string, v any) error {
	b, err := encodeJSON(v)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentType, contentType) // a library may have set another
	c.Response().WriteHeader(status)
	_, err = c.Response().Write(b)
	return err
}

func ok(c echo.Context, v any) error { return writeJSON(c, http.StatusOK, echo.MIMEApplicationJSON, v) }

// jsonContentType is the field Content-Type of an answer to a read. All answers share it.
var jsonContentType = []string{echo.MIMEApplicationJSON}

// writeEncoded answers with encoded JSON. Other answers may share the bytes.
func writeEncoded(c echo.Context, b []byte) error {
	w := c.Response()
	w.Header()[echo.HeaderContentType] = jsonContentType
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(b)
	return err
}
