// Package ingest applies updates and events that producers append to Redis Streams.
//
// # Words
//
// A producer appends an entry to a stream by XADD. A consumer applies the entries of one stream. A dead
// letter is an entry that the consumer did not apply, with the problem. It stands in a stream of its
// own, the dead letters of the stream.
//
// # Flow
//
//	consumer.batch     consumer.go  one turn: take, read, apply, conclude
//	  take.lua         scripts.go   renews the lease; returns entries that were delivered before, or new ones
//	  consumer.read    read.go      decodes the entries
//	  consumer.apply   apply.go     calls Store.Apply for each board, or Store.ApplyEvents
//	  conclude.lua     scripts.go   acknowledges the entries and deletes them, or makes them dead letters
//
// A batch that fails leaves its entries pending. The next batch takes them again, in order, before any
// new entry. So a retry and the start after a crash are the same code.
//
// # Exactly once
//
// The request id of an entry is the name of its stream and its own id, unless the producer gives one. The
// store counts a request id once, for ten minutes at least, or for the `ids` of its definition. So an entry may be applied
// again within that time. The consumer acknowledges an entry after the store has answered.
//
// Redis stores the time of the last delivery with each pending entry. XREADGROUP, XCLAIM and XAUTOCLAIM
// set it, so a consumer that claims an entry loses the time of the first delivery. This package therefore
// delivers each entry once, unless it has counted nowhere. XREADGROUP in take.lua delivers new entries, under one
// consumer name for all processes. Afterwards XPENDING lists the pending entries of the group, and XRANGE reads them.
// Neither changes the time, so it stays that of the first delivery. (XCLAIM with TIME would keep the time as well,
// and needs a further command for each entry.) Redis writes the time into its append-only file.
//
// An entry that is pending until a minute before the store may forget its request id is not applied again. The entry
// becomes a dead letter with the code outcome_unknown. Redis's clock decides both. After nine minutes the consumer asks
// the store how long ids count that came when the entry was delivered: a longer time counts for later ids alone.
//
// After a failure, the consumer may know that the entry has counted nowhere. If no consumer has sent it, conclude.lua
// sets its count of deliveries to 0, and its next delivery is as the first. The count of all other pending entries is 1
// or more. If a script did not know the id, and had no room for it, conclude.lua sets the time of the delivery alone: a
// call of a former consumer may still be under way.
//
// An entry that may have counted becomes the same if it is refused without a look at its request id, as after the
// deletion of its board.
//
// On a cluster, a failover of the stream's master may lose the record of a delivery, while the board's master has counted
// the entry. Then take.lua delivers the entry as a new one. The entry counts twice only if its request id is forgotten by then.
//
// conclude.lua writes a dead letter, acknowledges its entry and deletes it in one call, and only while the
// entry is pending. So a crash neither loses nor doubles a dead letter.
//
// # One consumer a stream
//
// The lease of a stream is a key with the token of its consumer. take.lua acquires or renews it, and
// conclude.lua changes nothing without it. A consumer that was paused beyond its lease
// can take and acknowledge nothing.
//
// A paused consumer may be about to apply its last batch. The deadline of the batch ends five seconds
// before the lease, by the monotonic clock, which runs on during a pause. Updates that the store has
// queued by then still go out, each call within a definitions lease of three seconds by Redis's clock. So
// on a slow Redis a late call of the former consumer may follow the first call of the next one. Then the
// order of two updates may change. They count once all the same, because their ids are known.
//
// # Keys
//
// The dead letters and the lease of rc:ingest are rc:{rc:ingest}:dead and rc:{rc:ingest}:lease. Their hash
// tag is the whole name of the stream. So a cluster has all three keys on one node, and a script may use
// them together. They begin with the prefix as all other keys do, so the Redis user needs no further
// pattern. The name of a stream has no braces: its own hash tag would differ from that of its dead letters.
package ingest
