package keyspace

import "strings"

// Keys makes the names of Redis keys and channels: here and nowhere else. All
// of a board's share one hash tag, so that one script may touch them all on a
// cluster; so do those of the definitions, and those of each event ("/" is in no
// board's name).
type Keys struct{ prefix string }

// New returns the names that start with a prefix, such as "rc".
func New(prefix string) Keys { return Keys{prefix} }

// BoardKeys are the names that a write to one board-period uses.
type BoardKeys struct {
	Members  string    // sorted set: member by Key
	Meta     string    // hash: epoch, seq, clock and more, see apply.lua
	Data     string    // hash: member to JSON
	Distinct string    // sorted set: with ties dense, the distinct scores
	Entered  string    // sorted set: with a member_ttl, member by when it entered
	Hidden   string    // sorted set: those who are hidden, by Key
	Left     string    // sorted set: those who were taken away a while ago, by when
	Window   [3]string // of a board with a window: events, tallies and who is forgotten, see window.lua
	Ids      [2]string // hashes: request id to first result, by turns
	Periods  string    // hash: the board's periods
	Channel  string    // pub/sub: the board's changes
}

// BuildKeys are the names that a board is built under, beside those of the result.
type BuildKeys struct {
	Lock            string // string: who builds it, see lock.lua
	Aside, Distinct string // sorted sets: what is being built
}

func (k Keys) Build(instance string) BuildKeys {
	of := k.Tag(instance) + ":"
	return BuildKeys{Lock: of + "bl", Aside: of + "b", Distinct: of + "bd"}
}

// All are for who takes a board down.
func (b BuildKeys) All() []string { return []string{b.Lock, b.Aside, b.Distinct} }

func (k Keys) Board(instance, period string) BoardKeys {
	tag := k.Tag(instance)
	of := tag + period + ":"
	return BoardKeys{
		Members:  of + "z",
		Meta:     of + "m",
		Data:     of + "x",
		Distinct: of + "d",
		Entered:  of + "t",
		Hidden:   of + "h",
		Left:     of + "l",
		Window:   [3]string{of + "e", of + "n", of + "o"},
		Ids:      k.Ids(instance),
		Periods:  tag + "p",
		Channel:  k.Channel(instance),
	}
}

// Head are those that all scripts begin with which change a board-period, see board.lua.
func (k BoardKeys) Head() []string {
	return []string{k.Members, k.Meta, k.Data, k.Distinct, k.Entered, k.Hidden, k.Left}
}

// All are those of a board-period alone.
func (k BoardKeys) All() []string { return append(k.Head(), k.Window[:]...) }

func (k Keys) Tag(of string) string { return k.prefix + ":{" + of + "}:" }

func (k Keys) Ids(of string) [2]string { return [2]string{k.Tag(of) + "i:0", k.Tag(of) + "i:1"} }

func (k Keys) Channel(instance string) string { return k.Tag(instance) + "c" }

// BoardOf gives back the board of a channel.
func (k Keys) BoardOf(channel string) (string, bool) {
	s, ok := strings.CutPrefix(channel, k.prefix+":{")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, "}:c")
}

// Feed is the channel of a feed's items. No board can have its tag: a name has
// no slash.
func (k Keys) Feed(name string) string { return k.feeds() + name }

func (k Keys) feeds() string { return k.prefix + ":{/}:f:" }

// FeedOf gives back the feed of a channel.
func (k Keys) FeedOf(channel string) (string, bool) { return strings.CutPrefix(channel, k.feeds()) }

// Probe is the channel on which one node hears itself.
func (k Keys) Probe(node string) string { return k.prefix + ":probe:" + node }

// Definitions is a hash: what boards and events there are, see catalog.go.
func (k Keys) Definitions() string { return k.Tag("/") + "definitions" }

// Instances is a sorted set: a definition's instances that have been written to, by
// name.
func (k Keys) Instances(slot string) string { return k.Tag("/") + "instances:" + slot }

// Agenda is a sorted set: instances, and definitions that go, to when they are
// looked after next, µs since 1970.
func (k Keys) Agenda() string { return k.Tag("/") + "agenda" }

// Listing is a sorted set: instances that were listed a moment ago, to when that may be
// forgotten, µs since 1970.
func (k Keys) Listing() string { return k.Tag("/") + "listing" }

// Hidden and shown are sorted sets: who is hidden where, or is not any more, see
// censor.lua.
func (k Keys) Hidden() string { return k.Tag("/") + "hidden" }
func (k Keys) Shown() string  { return k.Tag("/") + "shown" }

// Erasures is a hash: kind and member to how far it has come that it is erased, see
// erase.go.
func (k Keys) Erasures() string { return k.Tag("/") + "erasures" }

// Audit is a stream: what moderators did, see audit.go.
func (k Keys) Audit() string { return k.Tag("/") + "audit" }

// Profile is a string: the profile of a member of a kind, as JSON. It has no tag, so
// that a cluster spreads them; nothing else has this prefix.
func (k Keys) Profile(kind, member string) string {
	return k.prefix + ":profile:" + kind + ":" + member
}

// Profiles is the channel on which profiles that change are told: kind, unit
// separator, member.
func (k Keys) Profiles() string { return k.Tag("/") + "profiles" }

// Deliveries is a sorted set: closed periods, as Qualify names them, to when their
// delivery is tried next, µs since 1970.
func (k Keys) Deliveries() string { return k.Tag("/") + "deliveries" }

// EventIDs are hashes: id to what is known of one event.
func (k Keys) EventIDs(event string) [2]string { return k.Ids("/" + event) }

// The ASCII separators of messages, digests and fields that hold several names. No name
// contains one: names have no control characters.
const (
	FieldSep  = "\x1f" // unit separator: between fields
	RecordSep = "\x1e" // record separator: between records
)
