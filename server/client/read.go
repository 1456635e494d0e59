package client

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Entry is a member's place on a board.
type Entry struct {
	Rank   int64  `json:"rank"` // from 1
	Member string `json:"member"`
	Score  int64  `json:"score"`
	// Name and Avatar are of the member's profile; "" for none. They may be of any
	// characters but control characters: a page must not take them for markup.
	Name   string `json:"name,omitzero"`
	Avatar string `json:"avatar,omitzero"` // an http or https URL, or a path of the site
	// Data is what an update gave the entry; nil for none. Nobody changes it.
	Data jsontext.Value `json:"data,omitzero"`
}

// Page is the first part of a board.
type Page struct {
	Board  string    `json:"board"`
	Period string    `json:"period"` // "" on a board without periods
	Ends   time.Time `json:"ends"`   // when the period closes, or closed; zero: never
	Final  bool      `json:"final"`  // it has closed: nothing changes any more
	Total  int64     `json:"total"`  // members on the board
	Top    []Entry   `json:"top"`
}

// Top reads the first entries of a board, 1 to 1,000 (or fewer, as the server is
// set); a limit of 0 reads 10. It is tried again as Update is. An error is an
// *Error where the server refused, unknown_board for one.
func (c *Client) Top(ctx context.Context, board string, limit int) (Page, error) {
	var p Page
	address := c.boardURL(board, "top")
	if limit != 0 {
		address += "?limit=" + strconv.Itoa(limit)
	}
	if err := c.get(ctx, address, &p); err != nil {
		return Page{}, fmt.Errorf("read board %q: %w", board, err)
	}
	return p, nil
}

// Place is where one member stands on a board.
type Place struct {
	Board  string         `json:"board"`
	Period string         `json:"period"` // "" on a board without periods
	Ends   time.Time      `json:"ends"`   // as Page's
	Final  bool           `json:"final"`  // likewise
	Rank   int64          `json:"rank"`   // from 1
	Member string         `json:"member"`
	Score  int64          `json:"score"`
	Name   string         `json:"name"`   // as Entry's
	Avatar string         `json:"avatar"` // likewise
	Data   jsontext.Value `json:"data"`   // likewise
	Total  int64          `json:"total"`  // members on the board
	// Percentile is the share of the others that rank below, 0 to 100.
	Percentile float64 `json:"percentile"`
	// ToNext is the distance in score to the entry above: 0 when tied, nil at
	// the top.
	ToNext *int64 `json:"to_next"`
	// Around are the neighbours asked for, and the member between them, by rank.
	Around []Entry `json:"around"`
}

// Member reads where one member stands, and up to around neighbours on each
// side, 0 to 100. It is tried again as Update is. An error is an *Error where the
// server refused, unknown_member for one that is not on the board.
func (c *Client) Member(ctx context.Context, board, member string, around int) (Place, error) {
	var p Place
	address := c.boardURL(board, "members", member)
	if around != 0 {
		address += "?" + url.Values{"around": {strconv.Itoa(around)}}.Encode()
	}
	if err := c.get(ctx, address, &p); err != nil {
		return Place{}, fmt.Errorf("read member %q of board %q: %w", member, board, err)
	}
	return p, nil
}
