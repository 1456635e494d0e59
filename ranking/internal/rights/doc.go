// Package rights stops the writes of a node while Redis refuses what the node needs.
//
// A [Gate] is a hook of the Redis client, so each command passes through it. [Gate.Check] asks each master about each
// command that the Store and the feed send. While Redis refuses one of them, the Gate stops all scripts that write: one that
// may run only some of its commands would write a part of an update. [Gate.Run] checks again until Redis allows all.
package rights
