package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
)

// Frozen describes a board that stands still for the public while updates go on counting.
type Frozen struct {
	Since   time.Time `json:"since"`
	Reveals string    `json:"reveals"` // "host": a moderator shows the result; "auto": the server does at the end
}

// Freeze is the freeze of a board.
type Freeze struct {
	Board  string  `json:"board"`
	Period string  `json:"period"` // "" on a board without periods
	Frozen *Frozen `json:"frozen"` // nil: the board is not frozen, or is no longer
}

// Freeze freezes the current period of a board. A board that is frozen already stays so. reason is for the audit, and must not be empty.
// It retries like Update. With an access file, the methods about a freeze need the scope moderate.
func (c *Client) Freeze(ctx context.Context, board, reason string) (Freeze, error) {
	return actOn[Freeze](ctx, c, board, "freeze", map[string]any{"reason": reason})
}

// Unfreeze ends the freeze of a board by making all public, and returns the number of members that became public. reason is for the
// audit, and must not be empty. It retries like Update; the number is then that of the last attempt.
func (c *Client) Unfreeze(ctx context.Context, board, reason string) (revealed int64, err error) {
	type unfrozen struct {
		Revealed int64 `json:"revealed"`
	}
	answer, err := actOn[unfrozen](ctx, c, board, "unfreeze", map[string]any{"reason": reason})
	return answer.Revealed, err
}

// Reveals is what Reveal has made public.
type Reveals struct {
	Freeze            // its Frozen is nil once nothing is left
	List   []Revealed `json:"revealed"` // in the order in which they became public
	Count  int64      `json:"count"`    // of RevealAll: how many became public; List has the last 128 of them
	Left   int64      `json:"left"`     // members that are still pending
}

// Revealed is a member that has become public.
type Revealed struct {
	Member string `json:"member"`
	Name   string `json:"name"`   // like Entry's
	Avatar string `json:"avatar"` // likewise
	// Rank and Score are its own from now on; nil: it has left.
	Rank  *int64 `json:"rank"`
	Score *int64 `json:"score"`
	// Previous is its public standing before; nil: the public board had not got it.
	Previous *Standing `json:"previous"`
}

// Reveal makes the pending scores of 1 to 128 members of a frozen board public, in their order. A member that is public already is
// not in the List. It retries like Update, and members of an earlier attempt are then public already.
func (c *Client) Reveal(ctx context.Context, board string, members ...string) (Reveals, error) {
	return actOn[Reveals](ctx, c, board, "reveal", map[string]any{"members": members})
}

// RevealAll is Reveal for all that is left.
func (c *Client) RevealAll(ctx context.Context, board string) (Reveals, error) {
	return actOn[Reveals](ctx, c, board, "reveal", map[string]any{"all": true})
}

// PendingQuery selects a page of what a frozen board keeps back. The zero value selects the first 100.
type PendingQuery struct {
	// Order is "reveal" or "rank": by the places that the members will have. Default "reveal": members without a public rank first, and
	// then from the last public rank upwards.
	Order  string
	Limit  int    // 1 to 1,000. Default 100
	Cursor string // the Cursor of the page before. Default: the first page
}

// PendingPage is a page of what a frozen board keeps back.
type PendingPage struct {
	Head
	Total   int64     `json:"total"` // members in all
	Entries []Pending `json:"entries"`
	Cursor  string    `json:"cursor"` // of the next page; "" on the last
}

// Pending is a member whose score the public does not see yet.
type Pending struct {
	Member  string    `json:"member"`
	Name    string    `json:"name"`    // like Entry's
	Avatar  string    `json:"avatar"`  // likewise
	Public  *Standing `json:"public"`  // nil: the public board has not got it
	Pending *Standing `json:"pending"` // the standing if all were public; nil: it will have left. Its Rank may be 0: not known
}

// Pending reads what a frozen board keeps back. On another board the page is empty. It retries like Update.
func (c *Client) Pending(ctx context.Context, board string, q PendingQuery) (PendingPage, error) {
	v := url.Values{}
	set(v, "order", q.Order)
	set(v, "limit", q.Limit)
	set(v, "cursor", q.Cursor)
	return readBoard[PendingPage](ctx, c, board, "pending", v)
}

// actOn sends an act on the freeze of a board.
func actOn[T any](ctx context.Context, c *Client, board, act string, body map[string]any) (answer T, err error) {
	b, err := json.Marshal(body)
	if err != nil {
		return answer, fmt.Errorf("%s board %q: %w", act, board, err)
	}
	return call[T](ctx, c, http.MethodPost, c.boardURL(board, act), b, "%s board %q", act, board)
}
