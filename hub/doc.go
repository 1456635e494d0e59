// Package hub turns the changes of boards into frames for clients. It does no
// I/O of its own: it reads through a [Source], hears through a [Feed], and hands
// frames to a [Conn].
//
// # Flow
//
//	feed.Feed ─► Hub ─► board (owns a View) ─► streams ─► shards ─► Conn.Send
//
// A watched board, as clients name it, has one goroutine, which owns its [View]:
// the first entries of one period of the board and the ranks of the members that
// are followed, kept right by applying each change, and read anew from the Source
// whenever a change is missing. A member that comes to be followed is looked up,
// and brought forward by what was heard since.
//
// At its turn, when the name comes to mean another period or the period closes,
// the end of the period is read and shown to all, and then the view starts over
// with what the name means now.
//
// Profiles stand beside entries, of members of a kind that has any. They come from
// [People], are waited for, by who comes onto the board, no longer than one read, and
// looked up again now and then. A profile has no seq: when it changes the board is
// published again at the seq that it is at.
//
// What happens in a feed goes the same way, without a view: a goroutine shows the
// newest items as often as may be, and counts the others.
//
// Once an interval the goroutine publishes what is shown, encoded once for each N
// that somebody watches, and for each member that somebody follows where it
// stands: each of these is a stream, and holds only its newest version, of a top
// as a delta and as a snapshot.
//
// Each client belongs to a shard, a goroutine that hands frames to its clients'
// connections and remembers which version of each stream they have. A client that
// is behind has no queue: it skips to the newest version, by way of the end of the
// last period where it has something of an older one.
package hub
