// Package view holds the in-memory state of one watched board: its first entries and the
// ranks of the followed members. It is pure: it does no I/O and starts no goroutine.
//
// # Words
//
//   - top: the first entries of a period of the board, in order.
//   - member: a followed member, anywhere on the board. It is known while the view knows its
//     place; otherwise the view has to look it up.
//   - owner: the board of package hub, which alone calls the view.
//   - placement: the rank and the position of a member. standing: a placement at one seq, with
//     neighbours where the owner shows some.
//   - rank index: the followed members in order, each with its distance in rank from the
//     one before. Score ranks: the same for the scores of a board with shared or dense ties.
//   - shards: the parts of a board that package ranking holds in parts. The view has the seq and the epoch of each. A change tells the
//     placement in its own shard alone, so a member that it moves is looked up, unless it is in the top.
//   - valid: the view equals the board at the view's seq. A gap in seq, another epoch or a
//     contradiction makes it invalid.
//   - pending: the owner is reading a page or lookups. The view buffers the changes that
//     arrive meanwhile, and brings the answer forward by them.
//
// # Flow
//
//	Apply (view.go) ─► each change: the top (top.go)
//	                             └► the members (follow.go): rank index, score ranks
//	NeedsPage, BeginPage ─► the owner reads a page ─► ApplyPage
//	BeginLookups ─► the owner reads places ─► ApplyLookups
//
// When the owner publishes, it takes Top for the entries and TakeMoved for the members whose own score
// changed. TakeFound has the members that became known. Once a hub.Config.MeInterval, WalkRanks goes through the
// members that others' changes may have moved. Standing and StandingAt (follow_standing.go) give what the owner sends,
// and MarkNotified notes it, so that IsNotified spares the owner most standings that it has sent already.
package view
