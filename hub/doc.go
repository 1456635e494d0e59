// Package hub turns the changes of boards into frames for clients. It does no
// I/O of its own: it reads through a [Source], hears through a [Feed], and hands
// frames to a [Conn].
//
// # Flow
//
//	ranking.Feed ─► Hub ─► board (owns a View) ─► streams ─► shards ─► Conn.Send
//
// A watched board has one goroutine, which owns its [View]: the first entries of
// the board and the ranks of the members that are followed, kept right by
// applying each change, and read anew from the Source whenever a change is
// missing. A member that comes to be followed is looked up, and brought forward
// by what was heard since.
//
// Once an interval the goroutine publishes what is shown, encoded once for each N
// that somebody watches, and for each member that somebody follows where it
// stands: each of these is a stream, and holds only its newest version, of a top
// as a delta and as a snapshot.
//
// Each client belongs to a shard, a goroutine that hands frames to its clients'
// connections and remembers which version of each stream they have. A client that
// is behind has no queue: it skips to the newest version.
package hub
