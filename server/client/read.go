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

// Query says which entries of a board to read. The zero value reads the first 10.
type Query struct {
	// Limit is how many at most, 1 to 1,000 (or fewer, as the server is set). Default 10.
	Limit int
	// Cursor is that of the page before: it goes on after that, whatever has moved
	// meanwhile. Default: from the first entry on.
	Cursor string
	// FromRank is the rank to begin with, from 1; it goes with no Cursor. Default 1.
	FromRank int64
	// MinScore and MaxScore narrow to scores from one to the other, themselves among
	// them, within ±MaxScore. Default nil: all.
	MinScore, MaxScore *int64
}

func (q Query) values() url.Values {
	v := url.Values{}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	setInteger(v, "from_rank", q.FromRank)
	setScores(v, q.MinScore, q.MaxScore)
	return v
}

// setInteger sets a parameter that is not zero.
func setInteger(v url.Values, name string, n int64) {
	if n != 0 {
		v.Set(name, strconv.FormatInt(n, 10))
	}
}

func setScores(v url.Values, least, most *int64) {
	if least != nil {
		v.Set("min_score", strconv.FormatInt(*least, 10))
	}
	if most != nil {
		v.Set("max_score", strconv.FormatInt(*most, 10))
	}
}

// read reads what belongs to a board.
func (c *Client) read(ctx context.Context, board, what string, v url.Values, answer any) error {
	address := c.boardURL(board, what)
	if len(v) > 0 {
		address += "?" + v.Encode()
	}
	if err := c.get(ctx, address, answer); err != nil {
		return fmt.Errorf("read board %q: %w", board, err)
	}
	return nil
}

// Page is a part of a board.
type Page struct {
	Board  string    `json:"board"`
	Period string    `json:"period"` // "" on a board without periods
	Ends   time.Time `json:"ends"`   // when the period closes, or closed; zero: never
	Final  bool      `json:"final"`  // it has closed: nothing changes any more
	Total  int64     `json:"total"`  // members on the board
	Count  *int64    `json:"count"`  // members with the scores asked for; nil where all were
	Top    []Entry   `json:"top"`
	Cursor string    `json:"cursor"` // of the next page; "" on the last
}

// Top reads entries of a board: the first, or those that a Query says. It is tried
// again as Update is. An error is an *Error where the server refused, unknown_board for
// one.
func (c *Client) Top(ctx context.Context, board string, q Query) (Page, error) {
	var p Page
	err := c.read(ctx, board, "top", q.values(), &p)
	return p, err
}

// Reached tells of a score, and of a part of those who have it.
type Reached struct {
	Board  string    `json:"board"`
	Period string    `json:"period"` // as Page's, and so Ends, Final and Total
	Ends   time.Time `json:"ends"`
	Final  bool      `json:"final"`
	Total  int64     `json:"total"`
	Score  int64     `json:"score"`
	// Rank is the one that reaching the score now would give a member that is not on
	// the board yet; where members decide ties, the best that it may be.
	Rank    int64   `json:"rank"`
	Count   int64   `json:"count"` // members that have the score
	Members []Entry `json:"members"`
	Cursor  string  `json:"cursor"` // of the next page; "" on the last
}

// At reads what rank a score would give now, and who has it: up to limit of them (as
// Query.Limit), after a cursor, "" for the first. It is tried again as Update is.
func (c *Client) At(ctx context.Context, board string, score int64, limit int, cursor string) (Reached, error) {
	v := Query{Limit: limit, Cursor: cursor}.values()
	v.Set("score", strconv.FormatInt(score, 10))
	var r Reached
	err := c.read(ctx, board, "at", v, &r)
	return r, err
}

// Count reads how many members have scores from least to most, themselves among them;
// nil for no bound. It is tried again as Update is.
func (c *Client) Count(ctx context.Context, board string, least, most *int64) (int64, error) {
	v := url.Values{}
	setScores(v, least, most)
	var answer struct {
		Count int64 `json:"count"`
	}
	err := c.read(ctx, board, "count", v, &answer)
	return answer.Count, err
}

// Friend is one of some members that were asked for.
type Friend struct {
	Member string         `json:"member"`
	Rank   *int64         `json:"rank"`  // from 1; nil for one that is not on the board, and so Among and Score
	Among  *int64         `json:"among"` // its rank among those asked for
	Score  *int64         `json:"score"`
	Name   string         `json:"name"`   // as Entry's
	Avatar string         `json:"avatar"` // likewise
	Data   jsontext.Value `json:"data"`   // likewise
}

// Members reads where 1 to 100 members stand, in the order asked. It is tried again as
// Update is.
func (c *Client) Members(ctx context.Context, board string, members ...string) ([]Friend, error) {
	var answer struct {
		Members []Friend `json:"members"`
	}
	err := c.read(ctx, board, "members", url.Values{"id": members}, &answer)
	return answer.Members, err
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
