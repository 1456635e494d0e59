// Package redisconn connects to Redis: [Open] parses the URL of one Redis, of Sentinels or of a cluster, and returns
// its client; [EachMaster] reaches each Redis that takes writes; [OutageOf] says what an error of the client means.
package redisconn
