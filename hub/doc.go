// Package hub turns the changes of boards into frames for clients. It does no
// I/O of its own: it reads through a [Source], hears through a [Feed], and hands
// frames to a [Conn].
//
// # Flow
//
//	ranking.Feed ─► Hub ─► board (owns a View) ─► streams ─► shards ─► Conn.Send
//
// A watched board has one goroutine, which owns its [View]: the first entries of
// the board, kept right by applying each change, and read anew from the Source
// whenever a change is missing. Once an interval it publishes what is shown,
// encoded once for each N that somebody watches: a stream. A stream holds only
// its newest version, as a delta and as a snapshot.
//
// Each client belongs to a shard, a goroutine that hands frames to its clients'
// connections and remembers which version each has. A client that is behind has
// no queue: it skips to the newest version.
package hub
