// Package feed receives from Redis pub/sub what any node has written, and delivers it to a
// [Handler] of this node.
//
// # Words
//
// A board here is an instance, such as fans:s17. A [Change] is one write to one member of a
// board. [Changes] are the changes of one batch, numbered by seq within an epoch (package ranking has both words). When a script
// replaces a whole board-period, it publishes Changes without a list. An item is one entry of a feed: an event, or a settled period. The
// items of an event are a feed with the name of the event; settled periods are the feed
// "periods".
//
// Watch asks for the changes of a board; Follow asks for the items of a feed. (Elsewhere, to
// follow is to watch one member's rank.)
//
// A probe makes Redis send something, so that the [Feed] learns whether a connection works: a message
// that the Feed publishes to itself, or a PING.
//
// On a cluster, the route of a board is the connection to the master of its hash slot. A board is lost
// while its changes do not arrive: its master is away, or the slot moves.
//
// # Flow
//
//	any node: script ─► PUBLISH ─► Redis
//	Feed.Run ─► runMain (feed.go), or masterConn.run (master_conn.go) ─► session.run (session.go)
//	  ─► Feed.deliver ─► ParseChanges (change.go) ─► Handler.FeedChanges (the hub)
//
// Run holds a main connection. (session.go has the receive loop of every connection.) Run first
// subscribes to its probe channel and to the channel of profiles. When Redis has confirmed both,
// Run calls FeedUp and subscribes to the boards and feeds that are wanted. When the connection fails, or Run has received nothing for three
// probe intervals, it calls FeedDown and connects again after a growing, partly random pause.
//
// On a cluster the scripts publish the changes of a board by SPUBLISH. Only the board's master and its
// replicas receive them. Run has a further connection to each master with watched boards (masters.go,
// master_conn.go), and probes it by PING. The main connection then serves profiles and feeds alone.
// Boards are lost when a further connection fails, and when another Redis becomes their master.
// Run calls FeedUnsubscribed for these boards, and subscribes to them at their present masters.
//
// Pub/sub loses messages while a connection is down, and delivers nothing from before the
// subscription. A handler of changes therefore reads a page of the board after FeedSubscribed.
// It drops the changes that are not later than the page's seq, and applies the later ones. It
// reads a page again when a seq is missing, when the epoch differs, and after FeedDown and
// FeedUnsubscribed. Items have no number: lost items stay lost.
//
// # Users and limits
//
// The hub is the handler, and the command serve runs the Feed. The package does not know the
// Store: it writes nothing but probes, reads no board, and keeps no state of boards.
package feed
