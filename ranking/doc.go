// Package ranking keeps leaderboards in Redis: it is the only part of Rankcast
// that knows Redis.
//
// # Words
//
// A board ranks members by an integer score. A member's place follows from its
// sort [sortkey.Key], a float64 made of the score and of the time at which the score was
// reached; the sorted set holds the key, never the score itself, and always
// sorts upwards, so one order, (key, then member id by bytes), serves every
// board. Rank is 1-based.
//
// Each write to a board is counted: seq goes up by one for each change, and the
// epoch, a random word given when the board is created, tells one life of a
// board from the next. Together they name one exact state of a board.
//
// A [definition.Board] says what a board is; that of a family, fans:{star}, what each of
// its instances is, such as fans:s17. An [definition.Event] maps one thing that happened onto
// updates of many boards. Both come from a boards file or the JSON of a request, read
// by one decoder into the same, or refused with the path of what is wrong, and live in
// Redis as the scores do. Each node has a copy, the catalog, looks it up again each
// second, and may write by it for a lease of some seconds, which Redis holds it to.
//
// A [Profile] is what is shown beside a member's entries on all boards of its kind. Each
// node keeps those that it has read for a while, and is told of those that change.
//
// A board may count in periods: each is a sorted set of its own, and Redis's clock
// decides what falls into which.
//
// # Ties, and who stays
//
// Of equal scores the one that was reached first ranks higher, by [definition.First], or that of the
// lower member id, by [definition.ByMember]; or all have one rank, and the next is counted past them
// all, by [definition.Shared] (1-2-2-4), or is the next number, by [definition.Dense] (1-2-2-3). Those two list
// the earlier first all the same: an entry has a position in the order beside its rank.
//
// With a limit a board holds so many, the best: who comes beyond them does not get in, and
// for one who does the last goes. With a member_ttl a member leaves so long after it
// entered, whatever it has scored since. Each that goes is a change, told as all are.
//
// A member that is hidden, by [Store.Hide] or [Store.HideEverywhere], leaves the ranks. Its
// score is kept aside and counts on, unseen by every read but [Store.Hidden], and it stands
// where that belongs when it is shown again.
//
// # Reads
//
// [Store.Page] and [Store.Read] give a run of entries, from a rank on, after a [Cursor] or
// within bounds of the score; [Store.Around] a member among its neighbours, [Store.Members]
// and [Store.Places] many members at once, and [Store.At] the rank that a score would give.
// Each is one call of a script, and so of one state of the board; it costs about as much
// at rank 900,000 as at the first.
//
// # Agenda
//
// Before a board-period is created, its instance is listed among those of its
// definition and put on the agenda: so there is nothing that nobody looks after,
// whoever dies. [Store.RunHousekeeping] claims what is due, for half a minute, and puts it back
// for when something falls due next. It takes nothing away by definitions older than
// their lease, and an instance off the lists only when a look has found nothing of it.
//
// A period that has closed is settled, by one script: it is announced on the feed of
// periods and takes no update from then on, whatever becomes of the clock. Where
// somebody is to be told, it stays until [Store.Deliveries] has brought it there, under
// an id that follows from the board-period itself. Then it goes, by keep or retain, or
// before with its definition, which is closed for good some seconds before its data are
// taken down.
//
// # Unions
//
// A board that is made of others, see [definition.Union], is built of their scores, each times a
// weight, over one period or some, and not written to. It is built by one node
// at a time, aside, and put in the place of the result there is by one script, which
// tells of it as replaced. Who reads a result that is too old, or watches one that will
// be so soon, has it built.
//
// # Windows
//
// A board with a window counts the updates of the last so long. Each adds an event to a
// sorted set by time; beside it a tally of each member tells how many of its events count
// and what they come to, with what adds and what subtracts apart, so that the rest is exact
// when some go. With refresh [definition.Live] points leave the board one by one: whoever writes,
// reads or watches sweeps what is over, a bounded number in a call, each change told as all
// are. Else there is a result as of a union, made of the events anew.
//
// # Flow
//
//	Event ─► Store.ApplyEvents ─┐
//	Update ─► Store.Apply ─► group commit ─► lua/apply.lua ─► sorted set
//	                                              └─► PUBLISH ─► Feed ─► feed.Handler
//
// A [Store] writes and reads boards. A [feed.Feed] tells what was written, by any
// node; a board that was built anew it tells of as a whole, without changes. Pub/sub loses messages; whoever follows a feed reads a [Page] once the
// feed has confirmed its subscription, drops the changes that are older than
// the page's seq, applies the later ones, and reads a page again when a seq is
// missing, the epoch is another, or the feed was down.
package ranking
