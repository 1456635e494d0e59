// Package keyspace makes the names of all keys and channels in Redis. No other package puts
// such a name together, so that the layout of Redis can be read here.
//
// A name starts with a prefix and a hash tag in braces: rc:{fans:s17}:2026-W46:z. All keys of
// one board share its tag, so that one script may use them together in a cluster. The keys of
// the definitions share the tag {/}, and those of an event have its name after a slash. A
// board's name contains no slash, so no tag of these can be that of a board. The keys beside a stream of
// package ingest have the name of the stream as their tag, and ends that no key of a board has.
//
// The store uses these names, the feed those of channels, and package definition the separators
// of messages and digests. The package is pure: it knows neither Redis nor the network, and
// not what the keys hold beyond the comments here. The heads of the scripts in ranking/lua
// describe their content.
package keyspace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Keys makes the names of Redis keys and channels. The keys of a board share one hash tag, as
// do the keys of the definitions and the keys of each event. It may be used concurrently.
type Keys struct{ prefix string }

// New returns the Keys whose names start with a prefix, such as "rc".
func New(prefix string) Keys { return Keys{prefix} }

// Prefix returns the start of all names.
func (k Keys) Prefix() string { return k.prefix }

// BoardKeys holds the names that a write to one board-period uses.
type BoardKeys struct {
	Members  string    // sorted set: member to sort key
	Meta     string    // hash: epoch, seq, clock and more, see apply.lua
	Data     string    // hash: member to JSON
	Distinct string    // sorted set: with ties dense, the distinct scores
	Entered  string    // sorted set: with a member_ttl, member to the time at which it entered, µs since 1970
	Hidden   string    // sorted set: hidden member to sort key
	Left     string    // sorted set: digest of a member that was removed to the board's clock then, see board.lua
	Window   [3]string // with a window: events, tallies and forgotten members, see window.lua
	Ids      [2]string // hashes: request id to first result, for even and for odd buckets of time
	Periods  string    // hash: the board's periods
	Channel  string    // pub/sub: the board's changes

	start string // of the names that belong to the board-period alone
}

// PendingKeys holds the names of what a frozen board-period keeps back, see freeze.lua.
type PendingKeys struct {
	Members string // sorted set: pending member to the sort key that it will have
	Hidden  string // sorted set: likewise of hidden members
	Data    string // hash: member to JSON
	Public  string // sorted set: pending member to its public sort key
	New     string // sorted set: pending member that the public has not got to the sort key that it will have
}

// All returns all these names.
func (p PendingKeys) All() []string { return []string{p.Members, p.Hidden, p.Data, p.Public, p.New} }

// HistoryKeys holds the names of the history of one board-period, see record.lua.
type HistoryKeys struct {
	Steps   string // stream: the steps, by their times in ms since 1970
	State   string // hash: last, seen, epoch, seq and more
	Names   string // hash: number of a member to the member
	Numbers string // hash: member to its number, its best rank and when it reached that rank
}

// All returns all these names.
func (h HistoryKeys) All() []string { return []string{h.Steps, h.State, h.Names, h.Numbers} }

// BuildKeys holds the names that a build uses in addition to those of the result.
type BuildKeys struct {
	Lock            string // string: the token of the build and its times, see lock.lua
	Aside, Distinct string // sorted sets: the result in the making, and with ties dense its distinct scores
}

// Build returns the names for a build of a board.
func (k Keys) Build(instance string) BuildKeys {
	of := k.Tag(instance) + ":"
	return BuildKeys{Lock: of + "bl", Aside: of + "b", Distinct: of + "bd"}
}

// All returns all these names, for the deletion of a board.
func (b BuildKeys) All() []string { return []string{b.Lock, b.Aside, b.Distinct} }

// Board returns the names of a board-period; period is "" on a board without periods.
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
		start:    of,
	}
}

// History returns the names of the history of the board-period.
func (k BoardKeys) History() HistoryKeys {
	return HistoryKeys{Steps: k.start + "hs", State: k.start + "hm", Names: k.start + "hn", Numbers: k.start + "hi"}
}

// Pending returns the names of what is pending on the board-period.
func (k BoardKeys) Pending() PendingKeys {
	return PendingKeys{Members: k.start + "f", Hidden: k.start + "fh", Data: k.start + "fx", Public: k.start + "fo", New: k.start + "fn"}
}

// Head returns the names that are the first KEYS of each script that changes a board-period,
// see board.lua.
func (k BoardKeys) Head() []string {
	return append(k.Plain(), k.Data, k.Distinct, k.Entered, k.Hidden, k.Left)
}

// Plain returns the KEYS of apply.lua without parts.
func (k BoardKeys) Plain() []string {
	return append(make([]string, 0, 14), k.Members, k.Meta, k.Ids[0], k.Ids[1], k.Periods)
}

// Freezing returns the first KEYS of each script that may change what is pending: those of Head, and of Pending.
func (k BoardKeys) Freezing() []string { return append(k.Head(), k.Pending().All()...) }

// Public returns the names that belong to the board-period alone, and that hold nothing pending.
func (k BoardKeys) Public() []string {
	return slices.Concat([]string{k.Members, k.Meta, k.Data, k.Distinct, k.Entered, k.Hidden, k.Left}, k.Window[:], k.History().All())
}

// All returns the names that belong to the board-period alone, and not to the whole board.
func (k BoardKeys) All() []string { return append(k.Public(), k.Pending().All()...) }

// Tag returns the start of each name with a hash tag: "rc:{fans:s17}:".
func (k Keys) Tag(of string) string { return k.prefix + ":{" + of + "}:" }

// Ids returns two hashes: request id to first result, for even and for odd buckets of time, see
// ids.lua. of is a board, or an event after a slash.
func (k Keys) Ids(of string) [2]string { return [2]string{k.Tag(of) + "i:0", k.Tag(of) + "i:1"} }

// Channel is the channel of a board's changes.
func (k Keys) Channel(instance string) string { return k.Tag(instance) + "c" }

// BoardOf returns the board of a channel made by Channel. It returns false for other channels.
func (k Keys) BoardOf(channel string) (string, bool) {
	s, ok := strings.CutPrefix(channel, k.prefix+":{")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, "}:c")
}

// Feed is the channel of a feed's items. No board has its tag, because a board's name contains
// no slash.
func (k Keys) Feed(name string) string { return k.feeds() + name }

func (k Keys) feeds() string { return k.prefix + ":{/}:f:" }

// FeedOf returns the feed of a channel made by Feed. It returns false for other channels.
func (k Keys) FeedOf(channel string) (string, bool) { return strings.CutPrefix(channel, k.feeds()) }

// Probe is the channel on which one node publishes to itself.
func (k Keys) Probe(node string) string { return k.prefix + ":probe:" + node }

// Trial is a name under one pattern. A node asks Redis what its user may do with that name.
type Trial struct {
	Pattern string // covers the name, for people: rc:{*}:*
	Name    string
}

// TrialKeys returns a key under each pattern of keys. No other part uses them: neither a board, nor an event, nor a kind
// has a name with the slash in it.
func (k Keys) TrialKeys() []Trial {
	return []Trial{{k.Tag("*") + "*", k.Tag("/check") + "key"}, {k.Tag("/") + "*", k.WriteProbe()}}
}

// WriteProbe is a key that never exists. A node tries on it whether Redis takes writes.
func (k Keys) WriteProbe() string { return k.Tag("/") + "check:write" }

// TrialChannels returns a channel under each pattern of channels, that of boards first. Nothing is published there for a
// trial.
func (k Keys) TrialChannels() []Trial {
	const name = "/check"
	return []Trial{
		{k.Channel("*"), k.Channel(name)}, {k.Feed("*"), k.Feed(name)}, {k.Probe("*"), k.Probe(name)}, {k.Profiles(), k.Profiles()},
	}
}

// Definitions is a hash: the definitions of boards and events, see catalog.lua.
func (k Keys) Definitions() string { return k.Tag("/") + "definitions" }

// Instances is a sorted set: the names of a definition's instances that have been written to.
func (k Keys) Instances(slot string) string { return k.Tag("/") + "instances:" + slot }

// PendingInstances is a sorted set: instances of a definition of which the public sees nothing, because a frozen board keeps back
// all that they hold.
func (k Keys) PendingInstances(slot string) string { return k.Tag("/") + "pending:" + slot }

// Agenda is a sorted set: instances, and definitions that are being deleted, to the time of
// their next housekeeping, µs since 1970.
func (k Keys) Agenda() string { return k.Tag("/") + "agenda" }

// HistoryAgenda is a sorted set: instances with a history to the time of their next step, µs since 1970.
func (k Keys) HistoryAgenda() string { return k.Tag("/") + "history" }

// Waiting is a sorted set: items of the agenda that are due, to the turn in which nodes claim them, see
// assign.lua.
func (k Keys) Waiting() string { return k.Tag("/") + "waiting" }

// WaitingTurns is a hash: the line of a definition to the turn of its last item in Waiting.
func (k Keys) WaitingTurns() string { return k.Tag("/") + "waiting:turns" }

// Listing is a sorted set: instances that were listed a moment ago, to the time from which
// that may be forgotten, µs since 1970.
func (k Keys) Listing() string { return k.Tag("/") + "listing" }

// Hidden is a sorted set: board or kind and hidden member, to a revision, see censor.lua.
func (k Keys) Hidden() string { return k.Tag("/") + "hidden" }

// Shown is a sorted set like Hidden: the members that were hidden until less than a day ago.
func (k Keys) Shown() string { return k.Tag("/") + "shown" }

// Erasures is a hash: kind and member to the progress of the member's erasure, and kind to that of
// the walk for all its erasures, see erasing.lua.
func (k Keys) Erasures() string { return k.Tag("/") + "erasures" }

// ErasureAgenda is a sorted set: kinds with pending erasures to the time at which their walk goes on,
// µs since 1970.
func (k Keys) ErasureAgenda() string { return k.Tag("/") + "erasing" }

// PendingErasures is a sorted set: members of a kind to the time at which their erasure began, µs
// since 1970.
func (k Keys) PendingErasures(kind string) string { return k.Tag("/") + "erasing:" + kind }

// ErasureReports is a sorted set: fields of Erasures that have ended to their end, µs since 1970.
func (k Keys) ErasureReports() string { return k.Tag("/") + "erased" }

// Audit is a stream: the record of what moderators did.
func (k Keys) Audit() string { return k.Tag("/") + "audit" }

// AuditIDs returns two hashes: ids of acts that have their line in the audit, see Ids.
func (k Keys) AuditIDs() [2]string { return k.Ids("/") }

// NodeReports is a hash: the id of a node to what it reports of itself, see node.lua.
func (k Keys) NodeReports() string { return k.Tag("/") + "nodes" }

// ReportedNodes is a sorted set: the id of a node to the time of its last report, µs since 1970.
func (k Keys) ReportedNodes() string { return k.Tag("/") + "nodes:reported" }

// Profiles is the channel of changed profiles. A message is the kind, FieldSep and the member.
func (k Keys) Profiles() string { return k.Tag("/") + "profiles" }

// ProfileParts is the number of parts of the profiles of a kind. A member belongs to the part xxhash64(member) mod 16.
const ProfileParts = 16

// ProfilePart returns the part to which a member belongs: 0 to ProfileParts-1.
func ProfilePart(member string) int { return ShardOf(member, ProfileParts) }

// ShardOf returns the number of the shard, of so many, to which a member belongs: xxhash64(member) mod shards, with the seed 0. It never
// changes, because Redis holds members by it.
func ShardOf(member string, shards int) int { return int(xxhash.Sum64String(member) % uint64(shards)) }

// shardEnds end the names of the shards of an instance, by number. Redis Cluster finds the slot of a name by a CRC, in which the last two
// characters change the same bits whatever stands before them. With these ends, the first n shards lie each in another n-th of the slots,
// for n = 2, 4, 8 and 16. So n masters that hold the same number of slots hold one shard each. With the numbers as they are, one of 16
// masters would hold up to five shards, and others none.
var shardEnds = [...]string{"00", "02", "01", "03", "40", "42", "41", "43", "20", "22", "21", "23", "60", "62", "61", "63"}

// Shard is the name of a shard of an instance: "fans:s17/03" of shard 3. Its keys and its channel are those of a board of that name.
// The slash follows a name, so the tag is that of no board, event or kind.
func Shard(instance string, number int) string { return instance + "/" + shardEnds[number] }

// NameOf is the name under which Redis holds a member of an instance: that of the member's shard, or of the instance if it has no shards.
func NameOf(instance, member string, shards int) string {
	if shards == 0 {
		return instance
	}
	return Shard(instance, ShardOf(member, shards))
}

// ParseShard returns the instance and the number of a name that Shard has made. A name without a slash is that of an instance: number 0.
func ParseShard(name string) (instance string, number int) {
	instance, end, _ := strings.Cut(name, "/")
	return instance, max(0, slices.Index(shardEnds[:], end))
}

// ProfileKeys holds the names of one part of the profiles of a kind. One script uses both, so they share a hash tag, and
// a cluster spreads the parts over its masters. The tag holds a slash, so no board has it, and three slashes, so no event
// has it.
type ProfileKeys struct {
	Profiles string // hash: member to profile, as JSON
	Names    string // sorted set, all with the score 0: the part's index of names, see profile.lua
}

// ProfilePart returns the names of a part of the profiles of a kind.
func (k Keys) ProfilePart(kind string, part int) ProfileKeys {
	of := k.Tag("/profiles/" + kind + "/" + strconv.Itoa(part))
	return ProfileKeys{Profiles: of + "p", Names: of + "n"}
}

// Deliveries is a sorted set: settled periods of a definition, as definition.Qualify names them, to
// the time of the next delivery attempt, µs since 1970.
func (k Keys) Deliveries(slot string) string { return k.Tag("/") + "deliveries:" + slot }

// Undelivered is a sorted set: the settled periods in all lines of Deliveries to when they were settled, µs since 1970.
func (k Keys) Undelivered() string { return k.Tag("/") + "undelivered" }

// FailedDeliveries is a hash: those of these periods that the receiver has refused to how often and why, see defer.lua.
func (k Keys) FailedDeliveries() string { return k.Tag("/") + "undelivered:failed" }

// DeliveryTurns is a sorted set: the slots of definitions with deliveries to when they have their
// turn, µs since 1970.
func (k Keys) DeliveryTurns() string { return k.Tag("/") + "turns" }

// Ticket is a string: who has got the ticket of a hash, and when it expires. Each ticket has a tag of its own,
// so that a cluster spreads tickets over its masters.
func (k Keys) Ticket(hash string) string { return k.Tag("/ticket/"+hash) + "k" }

// Session is a string: the key of an operator's session, and when the session expires. hash is that of the session's id.
func (k Keys) Session(hash string) string { return k.Tag("/session/"+hash) + "k" }

// EventIDs returns two hashes: request id to the record of one call of the event, see Ids.
func (k Keys) EventIDs(event string) [2]string { return k.Ids("/" + event) }

// Ingest is a stream: the updates and events of producers that cannot wait, see package ingest. The name
// has no hash tag, so that a producer can write it plainly.
func (k Keys) Ingest() string { return k.prefix + ":ingest" }

// DeadLetters is a stream: the entries of the stream of a name that have not been applied. The hash tag
// is the whole name, so a cluster has both streams on one node. No name of a board-period ends like this.
func (k Keys) DeadLetters(stream string) string { return k.Tag(stream) + "dead" }

// IngestLease is a string: the token of the one consumer of a stream, for as long as its lease lasts.
func (k Keys) IngestLease(stream string) string { return k.Tag(stream) + "lease" }

// The ASCII separators of messages, digests and fields that hold several names. No name
// contains a separator, because names have no control characters.
const (
	FieldSep  = "\x1f" // unit separator: between fields
	RecordSep = "\x1e" // record separator: between records
)
