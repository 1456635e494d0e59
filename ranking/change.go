package ranking

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Changes is what one batch of updates did to a board, in order. The first
// change took the board to Seq, each further one to one more.
type Changes struct {
	Board  string
	Period string
	Epoch  string
	Seq    int64
	List   []Change
}

// Last is the seq that the last change took the board to.
func (c *Changes) Last() int64 { return c.Seq + int64(len(c.List)) - 1 }

// Change is one member's move.
type Change struct {
	Member string
	Old    *Key   // nil: was not on the board
	New    *Key   // nil: is not on the board any more
	Rank   int64  // 1-based, at that change; 0 where New is nil
	Data   string // JSON that is with the entry now; "" for none
}

// The separators of a change message. Neither can be in a name: see checkText.
const (
	fieldSep  = "\x1f"
	changeSep = "\x1e"
)

var errNotChanges = errors.New("not a change message")

// parseChanges reads a message that apply.lua published.
func parseChanges(payload string) (*Changes, error) {
	head, rest, ok := strings.Cut(payload, changeSep)
	f := strings.Split(head, fieldSep)
	if !ok || len(f) != 4 || f[0] == "" || f[2] == "" {
		return nil, errNotChanges
	}
	c := &Changes{Board: f[0], Period: f[1], Epoch: f[2]}
	var err error
	if c.Seq, err = strconv.ParseInt(f[3], 10, 64); err != nil || c.Seq < 1 {
		return nil, fmt.Errorf("%w: seq %q", errNotChanges, f[3])
	}
	c.List = make([]Change, 0, 1+strings.Count(rest, changeSep))
	for more := true; more; {
		var one string
		one, rest, more = strings.Cut(rest, changeSep)
		change, err := parseChange(one)
		if err != nil {
			return nil, err
		}
		c.List = append(c.List, change)
	}
	return c, nil
}

func parseChange(s string) (Change, error) {
	f := strings.Split(s, fieldSep)
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
	if c.New != nil {
		if c.Rank, err = strconv.ParseInt(f[3], 10, 64); err != nil || c.Rank < 1 {
			return Change{}, fmt.Errorf("%w: rank %q", errNotChanges, f[3])
		}
	} else if f[3] != "" {
		return Change{}, fmt.Errorf("%w: rank %q of a member that left", errNotChanges, f[3])
	}
	return c, nil
}

func parseOptionalKey(s string) (*Key, error) {
	if s == "" {
		return nil, nil
	}
	k, err := parseKey(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotChanges, err)
	}
	return &k, nil
}
