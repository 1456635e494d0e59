package definition

import (
	"fmt"
	"strconv"
)

// leastShards and MaxShards bound Board.Shards.
const leastShards, MaxShards = 2, 16

// testShards is for tests alone, which set it by -ldflags '-X rankcast/ranking/definition.testShards=3': it is the number of shards of
// each board whose definition gives none and may give some.
var testShards string

// checkShards refuses a number of shards out of range, and the fields that need all members of the board in one place.
func (d *Board) checkShards(FamilyName) error {
	if n, err := strconv.Atoi(testShards); err == nil && d.Shards == 0 && d.Union == nil && d.TieSpan == 0 && d.unsharded() == nil {
		d.Shards = n
	}
	if d.Shards == 0 {
		return nil
	}
	if d.Shards < leastShards || d.Shards > MaxShards {
		return Invalid("shards", fmt.Sprintf("is %d; want %d to %d", d.Shards, leastShards, MaxShards))
	}
	return d.unsharded()
}

// unsharded returns the FieldError of a field that does not go with shards, or nil.
func (d *Board) unsharded() error {
	for _, f := range []struct {
		name   string
		given  bool
		reason string
	}{
		{"window", d.Window != 0, "events leave a window in the order of one board"},
		{"limit", d.Limit != 0, "no shard knows which members are beyond the limit of all"},
		{"member_ttl", d.MemberTTL != 0, "members leave in the order in which they entered one board"},
		{"freeze", d.Freeze != 0 || d.Reveal != "" || d.FreezeOthers != "", "the steps of a reveal are those of one board"},
		{"history", d.History != 0, "a step records one state of a board, and each shard has its own"},
	} {
		if f.given {
			return Invalid(f.name, "does not go with shards: "+f.reason+"; omit one of the two")
		}
	}
	if d.Ties == Dense {
		return Invalid("ties", "is dense, which does not go with shards, because different scores of several shards cannot be counted; "+
			"want first, shared or member")
	}
	return nil
}
