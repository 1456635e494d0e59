package client

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// MemberBoards is a page of the boards on which a member stands.
type MemberBoards struct {
	Kind   string `json:"kind"`
	Member string `json:"member"`
	Name   string `json:"name"`   // like Entry's
	Avatar string `json:"avatar"` // likewise
	// Boards is in a fixed order, in which the instances of a family come by name.
	Boards []MemberBoard `json:"boards"`
	// Unavailable is the number of boards that the server could not read now.
	Unavailable int `json:"unavailable"`
	// NotBuilt is the number of unions, and of windows with a refresh interval, that have no result now or an old
	// one. A read of such a board builds its result.
	NotBuilt int `json:"not_built"`
	// Cursor is that of the next page; "" on the last. A page may have few boards, or none, and a Cursor.
	Cursor string `json:"cursor"`
}

// MemberBoard is a member's place on a board, in the current period.
type MemberBoard struct {
	Head
	Rank          int64          `json:"rank"` // from 1
	Score         int64          `json:"score"`
	Columns       Columns        `json:"columns,omitzero"`         // like Entry's
	Data          jsontext.Value `json:"data"`                     // like Entry's
	Total         int64          `json:"total"`                    // members on the board
	Percentile    float64        `json:"percentile"`               // like MemberEntry's
	ToNext        *int64         `json:"to_next"`                  // likewise
	ToNextColumns Columns        `json:"to_next_columns,omitzero"` // likewise
}

// MemberBoards reads a page of the boards of a kind, such as "user", on which a member stands. It has only boards that
// the credentials may read. limit is the most boards of the page, 1 to 100; 0 stands for the server's default, 50. cursor
// is the Cursor of the page before; "" stands for the first page. The server looks through up to 1,000 boards for one
// page, so go on until Cursor is "". An unknown member has no boards. It retries like Update.
func (c *Client) MemberBoards(ctx context.Context, kind, member string, limit int, cursor string) (MemberBoards, error) {
	page := Query{Limit: limit, Cursor: cursor}
	return get[MemberBoards](ctx, c, c.profileURL(kind, member)+"/boards", page.values(), "read the boards of %q", member)
}
