package server

import (
	"encoding/base64"

	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
	"rankcast/server/internal/request"
)

// readNamePage reads which page of a list sorted by name a request asks for: the names after after,
// limit at most. after is "" for the first page, which a request without a cursor, or with an empty one,
// asks for.
func readNamePage(c *echo.Context, otherwise, most int64) (after string, limit int, err error) {
	q := request.ReadQuery(c, "limit", "cursor")
	after, limit = namePageOf(q, otherwise, most)
	return after, limit, q.Err
}

// namePageOf is readNamePage for a query that may have more parameters.
func namePageOf(q *request.Query, otherwise, most int64) (after string, limit int) {
	return cursorOf(q), int(q.Integer("limit", otherwise, 1, most))
}

// cursorOf reads what newNameCursor has made a cursor of; "" for no cursor, or an empty one.
func cursorOf(q *request.Query) (after string) {
	cursor, _ := q.Get("cursor")
	if cursor == "" || q.Err != nil {
		return ""
	}
	name, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		q.Err = definition.Invalid("cursor", "is not a cursor of this server")
	}
	return string(name)
}

// newNameCursor is the cursor of the page that follows one that ends with name; nil for "", the end of the
// last page.
func newNameCursor(name string) *string {
	if name == "" {
		return nil
	}
	return new(base64.RawURLEncoding.EncodeToString([]byte(name)))
}
