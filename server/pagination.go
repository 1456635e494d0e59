package server

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/server/internal/request"
)

// readNamePage reads which page of a list sorted by name a request asks for: the names after after,
// limit at most. after is "" for the first page, which a request without a cursor, or with an empty one,
// asks for.
func readNamePage(c echo.Context, otherwise, most int64) (after string, limit int, err error) {
	q := request.ReadQuery(c, "limit", "cursor")
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

// newNameCursor is the cursor of the page that follows one that ends with name.
func newNameCursor(name string) *string {
	cursor := base64.RawURLEncoding.EncodeToString([]byte(name))
	return &cursor
}

// namePage cuts the page after a name out of a list sorted by name. It returns the page and the
// cursor of the next page; nil on the last.
func namePage[T any](list []T, after string, limit int, name func(T) string) ([]T, *string) {
	from, there := slices.BinarySearchFunc(list, after, func(e T, after string) int { return strings.Compare(name(e), after) })
	if there {
		from++
	}
	if list = list[from:]; len(list) <= limit {
		return list, nil
	}
	return list[:limit], newNameCursor(name(list[limit-1]))
}
