package ranking

import "strings"

// keys makes the names of Redis keys and channels: here and nowhere else. All
// of a board's share one hash tag, so that one script may touch them all on a
// cluster; so do those of the definitions, and those of each event ("/" is in no
// board's name).
type keys struct{ prefix string }

// boardKeys are the names that a write to one board-period uses.
type boardKeys struct {
	members  string    // sorted set: member by Key
	meta     string    // hash: epoch, seq, clock and more, see apply.lua
	data     string    // hash: member to JSON
	distinct string    // sorted set: with ties dense, the distinct scores
	entered  string    // sorted set: with a member_ttl, member by when it entered
	hidden   string    // sorted set: those who are hidden, by Key
	left     string    // sorted set: those who were taken away a while ago, by when
	window   [3]string // of a board with a window: events, tallies and who is forgotten, see window.lua
	ids      [2]string // hashes: request id to first result, by turns
	periods  string    // hash: the board's periods
	channel  string    // pub/sub: the board's changes
}

// buildKeys are the names that a board is built under, beside those of the result.
type buildKeys struct {
	lock            string // string: who builds it, see lock.lua
	aside, distinct string // sorted sets: what is being built
}

func (k keys) build(instance string) buildKeys {
	of := k.tag(instance) + ":"
	return buildKeys{lock: of + "bl", aside: of + "b", distinct: of + "bd"}
}

// all are for who takes a board down.
func (b buildKeys) all() []string { return []string{b.lock, b.aside, b.distinct} }

func (k keys) board(instance, period string) boardKeys {
	tag := k.tag(instance)
	of := tag + period + ":"
	return boardKeys{
		members:  of + "z",
		meta:     of + "m",
		data:     of + "x",
		distinct: of + "d",
		entered:  of + "t",
		hidden:   of + "h",
		left:     of + "l",
		window:   [3]string{of + "e", of + "n", of + "o"},
		ids:      k.ids(instance),
		periods:  tag + "p",
		channel:  k.channel(instance),
	}
}

// head are those that all scripts begin with which change a board-period, see board.lua.
func (k boardKeys) head() []string {
	return []string{k.members, k.meta, k.data, k.distinct, k.entered, k.hidden, k.left}
}

// all are those of a board-period alone.
func (k boardKeys) all() []string { return append(k.head(), k.window[:]...) }

func (k keys) tag(of string) string { return k.prefix + ":{" + of + "}:" }

func (k keys) ids(of string) [2]string { return [2]string{k.tag(of) + "i:0", k.tag(of) + "i:1"} }

func (k keys) channel(instance string) string { return k.tag(instance) + "c" }

// boardOf gives back the board of a channel.
func (k keys) boardOf(channel string) (string, bool) {
	s, ok := strings.CutPrefix(channel, k.prefix+":{")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, "}:c")
}

// feed is the channel of a feed's items. No board can have its tag: a name has
// no slash.
func (k keys) feed(name string) string { return k.feeds() + name }

func (k keys) feeds() string { return k.prefix + ":{/}:f:" }

// feedOf gives back the feed of a channel.
func (k keys) feedOf(channel string) (string, bool) { return strings.CutPrefix(channel, k.feeds()) }

// probe is the channel on which one node hears itself.
func (k keys) probe(node string) string { return k.prefix + ":probe:" + node }

// definitions is a hash: what boards and events there are, see catalog.go.
func (k keys) definitions() string { return k.tag("/") + "definitions" }

// instances is a sorted set: a definition's instances that have been written to, by
// name.
func (k keys) instances(slot string) string { return k.tag("/") + "instances:" + slot }

// agenda is a sorted set: instances, and definitions that go, to when they are
// looked after next, µs since 1970.
func (k keys) agenda() string { return k.tag("/") + "agenda" }

// listing is a sorted set: instances that were listed a moment ago, to when that may be
// forgotten, µs since 1970.
func (k keys) listing() string { return k.tag("/") + "listing" }

// hidden and shown are sorted sets: who is hidden where, or is not any more, see
// censor.lua.
func (k keys) hidden() string { return k.tag("/") + "hidden" }
func (k keys) shown() string  { return k.tag("/") + "shown" }

// erasures is a hash: kind and member to how far it has come that it is erased, see
// erase.go.
func (k keys) erasures() string { return k.tag("/") + "erasures" }

// audit is a stream: what moderators did, see audit.go.
func (k keys) audit() string { return k.tag("/") + "audit" }

// profile is a string: the profile of a member of a kind, as JSON. It has no tag, so
// that a cluster spreads them; nothing else has this prefix.
func (k keys) profile(kind, member string) string {
	return k.prefix + ":profile:" + kind + ":" + member
}

// profiles is the channel on which profiles that change are told: kind, unit
// separator, member.
func (k keys) profiles() string { return k.tag("/") + "profiles" }

// deliveries is a sorted set: closed periods, as Qualify names them, to when their
// delivery is tried next, µs since 1970.
func (k keys) deliveries() string { return k.tag("/") + "deliveries" }

// eventIDs are hashes: id to what is known of one event.
func (k keys) eventIDs(event string) [2]string { return k.ids("/" + event) }

// The ASCII separators of messages, digests and fields that hold several names. No name
// contains one: names have no control characters.
const (
	fieldSep  = "\x1f" // unit separator: between fields
	changeSep = "\x1e" // record separator: between records
)
