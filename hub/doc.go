// Package hub turns the changes of boards into frames for clients. It does no I/O of its own: it reads through a [Source],
// which a Store of package ranking implements, receives changes from a [Feed], and hands frames to a [Conn]
// (shard.go). Package server/live has the two connections: of a WebSocket, and of an event stream.
//
// # Words
//
// Package ranking explains seq, epoch, rank, position and board-period.
//
//   - board: holds the view of what one name means, for the clients that use this name. The name may
//     mean another period later. The Feed delivers changes by instance: several names, such
//     as stars and stars@-1, may mean periods of one instance.
//   - turn: a board acts on what has arrived since its last turn. A pool of a few goroutines
//     runs the turns of all boards, those with changes first. A quiet board has no goroutine: a timer
//     queues its next turn when something is due later, such as standings (setTimer in board.go).
//   - view: the top and the followed members of one period; package hub/view.
//   - publication: what a board shows at one moment. Its generation counts the epochs and
//     periods that the board has shown, and each time that the seq of the board went back.
//   - row: an encoded entry. snapshot: the first N rows. delta: the rows that differ from the
//     version before.
//   - life: a run of publications of one board, with a delta from each to the next. Its token is
//     random. A client that comes back with the token and a seq has a list of this run, whatever
//     Redis holds by now.
//   - stream: what all clients that watch the same thing share: a board at one N (the
//     number of first entries), the standing of one member, a feed, or the node's status. It
//     holds its newest version: of a top, a publication and the end of the period before; of
//     anything else, an encoded frame. An event stream of package server/live is another thing: a connection.
//   - standing: rank, score and neighbours of a followed member. It goes out as a me frame.
//   - delivery: the state of one client in one stream: the version that it was sent last.
//   - shard: a goroutine that sends the frames of its share of the clients. A shard of a board is another thing: a part of its
//     data, with a channel of its own. The view of such a board merges the changes of all channels, and the board is
//     unsynced while one of them is down.
//   - seq check, verification: the comparison of a view with Redis, by seq alone once a second, by
//     entries every 30 s.
//   - unsynced, stale: a board is unsynced from when changes are lost, or a read fails, until it
//     has been read and published. Clients are stale while any board is unsynced or the feed is
//     down: they have been told that their boards may be old.
//
// # Flow
//
// A client subscribes:
//
//	Hub.Subscribe (subscription.go) ─► addDeliveries (stream_set.go) ─► next turn: followStream ─► View.Follow
//	  the first entries: board.step ─► fetchPage (board_fetch.go) ─► Source.Page or Read ─► View.ApplyPage
//	  a member beyond the top ─► fetchLookups (board_fetch.go) ─► Source.Places ─► View.ApplyLookups
//
// A change becomes frames:
//
//	feed.Feed ─► Hub.FeedChanges (feed_handler.go) ─► board.post ─► pool ─► board.turn (board_inbox.go)
//	board.turn ─► board.do (board.go) ─► applyChanges ─► View.Apply
//	                  └─► board.step ─► publishDue ─► publish (board_publish.go) ─► stream.publish (stream.go)
//	                           │                        └─► notifyMoved ───────────┐
//	                           └─► notifyDue ─► notifyFound, notifyRanks ──────────┴► stream.setStanding ─► meFrame
//	                                                         └─► View.WalkRanks
//	board.step ─► Hub.announce ─► shard.sendPending (shard.go) ─► Client.send (delivery.go) ─► delivery.send ─► Conn.Send
//	                                                                           └─► Conn.Flush, once for all that is due
//
// board_notify.go has the functions that give members their standings: notifyMoved after their own change,
// notifyFound when they become known, notifyRanks when the changes of others have given them another rank. A standing
// waits until its client has the top of the same generation.
//
// A batch of changes moves the view of each board of its instance. Once an interval, and at
// once after a pause, the board makes a publication of the view and gives it to its streams. The intervals of a board or a
// feed begin with those of what its first client watches already, and a pass of a shard sends a client all that is due for it, in
// one write.
// A shard makes the snapshot and the delta for each N (frame.go), of rows that are encoded once for all
// N, when a connection is free to take them. The turn of the board encodes a me frame, once. With each publication the board sends the
// standings of followed members whose own score changed. Once a Config.MeInterval it sends the
// standings whose rank or neighbours have changed by other members. The hub announces the streams to the shards,
// and each shard sends its clients the newest version. A slow client has no queue: it skips
// to the newest version. No goroutine that holds a lock waits for a board, a shard or a client.
//
// When changes are missing, the board resyncs: it reads a page again and brings it forward
// by the changes that arrive meanwhile. A member or a neighbour that the view does not know is looked up. While look-ups are
// slow or fail, the standing goes out without neighbours. A page
// of many entries needs a permit, and each address has one at a time (board_large.go, board_permit.go). A read that ends
// an old state needs none.
//
// At a rollover the board reads the old period to its end and publishes that as final. It
// lets the followers get their final places, and then starts over with the new period. A
// client that has seen a period gets the final entries of the last period that has closed.
//
// Profiles stand beside entries. A publication waits for the profiles of members that are new
// in the top for at most one read. A profile has no seq: when it changes, the board publishes
// again at the same seq.
//
// Where a board freezes, or is frozen no longer, the board reads a page: by the clock, or after the message of that. Clients get the news
// in a board frame before the next delta. A closed period that is frozen is not final: the board stays on it until all is revealed.
//
// A feed of an event, or of periods, has a goroutine and a stream, but no view
// (event_feed.go): it publishes the newest items as often as FeedRate allows, and counts
// those that it skips.
package hub
