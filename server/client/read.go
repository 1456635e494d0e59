package client

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Entry is a member's rank and score on a board.
type Entry struct {
	Rank    int64   `json:"rank"` // from 1
	Member  string  `json:"member"`
	Score   int64   `json:"score"`
	Columns Columns `json:"columns,omitzero"` // of Score; nil on a board without columns
	// Name and Avatar are from the member's profile; "" for none. They may hold any characters
	// except control characters: a page must escape them.
	Name   string `json:"name,omitzero"`
	Avatar string `json:"avatar,omitzero"` // an http or https URL, or a path of the site
	// Data is the data that an update gave the entry; nil for none. Do not modify it.
	Data jsontext.Value `json:"data,omitzero"`
}

// Query selects entries of a board. The zero value selects the first 10.
type Query struct {
	// Limit is the maximum number of entries, 1 to 1,000 or the server's limit. Default 10.
	Limit int
	// Cursor is the Cursor of the page before: this page starts after its last entry, also if
	// ranks have changed meanwhile. Default: the page starts at the first entry.
	Cursor string
	// FromRank is the first rank, from 1; it cannot stand beside Cursor. Default 1.
	FromRank int64
	// MinScore and MaxScore are inclusive bounds of the scores, within ±MaxScore. Default nil:
	// no bound.
	MinScore, MaxScore *int64
	// MinColumns and MaxColumns take their place on a board with columns: MinColumns ranks lower, and a column that is left out is
	// 0. Default nil: no bound.
	MinColumns, MaxColumns Columns
}

func (q Query) values() url.Values {
	v := url.Values{}
	set(v, "limit", q.Limit)
	set(v, "cursor", q.Cursor)
	set(v, "from_rank", q.FromRank)
	setScores(v, q.MinScore, q.MaxScore)
	q.MinColumns.set(v, "min_columns")
	q.MaxColumns.set(v, "max_columns")
	return v
}

// set sets a parameter that is not zero.
func set[T comparable](v url.Values, name string, value T) {
	if value != *new(T) {
		v.Set(name, fmt.Sprint(value))
	}
}

func setScores(v url.Values, least, most *int64) {
	for name, bound := range map[string]*int64{"min_score": least, "max_score": most} {
		if bound != nil {
			v.Set(name, fmt.Sprint(*bound))
		}
	}
}

// readBoard reads a resource of a board.
func readBoard[T any](ctx context.Context, c *Client, board, resource string, v url.Values) (T, error) {
	return get[T](ctx, c, c.boardURL(board, resource), v, "read board %q", board)
}

// Head is the part that all answers about a board have in common.
type Head struct {
	Board  string    `json:"board"`
	Period string    `json:"period"` // "" on a board without periods
	Ends   time.Time `json:"ends"`   // end of the period; zero: never
	Final  bool      `json:"final"`  // the period is closed; the board does not change any more
	Frozen *Frozen   `json:"frozen"` // nil: the board is not frozen
}

// Page is a page of a board.
type Page struct {
	Head
	Total  int64   `json:"total"` // members on the board
	Count  *int64  `json:"count"` // members within the bounds of Query; nil without bounds
	Top    []Entry `json:"top"`
	Cursor string  `json:"cursor"` // of the next page; "" on the last
}

// Top reads the entries of a board that q selects. It retries like Update. Its error wraps an *Error
// if the server refused, for example with unknown_board.
func (c *Client) Top(ctx context.Context, board string, q Query) (Page, error) {
	return readBoard[Page](ctx, c, board, "top", q.values())
}

// ScoreRank is the rank of a score, and a page of the members with that score.
type ScoreRank struct {
	Head
	Total   int64   `json:"total"` // members on the board
	Score   int64   `json:"score"`
	Columns Columns `json:"columns,omitzero"` // of Score; nil on a board without columns
	// Rank is the rank of a new member that reached the score now. On a board whose ties are
	// decided by member, it is the best possible rank.
	Rank    int64   `json:"rank"`
	Count   int64   `json:"count"` // members that have the score
	Members []Entry `json:"members"`
	Cursor  string  `json:"cursor"` // of the next page; "" on the last
}

// At reads the rank that a score would give now, and a page of the members with that score: up to limit
// of them (like Query.Limit), after a cursor, "" for the first page. It retries like Update.
func (c *Client) At(ctx context.Context, board string, score int64, limit int, cursor string) (ScoreRank, error) {
	v := Query{Limit: limit, Cursor: cursor}.values()
	v.Set("score", strconv.FormatInt(score, 10))
	return readBoard[ScoreRank](ctx, c, board, "at", v)
}

// AtColumns is At for a score of a board with columns. Columns that are left out are 0.
func (c *Client) AtColumns(ctx context.Context, board string, columns Columns, limit int, cursor string) (ScoreRank, error) {
	v := Query{Limit: limit, Cursor: cursor}.values()
	columns.set(v, "columns")
	return readBoard[ScoreRank](ctx, c, board, "at", v)
}

// Count reads the number of members with scores from least to most, inclusive; nil for no bound. It
// retries like Update.
func (c *Client) Count(ctx context.Context, board string, least, most *int64) (int64, error) {
	return c.count(ctx, board, Query{MinScore: least, MaxScore: most})
}

// CountColumns is Count for a board with columns: least ranks lower than most.
func (c *Client) CountColumns(ctx context.Context, board string, least, most Columns) (int64, error) {
	return c.count(ctx, board, Query{MinColumns: least, MaxColumns: most})
}

func (c *Client) count(ctx context.Context, board string, bounds Query) (int64, error) {
	type counted struct {
		Count int64 `json:"count"`
	}
	answer, err := readBoard[counted](ctx, c, board, "count", bounds.values())
	return answer.Count, err
}

// SearchResult are the members that a search has found.
type SearchResult struct {
	Head
	Total int64 `json:"total"` // members on the board
	// Complete reports that the server has looked at all members that match. If it is false, a longer
	// query may find others.
	Complete bool `json:"complete"`
	// Entries begin with the member whose id is the query, and those whose whole name it is. The rest
	// is by rank.
	Entries []Entry `json:"entries"`
}

// Search finds members of a board by the start of any word of their names, and by the start of their
// ids. It ignores case, width and accents. query is 1 to 128 bytes, and not only white space. limit is
// the maximum number of entries, 1 to 50; 0 stands for 10. It retries like Update.
func (c *Client) Search(ctx context.Context, board, query string, limit int) (SearchResult, error) {
	v := url.Values{"q": {query}}
	set(v, "limit", limit)
	return readBoard[SearchResult](ctx, c, board, "search", v)
}

// MemberRank is the rank of one of several members.
type MemberRank struct {
	Member  string         `json:"member"`
	Rank    *int64         `json:"rank"`  // from 1; nil if the member is not on the board; Among and Score likewise
	Among   *int64         `json:"among"` // its rank among these members
	Score   *int64         `json:"score"`
	Columns Columns        `json:"columns,omitzero"` // like Entry's
	Name    string         `json:"name"`             // like Entry's
	Avatar  string         `json:"avatar"`           // likewise
	Data    jsontext.Value `json:"data"`             // likewise
}

// Members reads the ranks of 1 to 100 members. The result is in the order of members. It retries like
// Update.
func (c *Client) Members(ctx context.Context, board string, members ...string) ([]MemberRank, error) {
	type ranked struct {
		Members []MemberRank `json:"members"`
	}
	answer, err := readBoard[ranked](ctx, c, board, "members", url.Values{"id": members})
	return answer.Members, err
}

// MemberEntry is one member's entry, with its neighbours.
type MemberEntry struct {
	Head
	Entry
	Total int64 `json:"total"` // members on the board
	// Percentile is the percentage of the other members that rank below, 0 to 100.
	Percentile float64 `json:"percentile"`
	// ToNext is the distance in score to the entry above: 0 for a tie, nil at rank 1, which several may share.
	ToNext *int64 `json:"to_next"`
	// ToNextColumns, on a board with columns, is what each column lacks to be that of the entry above; negative where it is better. nil
	// like ToNext.
	ToNextColumns Columns `json:"to_next_columns,omitzero"`
	// Around are the neighbours and the member between them, by rank.
	Around []Entry `json:"around"`
}

// Member reads one member's entry, and up to around neighbours on each side, 0 to 100. It retries like
// Update. Its error wraps an *Error if the server refused: unknown_member for a member that is not on
// the board.
func (c *Client) Member(ctx context.Context, board, member string, around int) (MemberEntry, error) {
	v := url.Values{}
	set(v, "around", around)
	return get[MemberEntry](ctx, c, c.boardURL(board, "members", member), v, "read member %q of board %q", member, board)
}
