package feed

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/sortkey"
)

// Changes holds the changes that one batch of updates made to a board, in order. The first
// change took the board-period to Seq, and each further change to the next number. An empty
// List means that the board-period was replaced as a whole, and is at Seq of a new Epoch.
type Changes struct {
	Board  string    // board or instance: "fans:s17"; with shards, the name of one: "fans:s17/03"
	Shard  int       // its number; 0 on a board without shards
	Period string    // "" on a board without periods
	Epoch  string    // identifies one life of the board-period
	Seq    int64     // of the first change, 1 or greater
	At     time.Time // when the batch was applied, by Redis's clock; zero for a board-period that was replaced
	List   []Change  // empty only for a board-period that was replaced, and with Freeze

	// Freeze says that the board-period was frozen, or is frozen no longer: a page tells which. It took the board-period to Seq.
	Freeze bool

	// Received is when this node received the batch, by its own clock: since the node started.
	Received time.Duration
}

// Last is the seq of the last change, or the seq at which the board-period was replaced.
func (c *Changes) Last() int64 { return c.Seq + max(int64(len(c.List))-1, 0) }

// Change is one write to one member.
type Change struct {
	Member   string
	Old      *sortkey.Key // nil when the member was not on the board before
	New      *sortkey.Key // nil when the member is not on the board afterwards
	Rank     int64        // 1-based, right after the change, by the board's ties; 0 when New is nil
	Position int64        // 1-based place in the order of the board; differs from Rank only with ties Shared and Dense; 0 when New is nil
	Born     bool         // only with ties Dense: no member had the new score before
	Gone     bool         // only with ties Dense: no member has the old score afterwards
	Data     string       // JSON stored with the entry afterwards; "" for none
}

// The flags of a change message.
const (
	freezeFlag = "s" // of the message itself, see lib/notify.lua
	bornFlag   = "b"
	goneFlag   = "g"
)

var errNotChanges = errors.New("not a change message")

// ParseChanges reads a change message, whose form the heads of lua/lib/board.lua and notify.lua give. Its
// errors are for a log, and name no member: a reader gets the missing change from Redis, because seq has a gap.
func ParseChanges(payload string) (*Changes, error) {
	head, rest, ok := strings.Cut(payload, keyspace.RecordSep)
	f := strings.Split(head, keyspace.FieldSep)
	fields, freeze := 4, len(f) == 6 && !ok && f[5] == freezeFlag
	switch {
	case ok: // it has changes
		fields = 5
	case freeze:
		fields = 6
	}
	if len(f) != fields || f[0] == "" || f[2] == "" {
		return nil, errNotChanges
	}
	c := &Changes{Board: f[0], Period: f[1], Epoch: f[2]}
	_, c.Shard = keyspace.ParseShard(c.Board)
	var err error
	if c.Seq, err = strconv.ParseInt(f[3], 10, 64); err != nil || c.Seq < 1 {
		return nil, fmt.Errorf("%w: seq %q", errNotChanges, f[3])
	}
	if !ok && !freeze {
		return c, nil // the board-period was replaced
	}
	at, err := strconv.ParseInt(f[4], 10, 64)
	if err != nil || at < 1 {
		return nil, fmt.Errorf("%w: time %q", errNotChanges, f[4])
	}
	c.At = time.UnixMicro(at).UTC()
	if c.Freeze = freeze; freeze {
		return c, nil
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
		return Change{}, fmt.Errorf("%w: a change has %d fields, or lacks its member or its keys", errNotChanges, len(f))
	}
	c := Change{Member: f[0]}
	if len(f) == 5 {
		if c.Data = f[4]; c.Data == "" || f[2] == "" {
			return Change{}, fmt.Errorf("%w: data of a change to %q", errNotChanges, f[2])
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

// parsePlace reads the place of a change. For a member that is on the board now it is "rank",
// "rank position" or "rank position flags". For any other member it is "" or "flags".
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

// parseOptionalKey reads a key, or returns nil for "".
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
