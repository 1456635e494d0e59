package server

import (
	"encoding/base64"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/server/internal/request"
)

// readNamePage reads which page of a list sorted by name a request asks for: the names after after,
// limit at most. after is "" for the first page, which a request without a cursor, or with an empty one,
// asks for. others are further parameters of the resource.
func readNamePage(c echo.Context, otherwise, most int64, others ...string) (after string, limit int, err error) {
	q := request.ReadQuery(c, append(others, "limit", "cursor")...)
	limit = int(q.Integer("limit", otherwise, 1, most))
	if cursor, _ := q.Get("cursor"); cursor != "" && q.Err == nil {
		name, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
		if err != nil {
			q.Err = ranking.Invalid("cursor", "is not a cursor of this server")
		}
		after = string(name)
	}
	return after, limit, q.Err
}

// newNameCursor is the cursor of the page that follows one that ends with name; nil for "", the end of the
// last page.
func newNameCursor(name string) *string {
	if name == "" {
		return nil
	}
	cursor := base64.RawURLEncoding.EncodeToString([]byte(name))
	return &cursor
}
