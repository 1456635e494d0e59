// Package localredis runs a private redis-server in a directory, so that scores survive on one
// machine without a Redis that somebody sets up.
//
// # Words
//
// The directory holds all files of the server. Its owner is the process that has a [Server] of the
// directory; a lock keeps other processes from owning it at the same time. An owner that was killed
// leaves its redis-server behind, running. The next owner takes the process over, with all that the
// process holds in memory.
//
// # Files
//
//	rankcast.lock   the lock of the owner; holds the owner's process id
//	redis.lock      the lock of redis-server, which holds it for as long as it runs
//	redis.sock      the unix socket, for this user only
//	redis.log       the log of redis-server
//	appendonlydir   the append-only file: the scores
//
// # Flow
//
// Start takes the lock of the owner. If redis.lock is free, no redis-server runs, and Start starts
// one. Else Start takes over the one that runs. A goroutine then waits for the end of the process, and
// starts another one. Close ends the goroutine first, then redis-server.
//
// # Durability
//
// Redis hands each write to the operating system before it answers. So an acknowledged write survives
// the end of redis-server, by SIGKILL too. With [Always], Redis also waits for the disk, so the write
// survives a power cut.
//
// If Redis cannot write to the disk with [EverySecond], it refuses writes until it can. With [Always],
// Redis ends, for the write may be in the file in part. The Server then starts it with
// min-replicas-to-write, which makes it refuse writes and answer reads. The Server takes the setting
// back once the disk has room.
//
// The command serve is the user of this package. The package knows nothing of boards.
package localredis
