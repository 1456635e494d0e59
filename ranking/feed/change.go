package feed

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/sortkey"
)

// Changes is what one batch of updates did to a board, in order. The first
// change took the board to Seq, each further one to one more. Where List is empty the
// board-period was replaced as a whole, and is at Seq of a new Epoch.
type Changes struct {
	Board  string   // the instance: "fans:s17"
	Period string   // "" on a board without periods
	Epoch  string   // one life of the board-period
	Seq    int64    // of the first change
	List   []Change // never empty but for a board that was replaced
}

// Last is the seq that the last change took the board to, or at which it was replaced.
func (c *Changes) Last() int64 { return c.Seq + max(int64(len(c.List))-1, 0) }

// Change is one member's move.
type Change struct {
	Member   string
	Old      *sortkey.Key // nil: was not on the board
	New      *sortkey.Key // nil: is not on the board any more
	Rank     int64        // 1-based, at that change, by the board's ties; 0 where New is nil
	Position int64        // likewise, in the order of the board; Rank, but for ties Shared and Dense
	Born     bool         // with ties Dense: nobody held the new score before
	Gone     bool         // with ties Dense: nobody holds the old score any more
	Data     string       // JSON that is with the entry now; "" for none
}

// How the flags of a change message are written.
const (
	bornFlag = "b"
	goneFlag = "g"
)

var errNotChanges = errors.New("not a change message")

// ParseChanges reads a message that apply.lua published.
func ParseChanges(payload string) (*Changes, error) {
	head, rest, ok := strings.Cut(payload, keyspace.RecordSep)
	f := strings.Split(head, keyspace.FieldSep)
	if len(f) != 4 || f[0] == "" || f[2] == "" {
		return nil, errNotChanges
	}
	c := &Changes{Board: f[0], Period: f[1], Epoch: f[2]}
	var err error
	if c.Seq, err = strconv.ParseInt(f[3], 10, 64); err != nil || c.Seq < 1 {
		return nil, fmt.Errorf("%w: seq %q", errNotChanges, f[3])
	}
	if !ok {
		return c, nil // it was replaced
	}
	c.List = make([]Change, 0, 1+strings.Count(rest, keyspace.RecordSep))
	for more := true; more; {
		var one string
		one, rest, more = strings.Cut(rest, keyspace.RecordSep)
		change, err := parseChange(one)
		if err != nil {
			return nil, err
		}
		c.List = append(c.List, change)
	}
	return c, nil
}

func parseChange(s string) (Change, error) {
	f := strings.Split(s, keyspace.FieldSep)
	if len(f) < 4 || len(f) > 5 || f[0] == "" || f[1] == "" && f[2] == "" {
		return Change{}, fmt.Errorf("%w: change %q", errNotChanges, s)
	}
	c := Change{Member: f[0]}
	if len(f) == 5 {
		if c.Data = f[4]; c.Data == "" || f[2] == "" {
			return Change{}, fmt.Errorf("%w: data %q of a change to %q", errNotChanges, f[4], f[2])
		}
	}
	var err error
	if c.Old, err = parseOptionalKey(f[1]); err != nil {
		return Change{}, err
	}
	if c.New, err = parseOptionalKey(f[2]); err != nil {
		return Change{}, err
	}
	if !c.parsePlace(f[3]) {
		return Change{}, fmt.Errorf("%w: place %q of a change to %q", errNotChanges, f[3], f[2])
	}
	return c, nil
}

// parsePlace reads 'rank', 'rank position' or 'rank position flags' of a member that is
// on the board now, and ” or 'flags' of one that is not.
func (c *Change) parsePlace(s string) bool {
	words := strings.Split(s, " ")
	if c.New != nil {
		var err error
		if c.Rank, err = strconv.ParseInt(words[0], 10, 64); err != nil {
			return false
		}
		if c.Position = c.Rank; len(words) > 1 {
			if c.Position, err = strconv.ParseInt(words[1], 10, 64); err != nil {
				return false
			}
			words = words[1:]
		}
		if c.Rank < 1 || c.Position < c.Rank {
			return false
		}
		if words = words[1:]; len(words) == 0 {
			return true
		}
	}
	for _, flag := range words[0] {
		switch string(flag) {
		case bornFlag:
			c.Born = true
		case goneFlag:
			c.Gone = true
		default:
			return false
		}
	}
	return len(words) == 1 && (!c.Born || c.New != nil) && (!c.Gone || c.Old != nil)
}

func parseOptionalKey(s string) (*sortkey.Key, error) {
	if s == "" {
		return nil, nil
	}
	k, err := sortkey.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotChanges, err)
	}
	return &k, nil
}
