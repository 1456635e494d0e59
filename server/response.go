package server

import (
	"fmt"
	"net/http"
	"time"

	"rankcast/ranking/definition"

	"github.com/labstack/echo/v4"
)

// writeJSON answers with a value as JSON.
func writeJSON(c echo.Context, status int, contentType string, v any) error {
	b, err := encodeJSON(v)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	c.Response().Header().Set(echo.HeaderContentType, contentType) // a library may have set another
	c.Response().WriteHeader(status)
	_, err = c.Response().Write(append(b, '\n'))
	return err
}

func ok(c echo.Context, v any) error { return writeJSON(c, http.StatusOK, echo.MIMEApplicationJSON, v) }

// timeJSON encodes a time for the wire; null for the zero time.
func timeJSON(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(definition.TimeForm)
	return &text
}
