package ranking

import (
	"strings"
	"time"
)

// keys makes the names of Redis keys and channels: here and nowhere else. All
// of a board's share one hash tag, so that one script may touch them all on a
// cluster.
type keys struct{ prefix string }

// boardKeys are the names that a write to one board-period uses.
type boardKeys struct {
	members string    // sorted set: member by Key
	meta    string    // hash: epoch, seq, clock, from, span
	ids     [2]string // hashes: request id to first result, by turns
	channel string    // pub/sub: the board's changes
}

func (k keys) board(board string, s span) boardKeys {
	tag := k.prefix + ":{" + board + "}:"
	period := tag + s.name + ":"
	return boardKeys{
		members: period + "z",
		meta:    period + "m",
		ids:     [2]string{tag + "i:0", tag + "i:1"},
		channel: k.channel(board),
	}
}

func (k keys) channel(board string) string { return k.prefix + ":{" + board + "}:c" }

// boardOf gives back the board of a channel.
func (k keys) boardOf(channel string) (string, bool) {
	s, ok := strings.CutPrefix(channel, k.prefix+":{")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, "}:c")
}

// probe is the channel on which one node hears itself.
func (k keys) probe(node string) string { return k.prefix + ":probe:" + node }

// span is the time that a sorted set is for. Times are microseconds since 1970.
type span struct {
	name          string // the period's name; "" for a board without periods
	opens, closes int64  // updates count from opens until before closes; closes 0: always
	from, length  int64  // what the tie-break's fraction is a fraction of
}

// forever is the span of a board without periods: scores tie by a fraction of
// the hundred years from 2020.
var forever = span{
	from:   time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(),
	length: (36525 * 24 * time.Hour).Microseconds(),
}
