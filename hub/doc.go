// Package hub turns the changes of boards into frames for clients. It does no I/O of its
// own: it reads through a [Source], receives changes from a [Feed], and hands frames to a
// [Conn].
//
// # Words
//
//   - board: a goroutine that owns the view of one board, by the name that clients use. The
//     name may mean another period later; an instance is what the changes are published of.
//   - view: the top and the followed members of one period; package hub/view.
//   - publication: what a board shows at one moment. Its generation counts the epochs and
//     periods that the board has shown.
//   - stream: what all clients that watch the same thing share: a board at one N, the place
//     of one member, a feed, or the node's status. It holds its newest version only.
//   - delivery: the state of one client in one stream: the version that it was sent last.
//   - shard: a goroutine that sends the frames of its share of the clients.
//   - seq check, verification: the comparison of a view with Redis, by seq alone once a second, by
//     entries every 30 s.
//   - stale: clients have been told that their boards may be old. It lasts until the feed is
//     up and each board that fell behind has been read and published.
//
// # Flow
//
//	feed.Feed ─► Hub.FeedChanges ─► board.apply ─► view ─► publication ─► streams ─► shards ─► Conn.Send
//	                      Source ◄─ fetch (page, lookups, profiles) ─► board
//
// A batch of changes moves the view of each board of its instance. Once an interval, and at
// once after a pause, the board makes a publication of the view and gives it to its streams:
// a snapshot and a delta for each N, encoded once. Then it notifies the followers: of a
// member's own change at once, of other members' changes once a MeInterval. The hub
// announces the streams to the shards, and each shard sends its clients the newest version.
// A slow client has no queue: it skips to the newest version.
//
// When changes are missing, the board resyncs: it reads a page again and brings it forward
// by the changes that arrive meanwhile. A member that the view does not know is looked up.
//
// At a rollover the board reads the old period to its end and publishes that as final. It
// lets the followers get their final places, and then starts over with the new period. No
// client skips an end of which it has seen the period.
//
// Profiles stand beside entries. A change waits for the profile of a member that it brings
// one read at most. A profile has no seq: when it changes, the board publishes again at the
// same seq.
//
// A feed has a goroutine and a stream, but no view: it publishes the newest items as often
// as FeedRate allows, and counts those that it skips.
package hub
