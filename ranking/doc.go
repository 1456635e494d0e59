// Package ranking stores leaderboards in Redis. It is the only part of Rankcast that knows
// Redis.
//
// # Words
//
// A board ranks members by an integer score. Its definition says how: [definition.Board].
// A family, such as fans:{star}, defines many boards; each of them, such as fans:s17, is an
// instance. An event maps one thing that happened onto updates of many boards. The errors of the
// store are those of package definition.
//
// A sorted set holds a board-period: one period of an instance, or the whole board if it
// has no periods. Each member is stored under a [sortkey.Key], a float64 made of the score
// and, except with ties by member, of the time at which the member reached it. The set always
// sorts upwards, so one order, (key, member id), serves every board.
//
// Each change of a member raises the seq of the board-period by one. A script gives the
// board-period a new random epoch when it creates or replaces it. Epoch and seq name one
// state, except after a failover in which Redis lost writes. A rank counts by the ties rule of
// the board; a position counts entries in order.
//
// # Flow
//
//	Store.Apply       write_apply.go      checks the updates
//	  batch.Queues    internal/batch      joins the updates of concurrent callers, per board,
//	                                      and calls Store.applyBatch (store.go sets it), with at
//	                                      most two batches of a board in flight
//	  Store.applyBatch write_batch.go     by applyBatches: calls the script. Where that finds what the node knows of
//	                                      the board out of date, the node looks it up and calls again
//	  Store.applyCall write_script.go     makes the call; takeApplyReply reads its reply
//	  script.Send     internal/script     sends it by the digest of the script, or with its source
//	                                      where Redis does not know it
//	  pipeline.Client internal/pipeline   sends the calls of all boards over one connection to each
//	                                      Redis node, in order, and tells what was not sent
//	  ApplyPlain,     lua/apply.lua,      two scripts of one template: look up request ids, compute
//	  ApplyWhole      lua/lib/*.lua       scores and sort keys, write, take the ranks, raise seq, publish. The
//	                                      plain one serves boards without the features that its head names
//	feed.Feed         feed/feed.go        receives the change on every node that watches the
//	                                      board and passes it to its Handler, the hub
//
// Store.ApplyEvents (event_apply.go) expands an event into updates. A queue of the event joins
// the occurrences of concurrent callers. Store.applyOccurrences (event_batch.go) records their
// ids, applies the updates of all boards, and publishes the occurrences. On a single Redis
// lua/event.lua does all of this in one call (event_trip.go). On a cluster, and for what that call
// leaves, the updates go through applyBatches (write_batch.go), between two trips for the ids and
// for the feed. A retry with the same id completes what is missing and repeats nothing.
//
// Pub/sub loses messages. A node that watches a board reads a [Page] after Redis has
// confirmed the subscription. The node drops the changes up to the page's seq and applies the
// later ones. It reads a page again when a seq is missing, when the epoch differs, or when
// the feed was down.
//
// # Shards
//
// A board with shards (shard*.go) is held in parts. Each shard of an instance is a whole board-period under a hash tag of its own,
// with the scripts, request ids, seq and epoch of any board. A member belongs to one shard for ever. An update goes to the
// queue of the member's shard, and its answer has no rank: no shard knows it. A read asks all shards and merges what they answer by
// (key, member id). It shows each update that was acknowledged before the read began, and it is exact if no member moves during the
// read. The [States] of a Head say which state of each shard an answer has. Housekeeping does its work on each shard; the first one
// announces a closed period when all have closed.
//
// # Definitions and names
//
// Definitions live in Redis (catalog*.go). Each node keeps a copy, the catalog. A call
// that finds the copy half a second old starts a read of it; from one second on it waits for the
// read. A node may write by its copy for a lease of three seconds; the scripts refuse a write whose
// lease has ended by Redis's clock. Redis's clock alone decides which period an update counts in;
// redis.go estimates it. resolve.go finds what a name such as stars@-1 means at a moment.
//
// # Rights
//
// Before a node writes, it asks Redis about each command that it needs, under each pattern of keys and
// channels (internal/rights, lua/try.lua). Redis may refuse one to the node's user, or have renamed
// it. Then internal/rights, a hook of the Redis client, stops each script that writes until a later check succeeds.
// For rights that are lost later, a script asks whether it may publish before it writes.
//
// # Reads
//
// A read of a board (read_*.go) is one call of a script, so its answer is one state of the board. Reads
// use the pool of the Redis client: a caller may give up a read, and a large answer must not
// delay writes. [Store.Around] shares a call with other reads of single members that wait for the board-period, by a queue of package
// batch. A read costs about as much at rank 900,000 as at the first.
//
// [Store.MemberBoards] (read_member_boards.go) goes through the boards of a kind in pipelines, in the order of their
// names, and then reads the places of the member. Each place is one state of its board.
//
// # What runs on its own
//
// Housekeeping (housekeeping*.go, [Store.RunHousekeeping]) does what falls due: it settles
// closed periods, deletes data after their time, expires members and sweeps windows. Before a
// script creates a board-period, the store registers its instance and puts it on the agenda, a
// sorted set by due time. Every node claims due instances for half a minute at a time, so another
// node takes over when one dies.
//
// To settle a period (period_settle.go) is to make its result final, to announce it on the
// feed "periods", and, where a node delivers webhooks, to keep it until
// [Store.Delivered].
//
// # Histories
//
// A history is the first ten entries of a board-period at each step, where they have changed. Its
// agenda (history_due.go) is apart from that of housekeeping, so no other work delays a step. A node
// looks at the boards that are due and records what it finds (history_record.go, package history).
// History (history_read.go) reads it. A step names members by numbers, and an erasure forgets the
// number. history_names.go bounds the names on a board without periods.
//
// # Results
//
// The scores of a union (union_sum.go), and of a window with a refresh interval
// (window.go), are a result. One node builds it beside the current result and swaps it
// in by one script. result_queue.go decides which builds run and which end, result_build.go makes one build, and
// result_cache.go has the readers wait for it. A live window has no result: window.go removes each
// update's points when its time ends.
//
// # Profiles and search
//
// The profiles of a kind are 16 parts, by a digest of the member. A part is a hash of profiles and its index of names,
// in one slot. One script changes both, for a caller that knows the profile before (profile.go, profile_index.go,
// lua/profile.lua). Package internal/profiles keeps what the node has read.
//
// A search (search.go) finds members of a board by their profiles, or by the index. Package search folds and matches the
// texts. Nothing builds or repairs an index by itself: [Store.Reindex] does it on request.
//
// # Moderation
//
// A hidden member (moderation_*.go) leaves the ranks and keeps its score in a set of its own. The build of a result
// leaves hidden members out (result_build.go).
// To erase a member (member_erase*.go) is to delete it from all boards of a kind. One walk through
// these boards erases all members of the kind that wait. Erasures have an agenda of their own, so
// they delay no other housekeeping. Each act of a moderator is recorded in the audit.
//
// # Freeze and reveal
//
// While a board-period is frozen (freeze*.go), apply.lua writes to the pending keys, which lua/freeze.lua describes. The public keys do
// not change, so no read needs a filter. A reveal moves sort keys as they are, so arrival order stays. The
// period is final, and settled, once nothing is pending: housekeeping reveals what a host has left.
//
// # Nodes and Redis
//
// Each node stores a report of itself every two seconds (node.go), which all nodes read. [Store.Masters] reads the state of
// Redis (master.go).
package ranking
