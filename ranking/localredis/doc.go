// Package localredis runs a private redis-server in a directory, so that scores survive on one
// machine without a Redis that the operator sets up.
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
// a SIGKILL of redis-server. With [Always], Redis also waits for the disk, so the write
// survives a power cut.
//
// If Redis cannot write to the disk with [EverySecond], it refuses writes until it can. With [Always],
// Redis ends: the file may hold a part of the write. The Server then starts Redis again with the setting
// min-replicas-to-write. With this setting Redis refuses writes and answers reads. The Server takes the
// setting back once the disk has room.
//
// The command serve is the user of this package. The package knows nothing of boards.
package localredis
