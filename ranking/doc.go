// Package ranking keeps leaderboards in Redis: it is the only part of Rankcast
// that knows Redis.
//
// # Words
//
// A board ranks members by an integer score. A member's place follows from its
// sort [Key], a float64 made of the score and of the time at which the score was
// reached; the sorted set holds the key, never the score itself, and always
// sorts upwards, so one order, (key, then member id by bytes), serves every
// board. Rank is 1-based.
//
// Each write to a board is counted: seq goes up by one for each change, and the
// epoch, a random word given when the board is created, tells one life of a
// board from the next. Together they name one exact state of a board.
//
// # Flow
//
//	Update ─► Store.Apply ─► group commit ─► lua/apply.lua ─► sorted set
//	                                              └─► PUBLISH ─► Feed ─► FeedHandler
//
// A [Store] writes and reads boards. A [Feed] tells what was written, by any
// node. Pub/sub loses messages; whoever follows a feed reads a [Page] once the
// feed has confirmed its subscription, drops the changes that are older than
// the page's seq, applies the later ones, and reads a page again when a seq is
// missing, the epoch is another, or the feed was down.
package ranking
